import { createHmac } from 'node:crypto';
import type { LoggedEvent } from '@parley/contract';
import { Breaches } from './breaches.ts';
import type { Arrival, Evidence, Message, Told } from './evidence.ts';

/** What was found out about one webhook. */
export interface ToldCounts {
  /** Different events that it accepted. */
  readonly delivered: number;
  /** Requests beyond the first for the same event. */
  readonly repeats: number;
  readonly outOfOrder: number;
  readonly lost: number;
  /** Requests about nothing that the log knows. */
  readonly unknown: number;
  /** Requests whose body is not that of the log, byte by byte. */
  readonly altered: number;
  readonly badSignatures: number;
  /** Requests whose headers say something else than their body, or name another webhook. */
  readonly mislabelled: number;
}

export interface Verdict {
  readonly missing: number;
  readonly extra: number;
  readonly untold: number;
  readonly told: Readonly<Record<string, ToldCounts>>;
  /** Every breach in words, the first ones of each kind. */
  readonly broken: readonly string[];
}

/** Judges a run by what is known of it, and by nothing else. */
export function check(evidence: Evidence): Verdict {
  const breaches = new Breaches();
  const messages = checkMessages(evidence, breaches);
  const untold = checkLog(evidence, breaches);
  const told = evidence.told.map((one) => [one.name, checkTold(one, breaches)] as const);
  return { ...messages, untold, told: Object.fromEntries(told), broken: breaches.lines };
}

const describeMessage = ({ message_id, chat_id, content }: Message) =>
  `message ${message_id} of chat ${chat_id}, ${JSON.stringify(content)}`;

/** What was acknowledged is there as it was acknowledged, once, and nothing else is. */
function checkMessages({ acknowledged, found }: Evidence, breaches: Breaches) {
  const foundById = new Map(found.map((message) => [message.message_id, message]));
  const known = new Set(acknowledged.map(({ message_id }) => message_id));
  const missing = acknowledged.filter((message) => {
    const there = foundById.get(message.message_id);
    return there?.chat_id !== message.chat_id || there.content !== message.content;
  });
  const extra = found.filter((message, i) => !known.has(message.message_id) || isSecond(found, i));
  return {
    missing: breaches.add('acknowledged and not found', missing, describeMessage),
    extra: breaches.add('found and never acknowledged, or found twice', extra, describeMessage),
  };
}

/** Pages are in ascending order: whatever comes twice comes twice in a row. */
const isSecond = (found: readonly Message[], i: number) => found[i - 1]?.message_id === found[i]?.message_id;

/** Every message and every change has its event, and every event its message or change; ids rise, those of messages within their chat. */
function checkLog({ acknowledged, found, changes, log }: Evidence, breaches: Breaches): number {
  const messages = [...new Map([...acknowledged, ...found].map((m) => [m.message_id, m])).values()];
  const asked = [...messages.map(({ message_id }) => ({ event: 'new_message', message_id })), ...changes];
  const told = log.filter(({ event }) => event in subjects);
  const expected = tally(asked.map((one) => keyOf(one.event, one)));
  const counted = tally(told.map(({ event, data }) => keyOf(event, data)));
  const untold = [...new Set([...expected.keys(), ...counted.keys()])].filter(
    (key) => expected.get(key) !== counted.get(key),
  );
  const newest = new Map<unknown, number>();
  const falling = log.filter(({ event, data }) => {
    if (event !== 'new_message') return false;
    const before = newest.get(data.chat_id) ?? 0;
    newest.set(data.chat_id, Number(data.message_id));
    return Number(data.message_id) <= before;
  });
  breaches.add(
    'event ids that do not rise',
    log.filter(({ event_id }, i) => event_id <= (log[i - 1]?.event_id ?? 0)),
    describeEvent,
  );
  breaches.add('message ids that do not rise', falling, describeEvent);
  return breaches.add(
    'not as often in the log as it happened',
    untold,
    (key) => `${key}, ${counted.get(key) ?? 0} in place of ${expected.get(key) ?? 0}`,
  );
}

/** What the events are about that come of the traffic, and of nothing else. */
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

function tally(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

export const describeEvent = ({ event_id, event, data }: LoggedEvent) =>
  `event ${event_id} (${event}, chat ${data.chat_id})`;

const idOf = (arrival: Arrival) => arrival.header('x-webhook-id');

function checkTold(told: Told, breaches: Breaches): ToldCounts {
  const { log } = told;
  const events = new Map(log.map((event) => [String(event.event_id), event]));
  const first = new Map<string, Arrival>();
  const accepted = new Map<string, number>();
  for (const arrival of told.arrivals) {
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
  const arrivals = (what: string, isBad: (arrival: Arrival, event: LoggedEvent | undefined) => boolean) =>
    breaches.add(
      `${told.name}: ${what}`,
      told.arrivals.filter((arrival) => isBad(arrival, events.get(idOf(arrival)))),
      describe,
    );
  const known = [...accepted.keys()].filter((id) => events.has(id));
  return {
    delivered: known.length,
    repeats: told.arrivals.length - first.size,
    outOfOrder: breaches.add(
      `${told.name}: out of order`,
      overtaking(log, first, accepted),
      ([before, after]) => `${describe(after)}, came before ${describeEvent(before)} was accepted`,
    ),
    lost: breaches.add(
      `${told.name}: lost`,
      log.filter(({ event_id }) => !accepted.has(String(event_id))),
      describeEvent,
    ),
    unknown: arrivals('not in the log', (_, event) => event === undefined),
    altered: arrivals('another body than in the log', (a, event) => event !== undefined && !hasBodyOf(a, event)),
    badSignatures: arrivals('bad signature', (arrival) => !isSigned(arrival, told.secret)),
    mislabelled: arrivals('wrong headers', (arrival, event) => !isLabelled(arrival, told.webhookId, event)),
  };
}

/**
 * Events that came before the one ahead of them in their chat was accepted. Where no event passes the one right ahead of it,
 * none passes any: so the first deliveries are in order.
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

/** The log gives back the fields of the body that it froze, in their order. */
export const bodyOf = ({ event, timestamp, data }: LoggedEvent): string => JSON.stringify({ event, timestamp, data });

const hasBodyOf = ({ body }: Arrival, event: LoggedEvent) => body.equals(Buffer.from(bodyOf(event)));

/** Both signatures, computed here from the bytes that came. */
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
