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
    const countOf = (state: string) => all.filter((webhook) => statusText(webhook) === state).length;
    const ages = all.flatMap(({ oldest_undelivered_age: age }) => age ?? []);
    return {
      count: all.length,
      down: countOf('down'),
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
  const startedAt = get('process_start_time_seconds');
  return {
    started_at: startedAt === null ? null : new Date(startedAt * 1_000).toISOString(),
    memory_bytes: get('process_resident_memory_bytes'),
    disk_free_bytes: get('parley_disk_free_bytes'),
    open_streams: get('parley_streams'),
    search_lag_events: get('parley_search_lag_events'),
    chats_with_pending_deliveries: get('parley_webhook_chat_queues'),
    webhook_lag_p99_seconds: samples.quantile('parley_webhook_lag_seconds', 0.99) ?? null,
    nats_connected: samples.get('parley_nats_connected') === undefined ? null : get('parley_nats_connected') === 1,
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
    ...row('running', measured.started_at, (at) => `for ${ageText((Date.now() - Date.parse(at)) / 1_000)}`),
    ...row('memory', measured.memory_bytes, bytesText),
    ...row('disk', measured.disk_free_bytes, (bytes) => `${bytesText(bytes)} free`),
    ...row('NATS', measured.nats_connected, (isConnected) => (isConnected ? 'connected' : 'not connected')),
    ...row('streams', measured.open_streams, (open) => `${open.toLocaleString('en')} open`),
    ...row('search', measured.search_lag_events, (lag) =>
      lag === 0 ? 'up to date' : `${counted(lag, 'event')} behind`,
    ),
    ...row('backlog', measured.chats_with_pending_deliveries, (chats) =>
      chats === 0 ? 'no pending deliveries' : `pending deliveries in ${counted(chats, 'chat')}`,
    ),
    ...row('lag', measured.webhook_lag_p99_seconds, lagText),
  ];
}

const lagText = (seconds: number): string =>
  `99% of first attempts at webhooks ${Number.isFinite(seconds) ? `within ${lengthText(seconds)}` : 'later than an hour'}`;

const lengthText = (seconds: number): string => (seconds < 1 ? `${seconds * 1_000} ms` : ageText(seconds));

function webhooksText({ count, down, paused, disabled, oldest_undelivered_age: age }: NonNullable<Shown['webhooks']>) {
  const states = [
    down > 0 && `${down} down`,
    paused > 0 && `${paused} paused`,
    disabled > 0 && `${disabled} disabled`,
    age !== null && `the oldest undelivered event is ${ageText(age)} old`,
  ];
  return [`${count} of yours`, ...states.filter((state) => state !== false)].join(', ');
}
