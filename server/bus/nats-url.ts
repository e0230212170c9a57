export interface NatsUrl {
  /** Hosts and ports of one cluster. */
  readonly servers: readonly string[];
  readonly tls: boolean;
  readonly user?: string;
  readonly password?: string;
  /** Set if the URL has a name and no password, as NATS itself reads it. */
  readonly token?: string;
}

const example = 'an address such as nats://host:4222';

/** Throws a description of a valid value. It never quotes the given one, which may contain a password. */
export function parseNatsUrl(value: string): NatsUrl {
  const urls = value.split(',').map((part) => parseOne(part.trim()));
  const [first] = urls;
  if (!first) throw new Error(example);
  // It is one cluster, so the credentials of the first URL are valid for all.
  const name = decoded(first.username);
  const password = decoded(first.password);
  return {
    servers: urls.map((url) => `${url.hostname}:${url.port || '4222'}`),
    tls: first.protocol === 'tls:',
    ...(name !== '' && (password === '' ? { token: name } : { user: name, password })),
  };
}

function parseOne(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBare = url && url.pathname.replace('/', '') === '' && url.search === '' && url.hash === '';
  if (!url || !isBare || !['nats:', 'tls:'].includes(url.protocol) || url.hostname === '') throw new Error(example);
  return url;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(example);
  }
}
