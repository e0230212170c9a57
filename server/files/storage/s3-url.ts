/** A bucket and how to reach it. */
export interface S3Settings {
  /** The server, such as `https://s3.example.com:9000`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Before every key: empty, or folders that end in a slash. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** True if the bucket is part of the host name instead of the path. */
  readonly isVirtualHosted: boolean;
}

const example = 'https://ACCESS_KEY:SECRET_KEY@host/bucket/prefix?region=eu-central-1';

/** Parses a URL such as the example. Throws words that follow "must be". They never quote the URL, which holds a secret. */
export function parseS3Url(value: string): S3Settings {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new Error(`a URL such as ${example}, with its keys percent-encoded`);
  const [bucket = '', ...folders] = url.pathname.slice(1).replace(/\/$/, '').split('/');
  const isVirtualHosted = url.searchParams.get('style') === 'virtual';
  const settings = {
    endpoint: `${url.protocol}//${isVirtualHosted ? `${bucket}.` : ''}${url.host}`,
    bucket,
    prefix: folders.map((folder) => `${folder}/`).join(''),
    region: url.searchParams.get('region') ?? 'us-east-1',
    accessKeyId: decoded(url.username),
    secretAccessKey: decoded(url.password),
    isVirtualHosted,
  };
  const unmet = requirements.find(({ isMet }) => !isMet(settings, url));
  if (unmet) throw new Error(`a URL ${unmet.such}, as in ${example}`);
  return settings;
}

interface Requirement {
  readonly such: string;
  readonly isMet: (settings: S3Settings, url: URL) => boolean;
}

const requirements: readonly Requirement[] = [
  { such: 'with both keys, percent-encoded', isMet: (s) => s.accessKeyId !== '' && s.secretAccessKey !== '' },
  { such: 'with a bucket', isMet: (s) => /^[a-z0-9][a-z0-9._-]{1,62}$/i.test(s.bucket) },
  { such: 'whose prefix has only letters, digits and . _ -', isMet: (s) => /^([\w.-]+\/)*$/.test(s.prefix) },
  { such: 'with a region', isMet: (s) => /^[\w-]+$/.test(s.region) },
  {
    such: 'with no parameters but region and style=virtual',
    isMet: (_, url) =>
      url.hash === '' &&
      [...url.searchParams].every(([name, text]) => name === 'region' || (name === 'style' && text === 'virtual')),
  },
];

/** Returns an empty text if the percent-encoding is invalid, so it is reported like a missing key. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
