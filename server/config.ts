import { defaultLimits, type Limits } from '@parley/contract';
import type { SignUpPolicy } from './auth/arrivals.ts';
import type { PasswordCost } from './auth/passwords.ts';
import { parseNatsUrl } from './bus/nats-url.ts';
import { parseNetworks } from './domain/address.ts';
import { parseS3Url } from './files/storage/s3-url.ts';
import { parseTrustedProxies } from './http/client-ip.ts';
import type { RateLimit } from './http/rate-limit.ts';
import { type Level, type LogFormat, levels } from './observe/log.ts';
import type { Throttle } from './store/access/throttles.ts';
import { parseKey } from './store/data-folder/secret-key.ts';

/** A setting that cannot be used; its message is a plain line for the operator. */
export class SettingError extends Error {}

interface Setting<T> {
  readonly env: string;
  readonly summary: string;
  /** As it would be written in the environment; shown in the reference. */
  readonly fallback: string;
  /** Throws a few words on what is wrong. */
  readonly parse: (value: string) => T;
}

const setting = <T>(row: Setting<T>): Setting<T> => row;

const text = (value: string) => value;

const integer = (least: number, most: number) => (value: string) => {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < least || number > most) throw new Error(`an integer from ${least} to ${most}`);
  return number;
};

const oneOf =
  <T extends string>(...values: readonly T[]) =>
  (value: string): T => {
    if (!(values as readonly string[]).includes(value)) throw new Error(`one of ${values.join(', ')}`);
    return value as T;
  };

function rate(value: string): RateLimit | undefined {
  if (value === 'off') return undefined;
  const [, perSecond, burst] = /^(\d{1,6})\/(\d{1,6})$/.exec(value) ?? [];
  if (!Number(perSecond) || !Number(burst)) throw new Error('off, or requests per second and burst such as 50/200');
  return { perSecond: Number(perSecond), burst: Number(burst) };
}

function signInLimit(value: string): Throttle | undefined {
  if (value === 'off') return undefined;
  const [, burst, seconds] = /^(\d{1,4})\/(\d{1,5})$/.exec(value) ?? [];
  if (!Number(burst) || !Number(seconds)) throw new Error('off, or attempts and seconds such as 10/60');
  return { burst: Number(burst), everyMs: Number(seconds) * 1_000 };
}

function passwordCost(value: string): PasswordCost {
  const [, memoryKib, passes] = /^(\d{1,7})\/(\d{1,3})$/.exec(value) ?? [];
  if (Number(memoryKib ?? 0) < 8 || !Number(passes))
    throw new Error('KiB of memory (8 or more) and passes such as 19456/2');
  return { memoryKib: Number(memoryKib), passes: Number(passes) };
}

function postgresUrl(value: string): string | undefined {
  if (value === '') return undefined;
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) {
    throw new Error('an address such as postgres://user:password@host/database');
  }
  return value;
}

function publicUrl(value: string): URL | undefined {
  if (value === '') return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isBare = url?.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if ((url?.protocol !== 'https:' && url?.protocol !== 'http:') || !isBare)
    throw new Error('an address such as https://chat.example.com, without a path');
  return url;
}

/** Every setting: the one table that reading them and the reference page derive from. */
export const settingsTable = {
  host: setting({ env: 'HOST', summary: 'Address to listen on.', fallback: '127.0.0.1', parse: text }),
  port: setting({
    env: 'PORT',
    summary: 'Port to listen on; 0 takes a free one.',
    fallback: '8080',
    parse: integer(0, 65_535),
  }),
  publicUrl: setting({
    env: 'PUBLIC_URL',
    summary: 'The address that people and programs reach Parley at, where that is not the one it listens on.',
    fallback: '',
    parse: publicUrl,
  }),
  trustProxy: setting({
    env: 'TRUST_PROXY',
    summary:
      'Which proxies are believed when they say in `X-Forwarded-For` where a request comes from: `off`, how many stand before Parley, or their networks such as `10.0.0.0/8, 127.0.0.1`.',
    fallback: 'off',
    parse: parseTrustedProxies,
  }),
  signUp: setting({
    env: 'PARLEY_SIGN_UP',
    summary:
      'Who may make an account by themselves: anybody (`open`), by `invitation` of an administrator, or nobody (`closed`).',
    fallback: 'invitation',
    parse: oneOf<SignUpPolicy>('open', 'invitation', 'closed'),
  }),
  signInLimit: setting({
    env: 'PARLEY_SIGN_IN_LIMIT',
    summary:
      'Failed attempts in a row to sign in to one account, and the seconds until one more is allowed; from one address five times as many; or `off`.',
    fallback: '10/60',
    parse: signInLimit,
  }),
  passwordCost: setting({
    env: 'PARLEY_PASSWORD_COST',
    summary:
      'Cost of hashing a password with argon2id: KiB of memory and passes. The default is what OWASP recommends. Existing hashes keep the cost they were made with.',
    fallback: '19456/2',
    parse: passwordCost,
  }),
  auditDays: setting({
    env: 'PARLEY_AUDIT_DAYS',
    summary: 'Days that the audit log is kept.',
    fallback: '365',
    parse: integer(1, 36_500),
  }),
  folder: setting({
    env: 'PARLEY_DATA',
    summary: 'Folder for everything that Parley keeps: the SQLite database among it.',
    fallback: './data',
    parse: text,
  }),
  databaseUrl: setting({
    env: 'DATABASE_URL',
    summary: 'PostgreSQL to use in place of SQLite, such as `postgres://user:password@host/database`.',
    fallback: '',
    parse: postgresUrl,
  }),
  connections: setting({
    env: 'PARLEY_DATABASE_CONNECTIONS',
    summary: 'Connections to PostgreSQL at most.',
    fallback: '10',
    parse: integer(2, 1_000),
  }),
  natsUrl: setting({
    env: 'NATS_URL',
    summary:
      'NATS that the servers on one PostgreSQL tell each other over what is new, such as `nats://user:password@host:4222`; several addresses of one cluster are separated by commas. Without it they notice by themselves, within two seconds. What goes over it is sealed with `PARLEY_SECRET_KEY`. Servers that share a database also share where files are kept: `S3_URL`, or one folder.',
    fallback: '',
    parse: (value) => (value === '' ? undefined : parseNatsUrl(value)),
  }),
  streamLimit: setting({
    env: 'PARLEY_STREAM_LIMIT',
    summary: 'Event streams that one server has open at most; a single user gets half of them.',
    fallback: '20000',
    parse: integer(1, 1_000_000),
  }),
  secretKey: setting({
    env: 'PARLEY_SECRET_KEY',
    summary:
      'The key that seals the secrets of webhooks: 32 random bytes in base64. Without it one is made once and kept as `secret.key` in the data folder. Servers that share a database must share it.',
    fallback: '',
    parse: (value) => (value === '' ? undefined : parseKey(value)),
  }),
  webhookNetworks: setting({
    env: 'PARLEY_WEBHOOK_NETWORKS',
    summary:
      'Networks that webhooks may be sent to although they are not public, such as `10.0.0.0/8, 192.168.1.5, fd00::/8`.',
    fallback: '',
    parse: parseNetworks,
  }),
  webhookLimit: setting({
    env: 'PARLEY_WEBHOOK_LIMIT',
    summary: 'Webhooks of one user at most.',
    fallback: '20000',
    parse: integer(1, 1_000_000),
  }),
  stopDelay: setting({
    env: 'PARLEY_STOP_DELAY',
    summary:
      'Seconds that a server which is told to stop goes on serving, while `/readyz` says no: time for a proxy to send to others instead.',
    fallback: '0',
    parse: integer(0, 60),
  }),
  logLevel: setting({
    env: 'LOG_LEVEL',
    summary: 'The least important lines to log: `debug`, `info` (every request), `warn`, `error` or `off`.',
    fallback: 'info',
    parse: oneOf<Level>(...levels),
  }),
  logFormat: setting({
    env: 'LOG_FORMAT',
    summary: '`json`, `text`, or `auto`: text on a terminal, JSON elsewhere.',
    fallback: 'auto',
    parse: oneOf<LogFormat | 'auto'>('auto', 'json', 'text'),
  }),
  rateLimit: setting({
    env: 'PARLEY_RATE_LIMIT',
    summary:
      'Requests per second and burst for each access token, and for each address without one, with all servers that share a database together; or `off`.',
    fallback: '50/200',
    parse: rate,
  }),
  bodyLimit: setting({
    env: 'PARLEY_BODY_LIMIT',
    summary: 'Bytes in the body of a request at most; a file in it does not count.',
    fallback: '1048576',
    parse: integer(1_024, 64 * 1_048_576),
  }),
  contentBytes: setting({
    env: 'PARLEY_CONTENT_LIMIT',
    summary: 'Bytes of UTF-8 in a message at most.',
    fallback: String(defaultLimits.contentBytes),
    parse: integer(1, 1_048_576),
  }),
  participants: setting({
    env: 'PARLEY_PARTICIPANT_LIMIT',
    summary: 'Users in one `create_group`, `create_channel` or `add_participants` at most.',
    fallback: String(defaultLimits.participants),
    parse: integer(1, 10_000),
  }),
  page: setting({
    env: 'PARLEY_PAGE_LIMIT',
    summary: 'Rows in one page of a list at most.',
    fallback: String(defaultLimits.page),
    parse: integer(50, 1_000),
  }),
  fileBytes: setting({
    env: 'PARLEY_FILE_LIMIT',
    summary: 'Bytes in a file at most.',
    fallback: String(defaultLimits.fileBytes),
    parse: integer(1, 1_024 ** 4),
  }),
  uploadHours: setting({
    env: 'PARLEY_UPLOAD_HOURS',
    summary: 'Hours that an upload may take or rest, and that a file is kept which no message names.',
    fallback: '24',
    parse: integer(1, 8_760),
  }),
  s3: setting({
    env: 'S3_URL',
    summary:
      'Where to keep files in place of the data folder: an S3-compatible store, as `https://ACCESS_KEY:SECRET_KEY@host/bucket?region=eu-central-1`. Keys are percent-encoded (`/` is `%2F`, `+` is `%2B`). A prefix may follow the bucket; `&style=virtual` puts the bucket before the host.',
    fallback: '',
    parse: (value) => (value === '' ? undefined : parseS3Url(value)),
  }),
  eventDays: setting({
    env: 'PARLEY_EVENT_DAYS',
    summary:
      'Days that events and settled deliveries are kept. Deleted and previous texts of messages stay in them until then.',
    fallback: '30',
    parse: integer(1, 36_500),
  }),
} as const;

/** Settings whose values are never shown. */
const secrets: ReadonlySet<string> = new Set(['DATABASE_URL', 'NATS_URL', 'PARLEY_SECRET_KEY', 'S3_URL']);

type Table = typeof settingsTable;
export type Settings = { readonly [K in keyof Table]: ReturnType<Table[K]['parse']> };

export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const read = Object.entries(settingsTable).map(([key, row]) => {
    const value = env[row.env] || row.fallback;
    try {
      return [key, row.parse(value)];
    } catch (error) {
      const shown = secrets.has(row.env) ? '' : `, not ${JSON.stringify(value)}`;
      throw new SettingError(`${row.env} must be ${(error as Error).message}${shown}.`);
    }
  });
  const settings = Object.fromEntries(read) as Settings;
  if (settings.natsUrl && settings.databaseUrl === undefined) {
    throw new SettingError(
      'NATS_URL is for several servers on one PostgreSQL. Set DATABASE_URL too; a single server on SQLite needs no NATS_URL.',
    );
  }
  return settings;
}

export const limitsOf = ({ contentBytes, participants, page, fileBytes }: Settings): Limits => ({
  contentBytes,
  participants,
  page,
  fileBytes,
});
