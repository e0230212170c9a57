import { createHmac } from 'node:crypto';
import type { LoggedEvent } from '@parley/contract';
import type { Arrival, Evidence, Message, WebhookEvidence } from './evidence.ts';

/** Findings of one kind that are reported one by one. */
const maxReported = 5;

/** Collects what does not hold, as sentences. */
export class Breaches {
  readonly lines: string[] = [];

  /** Returns the number of findings. */
  add<T>(what: string, found: readonly T[], describe: (one: T) => string): number {
    for (const one of found.slice(0, maxReported)) this.lines.push(`${what}: ${describe(one)}`);
    if (found.length > maxReported) this.lines.push(`${what}: ${found.length - maxReported} more`);
    return found.length;
  }
}

/** The counts of the deliveries of one webhook, and their labels. */
export const deliveryCounts = {
  /** Different events that the endpoint accepted. */
  delivered: 'events delivered',
  lost: 'lost',
  outOfOrder: 'out of order',
  /** Requests beyond the first for the same event. */
  repeats: 'repeats',
  /** Requests for events that are not in the log. */
  unknown: 'not in the log',
  /** Requests whose body differs from that in the log by any byte. */
  altered: 'other bytes than in the log',
  badSignatures: 'bad signatures',
  /** Requests whose headers contradict their body, or name another webhook. */
  mislabelled: 'wrong headers',
} as const;

export type DeliveryCounts = Readonly<Record<keyof typeof deliveryCounts, number>>;

export type Verdict = ReturnType<typeof check>;

/** Judges a run by its evidence, and by nothing else. */
export function check(evidence: Evidence) {
  const breaches = new Breaches();
  const messages = checkMessages(evidence, breaches);
  const unlogged = checkLog(evidence, breaches);
  const webhooks = evidence.webhooks.map((one) => [one.name, checkWebhook(one, breaches)] as const);
  return {
    ...messages,
    /** Messages and changes that are not in the log as often as they happened. */
    unlogged,
    webhooks: Object.fromEntries(webhooks),
    /** The first breaches of each kind, as sentences. */
    broken: breaches.lines as readonly string[],
  };
}

const describeMessage = ({ message_id, chat_id, content }: Message) =>
  `message ${message_id} of chat ${chat_id}, ${JSON.stringify(content)}`;

/** Every acknowledged message is found once, as it was acknowledged, and no other message is found. */
function checkMessages({ acknowledged, found }: Evidence, breaches: Breaches) {
  const foundById = new Map(found.map((message) => [message.message_id, message]));
  const known = new Set(acknowledged.map(({ message_id }) => message_id));
  const missing = acknowledged.filter((message) => {
    const there = foundById.get(message.message_id);
    return there?.chat_id !== message.chat_id || there.content !== message.content;
  });
  // Pages are in ascending order, so a message that is found twice is found twice in a row.
  const isSecond = (i: number) => found[i - 1]?.message_id === found[i]?.message_id;
  const extra = found.filter((message, i) => !known.has(message.message_id) || isSecond(i));
  return {
    missing: breaches.add('acknowledged and not found', missing, describeMessage),
    extra: breaches.add('found and never acknowledged, or found twice', extra, describeMessage),
  };
}

/** Messages and changes match the events one to one. Event ids rise, and so do message ids within a chat. */
function checkLog({ acknowledged, found, changes, log }: Evidence, breaches: Breaches): number {
  const messages = [...new Map([...acknowledged, ...found].map((m) => [m.message_id, m])).values()];
  const asked = [...messages.map(({ message_id }) => ({ event: 'new_message', message_id })), ...changes];
  const logged = log.filter(({ event }) => event in subjects);
  const expected = countEach(asked.map((one) => keyOf(one.event, one)));
  const counted = countEach(logged.map(({ event, data }) => keyOf(event, data)));
  const unlogged = [...new Set([...expected.keys(), ...counted.keys()])].filter(
    (key) => expected.get(key) !== counted.get(key),
  );
  const newest = new Map<unknown, number>();
  const falling = log.filter(({ event, data }) => {
    if (event !== 'new_message') return false;
    const before = newest.get(data.chat_id) ?? 0;
    newest.set(data.chat_id, Number(data.message_id));
    return Number(data.message_id) <= before;
  });
  const isFalling = ({ event_id }: LoggedEvent, i: number) => event_id <= (log[i - 1]?.event_id ?? 0);
  breaches.add('event ids that do not rise', log.filter(isFalling), describeEvent);
  breaches.add('message ids that do not rise', falling, describeEvent);
  return breaches.add(
    'not as often in the log as it happened',
    unlogged,
    (key) => `${key}, ${counted.get(key) ?? 0} in place of ${expected.get(key) ?? 0}`,
  );
}

/** The fields that identify the subject of each event that the traffic causes. */
const subjects: Readonly<Record<string, readonly string[]>> = {
  new_message: ['message_id'],
  message_edited: ['message_id'],
  message_deleted: ['message_id'],
  reaction_added: ['message_id'],
  reaction_removed: ['message_id'],
  user_joined: ['chat_id', 'user_id'],
  user_left: ['chat_id', 'user_id'],
};

const keyOf = (event: string, data: Readonly<Record<string, unknown>>) =>
  [event, ...(subjects[event] ?? []).map((field) => `${field} ${data[field]}`)].join(' ');

export function countEach(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

export const describeEvent = ({ event_id, event, data }: LoggedEvent) =>
  `event ${event_id} (${event}, chat ${data.chat_id})`;

const idOf = (arrival: Arrival) => arrival.header('x-webhook-id');

function checkWebhook(webhook: WebhookEvidence, breaches: Breaches): DeliveryCounts {
  const { name, log, secret, webhookId } = webhook;
  const events = new Map(log.map((event) => [String(event.event_id), event]));
  const first = new Map<string, Arrival>();
  const accepted = new Map<string, number>();
  for (const arrival of webhook.arrivals) {
    const id = idOf(arrival);
    if (!first.has(id)) first.set(id, arrival);
    if (arrival.acceptedAt === undefined) continue;
    accepted.set(id, Math.min(arrival.acceptedAt, accepted.get(id) ?? Number.POSITIVE_INFINITY));
  }
  const describe = (arrival: Arrival) => {
    const event = events.get(idOf(arrival));
    const place = `request ${arrival.at}, attempt ${arrival.header('x-webhook-attempt')}`;
    return event ? `${describeEvent(event)}, ${place}` : `id ${JSON.stringify(idOf(arrival))}, ${place}`;
  };
  const count = (what: string, isBad: (arrival: Arrival, event: LoggedEvent | undefined) => boolean) => {
    const bad = webhook.arrivals.filter((arrival) => isBad(arrival, events.get(idOf(arrival))));
    return breaches.add(`${name}: ${what}`, bad, describe);
  };
  const lost = log.filter(({ event_id }) => !accepted.has(String(event_id)));
  return {
    delivered: [...accepted.keys()].filter((id) => events.has(id)).length,
    repeats: webhook.arrivals.length - first.size,
    outOfOrder: breaches.add(
      `${name}: out of order`,
      overtaking(log, first, accepted),
      ([before, after]) => `${describe(after)}, came before ${describeEvent(before)} was accepted`,
    ),
    lost: breaches.add(`${name}: lost`, lost, describeEvent),
    unknown: count('not in the log', (_, event) => event === undefined),
    altered: count('another body than in the log', (a, event) => event !== undefined && !hasBodyOf(a, event)),
    badSignatures: count('bad signature', (arrival) => !isSigned(arrival, secret)),
    mislabelled: count('wrong headers', (arrival, event) => !isLabelled(arrival, webhookId, event)),
  };
}

/**
 * Returns the events that arrived before the previous event of their chat was accepted. If no event passes its direct
 * predecessor, none passes any.
 */
function overtaking(
  log: readonly LoggedEvent[],
  first: ReadonlyMap<string, Arrival>,
  accepted: ReadonlyMap<string, number>,
): [before: LoggedEvent, after: Arrival][] {
  const last = new Map<unknown, LoggedEvent>();
  return log.flatMap((event) => {
    const before = last.get(event.data.chat_id);
    last.set(event.data.chat_id, event);
    const after = first.get(String(event.event_id));
    if (!before || !after) return [];
    const acceptedAt = accepted.get(String(before.event_id)) ?? Number.POSITIVE_INFINITY;
    return acceptedAt > after.at ? [[before, after] as [LoggedEvent, Arrival]] : [];
  });
}

/** The log returns the fields of the frozen body in their order. */
export const bodyOf = ({ event, timestamp, data }: LoggedEvent): string => JSON.stringify({ event, timestamp, data });

const hasBodyOf = ({ body }: Arrival, event: LoggedEvent) => body.equals(Buffer.from(bodyOf(event)));

/** Computes both signatures from the bytes that arrived, without the code of the server. */
function isSigned(arrival: Arrival, secret: string): boolean {
  const { header, body } = arrival;
  const plain = createHmac('sha256', secret).update(body).digest('hex');
  const standard = createHmac('sha256', secret)
    .update(`${header('webhook-id')}.${header('webhook-timestamp')}.`)
    .update(body)
    .digest('base64');
  return header('x-webhook-signature') === `sha256=${plain}` && header('webhook-signature') === `v1,${standard}`;
}

const isLabelled = ({ header }: Arrival, webhookId: number, event: LoggedEvent | undefined) =>
  header('webhook-id') === header('x-webhook-id') &&
  header('x-webhook-registration') === String(webhookId) &&
  header('content-type') === 'application/json' &&
  /^[1-9]\d*$/.test(header('x-webhook-attempt')) &&
  (event === undefined || header('x-webhook-event') === event.event);
