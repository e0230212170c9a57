import { defaultLimits } from '@parley/contract';
import type { SignUpPolicy } from './auth/links.ts';
import type { PasswordCost } from './auth/passwords.ts';
import { parseNatsUrl } from './bus/nats-url.ts';
import { parseNetworks } from './domain/address.ts';
import { parseS3Url } from './files/storage/s3-url.ts';
import { parseTrustedProxies } from './http/client-ip.ts';
import type { RateLimit } from './http/rate-limit.ts';
import { defaultReserveBytes } from './lib/disk-space.ts';
import { type Level, type LogFormat, levels } from './observe/log.ts';
import type { Throttle } from './store/access/throttles.ts';
import { parseKey } from './store/data-folder/secret-key.ts';

/** An invalid setting. Its message is one line for the operator. */
export class SettingError extends Error {}

interface Setting<T> {
  readonly env: string;
  /** The default, written as in the environment. */
  readonly fallback: string;
  /** Throws words that follow "must be". */
  readonly parse: (value: string) => T;
}

const setting = <T>(env: string, fallback: string, parse: (value: string) => T): Setting<T> => ({
  env,
  fallback,
  parse,
});

const text = (value: string) => value;

const optional =
  <T>(parse: (value: string) => T) =>
  (value: string): T | undefined =>
    value === '' ? undefined : parse(value);

const integer = (min: number, max: number) => (value: string) => {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < min || number > max) throw new Error(`an integer from ${min} to ${max}`);
  return number;
};

/** A limit of a person. 0 and `off` mean no limit. */
const quota = (value: string): number | undefined => {
  if (value === 'off' || value === '0') return undefined;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new Error('off, or an integer of at most 15 digits');
};

const oneOf =
  <T extends string>(...values: readonly T[]) =>
  (value: string): T => {
    if (!(values as readonly string[]).includes(value)) throw new Error(`one of ${values.join(', ')}`);
    return value as T;
  };

/** Parses two integers such as `50/200`. Throws if one is below its minimum, or too long. */
function pair(value: string, pattern: RegExp, minFirst: number, expected: string): [number, number] {
  const [, first = 0, second = 0] = (pattern.exec(value) ?? []).map(Number);
  if (first < minFirst || second < 1) throw new Error(expected);
  return [first, second];
}

function rate(value: string): RateLimit | undefined {
  if (value === 'off') return undefined;
  const expected = 'off, or requests per second and burst such as 50/200';
  const [perSecond, burst] = pair(value, /^(\d{1,6})\/(\d{1,6})$/, 1, expected);
  return { perSecond, burst };
}

function signInLimit(value: string): Throttle | undefined {
  if (value === 'off') return undefined;
  const [burst, seconds] = pair(value, /^(\d{1,4})\/(\d{1,5})$/, 1, 'off, or attempts and seconds such as 10/60');
  return { burst, everyMs: seconds * 1_000 };
}

function passwordCost(value: string): PasswordCost {
  const expected = 'KiB of memory (8 or more) and passes such as 19456/2';
  const [memoryKib, passes] = pair(value, /^(\d{1,7})\/(\d{1,3})$/, 8, expected);
  return { memoryKib, passes };
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns milliseconds. */
function interval(value: string): number | undefined {
  if (value === 'off') return undefined;
  const [, count = '0', unit = ''] = /^(\d{1,4})([mhd])$/.exec(value) ?? [];
  const ms = Number(count) * (unitMs[unit] ?? 0);
  if (ms < 15 * 60_000) throw new Error('off, or a time from 15m, such as 12h or 7d');
  return ms;
}

function postgresUrl(value: string): string {
  if (/^postgres(ql)?:\/\//.test(value) && URL.canParse(value)) return value;
  throw new Error('a URL such as postgres://user:password@host/database');
}

/** Also for the command that writes the setting. */
export function publicUrl(value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isBare = url?.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if (isBare && /^https?:$/.test(url.protocol)) return url;
  throw new Error('a URL such as https://chat.example.com, without a path');
}

function metricsToken(value: string): string {
  if (/^[\x21-\x7e]{16,}$/.test(value)) return value;
  throw new Error('at least 16 ASCII characters without spaces');
}

/** Every setting: its variable, its default and its parser. `readSettings` and the reference page derive from this table. */
export const settingsTable = {
  host: setting('HOST', '127.0.0.1', text),
  port: setting('PORT', '8080', integer(0, 65_535)),
  publicUrl: setting('PUBLIC_URL', '', optional(publicUrl)),
  trustProxy: setting('TRUST_PROXY', 'off', parseTrustedProxies),
  signUp: setting('PARLEY_SIGN_UP', 'invitation', oneOf<SignUpPolicy>('open', 'invitation', 'closed')),
  signInLimit: setting('PARLEY_SIGN_IN_LIMIT', '10/60', signInLimit),
  passwordCost: setting('PARLEY_PASSWORD_COST', '19456/2', passwordCost),
  auditDays: setting('PARLEY_AUDIT_DAYS', '365', integer(1, 36_500)),
  folder: setting('PARLEY_DATA', './data', text),
  diskReserve: setting('PARLEY_DISK_RESERVE', `${defaultReserveBytes}`, integer(0, 1_024 ** 4)),
  databaseUrl: setting('DATABASE_URL', '', optional(postgresUrl)),
  connections: setting('PARLEY_DATABASE_CONNECTIONS', '10', integer(2, 1_000)),
  natsUrl: setting('NATS_URL', '', optional(parseNatsUrl)),
  streamLimit: setting('PARLEY_STREAM_LIMIT', '20000', integer(1, 1_000_000)),
  secretKey: setting('PARLEY_SECRET_KEY', '', optional(parseKey)),
  webhookNetworks: setting('PARLEY_WEBHOOK_NETWORKS', '', parseNetworks),
  webhookLimit: setting('PARLEY_WEBHOOK_LIMIT', '100', integer(1, 1_000_000)),
  maxRequests: setting('BUN_CONFIG_MAX_HTTP_REQUESTS', '256', integer(16, 65_535)),
  stopDelay: setting('PARLEY_STOP_DELAY', '0', integer(0, 60)),
  metricsToken: setting('PARLEY_METRICS_TOKEN', '', optional(metricsToken)),
  logLevel: setting('LOG_LEVEL', 'info', oneOf<Level>(...levels)),
  logFormat: setting('LOG_FORMAT', 'auto', oneOf<LogFormat | 'auto'>('auto', 'json', 'text')),
  rateLimit: setting('PARLEY_RATE_LIMIT', '50/200', rate),
  ownerRateLimit: setting('PARLEY_OWNER_RATE_LIMIT', 'auto', (value) => (value === 'auto' ? value : rate(value))),
  bodyLimit: setting('PARLEY_BODY_LIMIT', '1048576', integer(1_024, 64 * 1_048_576)),
  contentBytes: setting('PARLEY_CONTENT_LIMIT', `${defaultLimits.contentBytes}`, integer(1, 1_048_576)),
  participants: setting('PARLEY_PARTICIPANT_LIMIT', `${defaultLimits.participants}`, integer(1, 10_000)),
  page: setting('PARLEY_PAGE_LIMIT', `${defaultLimits.page}`, integer(50, 1_000)),
  fileBytes: setting('PARLEY_FILE_LIMIT', `${defaultLimits.fileBytes}`, integer(1, 1_024 ** 4)),
  ownerFileBytes: setting('PARLEY_FILE_BYTES_PER_PERSON', `${10 * 1_024 ** 3}`, quota),
  ownerDailyMessages: setting('PARLEY_MESSAGES_PER_DAY', '50000', quota),
  ownerChats: setting('PARLEY_CHATS_PER_PERSON', '10000', quota),
  ownerBots: setting('PARLEY_BOTS_PER_PERSON', '100', quota),
  uploadHours: setting('PARLEY_UPLOAD_HOURS', '24', integer(1, 8_760)),
  s3: setting('S3_URL', '', optional(parseS3Url)),
  eventDays: setting('PARLEY_EVENT_DAYS', '30', integer(1, 36_500)),
  backupEvery: setting('PARLEY_BACKUP_EVERY', 'off', interval),
  backupKeep: setting('PARLEY_BACKUP_KEEP', '7', integer(1, 10_000)),
  backupFolder: setting('PARLEY_BACKUP_FOLDER', '', optional(text)),
  program: setting('PARLEY_PROGRAM', '', optional(text)),
  startCommand: setting('PARLEY_START', '', optional(text)),
} as const;

/** The meaning of each setting, for the reference. */
export const summaries: Readonly<Record<keyof typeof settingsTable, string>> = {
  host: 'The IP address to listen on.',
  port: 'The port to listen on. 0 takes a free one.',
  publicUrl:
    'The URL of Parley for people and programs, if a proxy serves it. Requests for another host get 421, except from programs on this machine to `localhost` or another loopback name.',
  trustProxy:
    'The proxies whose `X-Forwarded-For` is trusted: `off`, their number, or their networks such as `10.0.0.0/8, 127.0.0.1`.',
  signUp: 'Who may sign up: anybody (`open`), people with an `invitation` of an administrator, or nobody (`closed`).',
  signInLimit:
    'The failed sign-ins in a row to one account, and the seconds until the next attempt is allowed. One IP address, or IPv6 /64, gets five times as many, an IPv6 /56 ten times and a /48 fifty times. A browser in which the user has signed in has a count of its own. Or `off`.',
  passwordCost:
    'The cost of a password hash with argon2id: KiB of memory, and passes. OWASP recommends the default. Existing hashes keep their cost.',
  auditDays: 'Days that the audit log is kept.',
  folder: 'The folder for all data, such as the SQLite database.',
  diskReserve:
    'Bytes of the disk of the data folder that files leave free, and of their disk that scheduled backups leave free. If less than half of them are free in the data folder, everything that adds data gets 503, and sign-in, reading, deleting and revoking still work. On a disk below 5 GiB the default is a twentieth of it, or 32 MiB. 0 turns it off.',
  databaseUrl: 'The PostgreSQL to use in place of SQLite, such as `postgres://user:password@host/database`.',
  connections: 'The maximum number of connections to PostgreSQL.',
  natsUrl:
    'The NATS that connects the servers on one PostgreSQL, such as `nats://user:password@host:4222`. Separate the URLs of a cluster with commas. Without NATS, servers find changes within two seconds. Messages are encrypted with `PARLEY_SECRET_KEY`. Servers that share a database must also share the storage of files: `S3_URL`, or one folder.',
  streamLimit:
    'The maximum number of open event streams per server. One person, with their bots, may have as many as are still free.',
  secretKey:
    'The key that encrypts the secrets of webhooks: 32 random bytes in base64. By default the server creates it once, as `secret.key` in the data folder. Servers that share a database must share it.',
  webhookNetworks: 'Private networks that webhooks may be sent to, such as `10.0.0.0/8, 192.168.1.5, fd00::/8`.',
  webhookLimit:
    'The maximum number of webhooks of a person, with those of their bots. A person who has more keeps them.',
  maxRequests:
    'Outgoing requests that run at once: webhooks, and files in S3. Bun reads it when the process starts. `npm start`, `parley serve`, the container and the systemd unit set it to 1024. Webhooks use 7/8 of it, and one person with their bots at most half of that.',
  stopDelay:
    'Seconds that a stopping server still serves requests, while `/readyz` fails. Proxies need this time to switch to others.',
  metricsToken:
    'The bearer token for `/metrics`, at least 16 characters. Without it, only programs on this machine can read the metrics.',
  logLevel: 'The lowest level to log: `debug`, `info` (every request), `warn`, `error` or `off`.',
  logFormat: '`json`, `text`, or `auto`: text on a terminal, JSON elsewhere.',
  rateLimit:
    'Requests per second and burst, for each access token and for each IP address without one. Servers that share a database share the limit. Or `off`.',
  ownerRateLimit:
    'Requests per second and burst, for each person with all their tokens, bots and apps. `auto` is four times `PARLEY_RATE_LIMIT`: `200/800` by default. Servers that share a database share the limit. Or `off`.',
  bodyLimit: 'The maximum bytes of a request body, without its file.',
  contentBytes: 'The maximum bytes of a message, in UTF-8.',
  participants: 'The maximum number of users in one `create_group`, `create_channel` or `add_participants`.',
  page: 'The maximum number of rows in a page of a list.',
  fileBytes: 'The maximum bytes of a file.',
  ownerFileBytes: 'The maximum bytes of all files of a person and their bots. Or `off`.',
  ownerDailyMessages:
    'The maximum number of messages that a person and their bots send and edit on a day in UTC. Reactions, pins, own settings of a chat, and changes of chats and profiles count too: one for each event. A change of a profile is an event in each chat. Servers store and share the count every two seconds, so what is sent in that time may exceed it. Or `off`.',
  ownerChats: 'The maximum number of chats that a person and their bots create, direct chats included. Or `off`.',
  ownerBots: 'The maximum number of bots of a person. Or `off`.',
  uploadHours: 'Hours until an unfinished upload, or a file without a message, is deleted.',
  s3: 'The S3-compatible storage of files, in place of the data folder: `https://ACCESS_KEY:SECRET_KEY@host/bucket?region=eu-central-1`. Keys are percent-encoded (`/` is `%2F`, `+` is `%2B`). A prefix may follow the bucket. `&style=virtual` puts the bucket before the host.',
  eventDays:
    'Days that events and settled deliveries are kept. They contain deleted and previous texts of messages until then.',
  backupEvery:
    'How often the server backs itself up, such as `12h` or `7d`. Or `off`. With `PARLEY_BACKUP_PASSPHRASE` the backups are encrypted. Of several servers on one database, set it for one.',
  backupKeep: 'How many of its backups the server keeps. It removes older ones after each backup.',
  backupFolder:
    'The folder of these backups. By default `backups` in the data folder. Another disk is better. The systemd units let the server write only to the data folder and to `/backup`; another folder needs a drop-in with `ReadWritePaths=`.',
  program:
    'How people type the command line on this machine, in the commands that Parley shows. By default it is found out. The image sets it to `docker exec parley bun cli/main.ts`: change it if the container has another name.',
  startCommand: 'How people start the server, in the commands that Parley shows. By default it is found out.',
};

/** Settings whose values are never shown. */
const secrets: ReadonlySet<string> = new Set([
  'DATABASE_URL',
  'NATS_URL',
  'PARLEY_METRICS_TOKEN',
  'PARLEY_SECRET_KEY',
  'S3_URL',
]);

type Table = typeof settingsTable;
export type Settings = { readonly [K in keyof Table]: ReturnType<Table[K]['parse']> } & {
  /** The variables that were set. */
  readonly given: ReadonlyMap<string, string>;
};

/** Returns the environment of a command that works with the same settings. */
export const commandEnvironment = ({ given }: Settings): Readonly<Record<string, string | undefined>> => ({
  ...process.env,
  ...Object.fromEntries(given),
});

/** A setting as administrators see it. */
export interface ShownSetting {
  readonly name: string;
  readonly summary: string;
  /** As in the environment. Null if it is a secret that is set. */
  readonly value: string | null;
  readonly default: string;
  readonly secret: boolean;
  readonly source: 'default' | 'environment' | 'file';
}

/** Returns every setting with its source, in the order of the table. */
export const showSettings = ({ given }: Settings): ShownSetting[] =>
  Object.entries(settingsTable).map(([key, { env, fallback }]) => {
    const isGiven = given.has(env);
    // Without the variable the key is in the data folder.
    const isInFile = env === settingsTable.secretKey.env && !isGiven;
    const isSecret = secrets.has(env);
    return {
      name: env,
      summary: summaries[key as keyof Table],
      value: isSecret && (isGiven || isInFile) ? null : (given.get(env) ?? fallback),
      default: fallback,
      secret: isSecret,
      source: isInFile ? 'file' : isGiven ? 'environment' : 'default',
    };
  });

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
  const given = Object.values(settingsTable).flatMap(({ env: name }) =>
    env[name] ? [[name, env[name]] as const] : [],
  );
  const settings = { ...Object.fromEntries(read), given: new Map(given) } as Settings;
  if (settings.natsUrl && settings.databaseUrl === undefined) {
    throw new SettingError(
      'NATS_URL is for several servers on one PostgreSQL. Set DATABASE_URL too. One server on SQLite needs no NATS_URL.',
    );
  }
  return settings;
}
