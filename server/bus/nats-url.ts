/** Where NATS is, and who we are to it. */
export interface NatsAddress {
  /** Hosts and ports of one cluster. */
  readonly servers: readonly string[];
  readonly tls: boolean;
  readonly user?: string;
  readonly password?: string;
  /** Given where the address has a name and no password, as NATS itself reads it. */
  readonly token?: string;
}

const example = 'an address such as nats://host:4222';

/** Throws a few words on what is wrong, without what was given: there may be a password in it. */
export function parseNatsUrl(value: string): NatsAddress {
  const urls = value.split(',').map((part) => parseOne(part.trim()));
  const [first] = urls;
  if (!first) throw new Error(example);
  // The credentials of the first hold for all: it is one cluster.
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
