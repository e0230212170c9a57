import { ApiError, type Client } from '@parley-chat/sdk';
import { ageText } from '../age.ts';
import { bytesText } from '../bytes.ts';
import { defineCommand } from '../command.ts';
import { findConnection } from '../connection.ts';
import { counted } from '../counted.ts';
import { plainLine } from '../failure.ts';
import { oneLine, printJson } from '../output.ts';
import { chooseServer } from '../server-url.ts';
import type { MetricSamples } from '../status/metrics.ts';
import { type Probe, probe } from '../status/probe.ts';
import { printRecord } from '../table.ts';
import { connection, json } from '../values.ts';
import { failingOf } from '../webhooks/failing.ts';
import { statusText } from '../webhooks/webhook-text.ts';

export const command = defineCommand({
  arguments: {},
  options: { json, ...connection },
  notes: `The exit code is 1 if the server is not ready. It works without access to the server. With it, the status also has your
own webhooks. The numbers of the server itself come from /metrics, which a server shows only to its own machine, or with
PARLEY_METRICS_TOKEN. Behind a proxy for several servers they are those of one of them.`,
  async run(_, { json, ...where }, context) {
    const { url: server } = chooseServer(where, context.env);
    const found = await probe(server, context);
    const client = found.ready ? findConnection(where, context)?.client : undefined;
    const { user, refusal } = client ? await signedIn(client) : { user: null };
    const webhooks = client && user ? await webhooksOf(client) : null;
    const { metrics: samples, ...health } = found;
    const metrics = samples ? measure(samples) : null;
    if (json) await printJson(context, { server, ...health, metrics, user, webhooks });
    else await printRecord(context, rows({ server, found, metrics, user, refusal, webhooks }));
    if (!found.ready) throw new Error(`The server is not ready. ${oneLine(found.state)}`);
  },
});

interface SignedIn {
  readonly user: { readonly user_id: number; readonly name: string } | null;
  /** Why the access does not work. */
  readonly refusal?: string | undefined;
}

/** Never rejects: without access there is still a status. */
async function signedIn(client: Client): Promise<SignedIn> {
  try {
    const { user_id, name } = (await client.users.me()).user;
    return { user: { user_id, name } };
  } catch (error) {
    return { user: null, refusal: plainLine(error) };
  }
}

/** Counts the webhooks of the caller by their state. Returns null if the token may not see them. */
async function webhooksOf(client: Client) {
  try {
    const all = await Array.fromAsync(client.webhooks.list.all({ limit: 200 }));
    const failing = await failingOf(client, all);
    const states = all.map((webhook) => statusText(webhook, failing.get(webhook.webhook_id)));
    const countOf = (state: string) => states.filter((one) => one === state).length;
    const ages = all.flatMap(({ oldest_undelivered_age: age }) => age ?? []);
    return {
      count: all.length,
      down: countOf('down'),
      failing: countOf('failing'),
      retrying: countOf('retrying'),
      paused: countOf('paused'),
      disabled: countOf('disabled'),
      oldest_undelivered_age: ages.length === 0 ? null : Math.max(...ages),
    };
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

type Measured = ReturnType<typeof measure>;

/** A sample is null if this server does not have it. */
function measure(samples: MetricSamples) {
  const get = (name: string) => samples.get(name) ?? null;
  const timeIn = (name: string) => {
    const seconds = get(name);
    return seconds ? new Date(seconds * 1_000).toISOString() : null;
  };
  const truthOf = (name: string) => {
    const value = get(name);
    return value === null ? null : value === 1;
  };
  return {
    started_at: timeIn('process_start_time_seconds'),
    memory_bytes: get('process_resident_memory_bytes'),
    disk_free_bytes: get('parley_disk_free_bytes'),
    last_backup_at: timeIn('parley_last_backup_time_seconds'),
    backup_failing: truthOf('parley_backup_failing'),
    open_streams: get('parley_streams'),
    search_lag_events: get('parley_search_lag_events'),
    open_deliveries: get('parley_webhook_open_deliveries'),
    webhook_lag_p99_seconds: samples.quantile('parley_webhook_lag_seconds', 0.99) ?? null,
    nats_connected: truthOf('parley_nats_connected'),
  };
}

interface Shown extends SignedIn {
  readonly server: string;
  readonly found: Probe;
  readonly metrics: Measured | null;
  readonly webhooks: Awaited<ReturnType<typeof webhooksOf>>;
}

function rows({ server, found, metrics, user, refusal, webhooks }: Shown): string[][] {
  return [
    ['server', server],
    ['status', `${found.ready ? '' : 'not ready: '}${oneLine(found.state)}`],
    // The readiness check reads from the database.
    ...(found.ready ? [['database', `responds, ${found.response_ms.toLocaleString('en')} ms in all`]] : []),
    ['version', oneLine(found.version ?? 'unknown')],
    ...(metrics ? metricRows(metrics) : [['metrics', 'not shown to this machine (PARLEY_METRICS_TOKEN)']]),
    ['signed in', oneLine(user ? `${user.name} (id ${user.user_id})` : ['no', refusal].filter(Boolean).join(': '))],
    ...(webhooks ? [['webhooks', webhooksText(webhooks)]] : []),
  ];
}

function metricRows(measured: Measured): string[][] {
  const row = <T>(name: string, value: T | null, text: (value: T) => string) =>
    value === null ? [] : [[name, text(value)]];
  return [
    ...row('running', measured.started_at, (at) => `for ${ageSince(at)}`),
    ...row('memory', measured.memory_bytes, bytesText),
    ...row('disk', measured.disk_free_bytes, (bytes) => `${bytesText(bytes)} free`),
    ...row('backup', measured.backup_failing, (isFailing) => backupText(isFailing, measured.last_backup_at)),
    ...row('NATS', measured.nats_connected, (isConnected) => (isConnected ? 'connected' : 'not connected')),
    ...row('streams', measured.open_streams, (open) => `${open.toLocaleString('en')} open`),
    ...row('search', measured.search_lag_events, (lag) =>
      lag === 0 ? 'up to date' : `${counted(lag, 'event')} behind`,
    ),
    ...row('backlog', measured.open_deliveries, (open) =>
      open === 0
        ? 'no pending deliveries'
        : `${open.toLocaleString('en')} pending ${open === 1 ? 'delivery' : 'deliveries'}`,
    ),
    ...row('lag', measured.webhook_lag_p99_seconds, lagText),
  ];
}

const ageSince = (time: string): string => ageText((Date.now() - Date.parse(time)) / 1_000);

function backupText(isFailing: boolean, lastAt: string | null): string {
  const last = lastAt === null ? 'none was made yet' : `the last one was made ${ageSince(lastAt)} ago`;
  return isFailing ? `failed, ${last}` : last;
}

const lagText = (seconds: number): string =>
  `99% of first attempts at webhooks ${Number.isFinite(seconds) ? `within ${lengthText(seconds)}` : 'later than an hour'}`;

const lengthText = (seconds: number): string => (seconds < 1 ? `${seconds * 1_000} ms` : ageText(seconds));

function webhooksText({ count, oldest_undelivered_age: age, ...counts }: NonNullable<Shown['webhooks']>) {
  const { down, failing, retrying, paused, disabled } = counts;
  const states = [
    down > 0 && `${down} down`,
    failing > 0 && `${failing} failing`,
    retrying > 0 && `${retrying} retrying`,
    paused > 0 && `${paused} paused`,
    disabled > 0 && `${disabled} disabled`,
    age !== null && `the oldest undelivered event is ${ageText(age)} old`,
  ];
  return [`${count} of yours`, ...states.filter((state) => state !== false)].join(', ');
}
