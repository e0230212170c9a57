import { eventNames, type LoggedEvent } from '@parley/contract';
import { Breaches, bodyOf, check, describeEvent } from '../harness/check.ts';
import type { Block } from '../harness/sse.ts';
import type { Answer, Membership, RunEvidence, StreamEvidence } from './evidence.ts';

/** The counts of one stream, and their labels. */
export const streamCounts = {
  /** Different events that arrived. */
  seen: 'events seen',
  lost: 'lost',
  /** Places where an event was skipped, whether it arrived later or not. */
  gaps: 'gaps',
  repeats: 'repeats',
  /** Events and cursors with a lower id than one before. */
  outOfOrder: 'out of order',
  /** Events that the list of this user does not have. */
  unknown: 'not in its list',
  /** Events whose data differs from that in the log by any byte. */
  altered: 'other bytes than in the log',
  mislabelled: 'another name than in the log',
  /** Events without an id, from which no client could resume. */
  withoutId: 'without an id',
  /** Blocks that are not in the log, such as read markers. */
  signals: 'signals beside them',
} as const;

export type StreamCounts = Readonly<Record<keyof typeof streamCounts, number>>;

/** Judges a run by its evidence, and by nothing else. */
export function checkRun(evidence: RunEvidence) {
  const common = check(evidence);
  const breaches = new Breaches();
  const streams = evidence.streams.map((one) => [one.name, checkStream(one, breaches)] as const);
  return {
    ...common,
    streams: Object.fromEntries(streams),
    /** Events that a list has and should not have, or should have and does not. */
    misread: checkLists(evidence, breaches),
    /** Users who are in a chat and should not be, or should be and are not. */
    misplaced: checkMemberships(evidence, breaches),
    /** Messages that a reader of pages missed, or saw twice or too late. */
    mispaged: checkPages(evidence, breaches),
    unexpected: checkAnswers(evidence.answers, breaches),
    broken: [...common.broken, ...breaches.lines],
  };
}

/** Success, a request to retry, or a connection that broke with its server. Anything else is a fault. */
const fair: ReadonlySet<Answer['outcome']> = new Set([
  ...[200, 429, 503, 'already done', 'refused as it should', 'broken: killed', 'broken: stopping'],
]);

function checkAnswers(answers: readonly Answer[], breaches: Breaches): number {
  const unfair = answers.filter(({ outcome }) => !fair.has(outcome));
  const describe = ({ operation, outcome, detail }: Answer) => `${operation}: ${outcome}, ${detail}`;
  return breaches.add('unexpected answer', unfair, describe);
}

const logged: ReadonlySet<string> = new Set(eventNames);

interface Arrival extends Block {
  readonly data: string;
  readonly eventId: number;
}

function checkStream({ name, blocks, expected }: StreamEvidence, breaches: Breaches): StreamCounts {
  const places = new Map(expected.map((event, place) => [event.event_id as number, { event, place }]));
  const withId = blocks.filter(({ id }) => id !== undefined);
  const arrivals = withId.flatMap((block): Arrival[] =>
    block.data === undefined ? [] : [{ ...block, data: block.data, eventId: Number(block.id) }],
  );
  const seen = new Set(arrivals.map(({ eventId }) => eventId));
  const describe = ({ eventId, event, data }: Arrival) => `event ${eventId} (${event}), ${data.slice(0, 200)}`;
  const add = <T>(what: string, found: readonly T[], say: (one: T) => string) =>
    breaches.add(`stream ${name}: ${what}`, found, say);
  const count = (what: string, isBad: (arrival: Arrival, event: LoggedEvent | undefined) => boolean) => {
    const bad = arrivals.filter((arrival) => isBad(arrival, places.get(arrival.eventId)?.event));
    return add(what, bad, describe);
  };
  const isLost = ({ event_id }: LoggedEvent) => !seen.has(event_id);
  const rest = blocks.filter(({ id, data }) => id === undefined && data !== undefined);
  const withoutId = rest.filter(({ event }) => logged.has(event));
  return {
    seen: seen.size,
    lost: add('lost', expected.filter(isLost), describeEvent),
    gaps: add('gap', findGaps(arrivals, places), describe),
    repeats: add('repeated', findRepeats(arrivals), describe),
    outOfOrder: add('out of order', findFalls(withId), ([before, { id, event }]) => {
      return `${event || 'cursor'} ${id} after ${before}`;
    }),
    unknown: count('not in its list', (_, event) => event === undefined),
    altered: count('other data than in the log', ({ data }, event) => event !== undefined && data !== bodyOf(event)),
    mislabelled: count('another name than in the log', (a, event) => event !== undefined && a.event !== event.event),
    withoutId: add('an event without an id', withoutId, ({ event, data }) => `${event} ${data}`),
    signals: rest.length - withoutId.length,
  };
}

/** Returns the arrivals whose direct predecessor in the list had not arrived. */
function findGaps(arrivals: readonly Arrival[], places: ReadonlyMap<number, { place: number }>): Arrival[] {
  let last = -1;
  return arrivals.filter(({ eventId }) => {
    const place = places.get(eventId)?.place;
    if (place === undefined) return false;
    const isGap = place > last + 1;
    last = Math.max(last, place);
    return isGap;
  });
}

function findRepeats(arrivals: readonly Arrival[]): Arrival[] {
  const seen = new Set<number>();
  return arrivals.filter(({ eventId }) => seen.size === seen.add(eventId).size);
}

/** Returns the blocks whose id is lower than one before: a client that resumes there sees events twice. */
function findFalls(blocks: readonly Block[]): [before: number, block: Block][] {
  let greatest = 0;
  return blocks.flatMap((block) => {
    const before = greatest;
    const id = Number(block.id);
    greatest = Math.max(before, id || 0);
    return id >= before ? [] : [[before, block] as [number, Block]];
  });
}

/** Each list has exactly what the log alone says about the user's chats while the user was in them. */
function checkLists({ lists, log }: RunEvidence, breaches: Breaches): number {
  const wrong = lists.flatMap(({ name, userId, events }) => {
    const expected = new Set(seenBy(userId, log).map(({ event_id }) => event_id));
    const listed = new Set(events.map(({ event_id }) => event_id));
    const missing = log.filter(({ event_id }) => expected.has(event_id) && !listed.has(event_id));
    const extra = events.filter(({ event_id }) => !expected.has(event_id));
    return [
      ...missing.map((event) => `${name} does not get ${describeEvent(event)}`),
      ...extra.map((event) => `${name} gets ${describeEvent(event)}`),
    ];
  });
  return breaches.add('list', wrong, (line) => line);
}

/** Returns what a user may see of a complete log: from the event that adds the user to a chat to the one of leaving. */
export function seenBy(userId: number, log: readonly LoggedEvent[]): LoggedEvent[] {
  const chats = new Set<unknown>();
  return log.filter(({ event, data }) => {
    const isAboutThem = data.user_id === userId;
    const isCreated = event === 'group_created' || event === 'channel_created' || event === 'direct_created';
    const participants = isCreated ? (data.participants as readonly number[]) : [];
    if (isCreated && (isAboutThem || participants.includes(userId))) chats.add(data.chat_id);
    if (event === 'user_joined' && isAboutThem) chats.add(data.chat_id);
    const isSeen = chats.has(data.chat_id);
    if (event === 'user_left' && isAboutThem) chats.delete(data.chat_id);
    return isSeen;
  });
}

/** A reader who pages with `after_id` sees every message of the chat once, in the order of the ids. */
function checkPages({ pages, found }: RunEvidence, breaches: Breaches): number {
  const wrong = pages.flatMap(({ chat_id, ids }) => {
    const there = found.filter((message) => message.chat_id === chat_id).map(({ message_id }) => message_id);
    const [paged, known] = [new Set(ids), new Set(there)];
    const line = (id: number, what: string) => `message ${id} of chat ${chat_id} ${what}`;
    return [
      ...there.filter((id) => !paged.has(id)).map((id) => line(id, 'was skipped')),
      ...ids.filter((id) => !known.has(id)).map((id) => line(id, 'is not there any more')),
      ...ids.filter((id, i) => id <= (ids[i - 1] ?? 0)).map((id) => line(id, 'came twice, or after a later one')),
    ];
  });
  return breaches.add('page', wrong, (line) => line);
}

/** The members of each chat are those that the last responses say. */
function checkMemberships({ memberships, foundMemberships }: RunEvidence, breaches: Breaches): number {
  const keyOf = ({ chat_id, user_id }: Membership) => `${user_id} in chat ${chat_id}`;
  const [asked, found] = [new Set(memberships.map(keyOf)), new Set(foundMemberships.map(keyOf))];
  const wrong = [
    ...[...asked].filter((key) => !found.has(key)).map((key) => `${key}, and is not there`),
    ...[...found].filter((key) => !asked.has(key)).map((key) => `not ${key}, and is there`),
  ];
  return breaches.add('by the last response user', wrong, (line) => line);
}
