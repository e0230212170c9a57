import { eventNames, type LoggedEvent } from '@parley/contract';
import { Breaches } from '../breaches.ts';
import { bodyOf, check, describeEvent, type Verdict } from '../check.ts';
import type { Answer, Listed, Seat, Streamed, TrialEvidence } from './evidence.ts';
import type { Block } from './sse.ts';

/** What was found out about one stream. */
export interface StreamCounts {
  /** Different events that came. */
  readonly seen: number;
  /** Events that never came. */
  readonly lost: number;
  /** Places where an event was passed over, whether it came later or not. */
  readonly gaps: number;
  readonly repeats: number;
  /** Events and cursors with a lower id than one before. */
  readonly outOfOrder: number;
  /** Events that the list does not tell this user of, or that the log does not know. */
  readonly unknown: number;
  /** Events whose data is not that of the log, byte by byte. */
  readonly altered: number;
  /** Events under another name than in the log. */
  readonly mislabelled: number;
  /** Events without an id, from which nobody could go on. */
  readonly withoutId: number;
  /** What is not in the log, such as read markers. */
  readonly signals: number;
}

export interface TrialVerdict extends Verdict {
  readonly streams: Readonly<Record<string, StreamCounts>>;
  /** Events that a list tells of and should not, or should and does not. */
  readonly misread: number;
  /** People who are in a chat and should not be, or should and are not. */
  readonly misplaced: number;
  /** Messages that somebody who read page by page did not see, or saw twice or too late. */
  readonly mispaged: number;
  readonly unexpected: number;
}

/** Judges a run by what is known of it, and by nothing else. */
export function checkTrial(evidence: TrialEvidence): TrialVerdict {
  const single = check(evidence);
  const breaches = new Breaches();
  const streams = evidence.streams.map((one) => [one.name, checkStream(one, breaches)] as const);
  return {
    ...single,
    streams: Object.fromEntries(streams),
    misread: checkLists(evidence, breaches),
    misplaced: checkSeats(evidence, breaches),
    mispaged: checkPages(evidence, breaches),
    unexpected: checkAnswers(evidence.answers, breaches),
    broken: [...single.broken, ...breaches.lines],
  };
}

/** A plea to come again, or a connection that went with its node; anything else is a fault. */
const fair: ReadonlySet<Answer['outcome']> = new Set([
  200,
  429,
  503,
  'already done',
  'refused as it should',
  'broken: killed',
  'broken: stopping',
]);

function checkAnswers(answers: readonly Answer[], breaches: Breaches): number {
  const unfair = answers.filter(({ outcome }) => !fair.has(outcome));
  return breaches.add(
    'unexpected answer',
    unfair,
    ({ operation, outcome, says }) => `${operation}: ${outcome}, ${says}`,
  );
}

const logged: ReadonlySet<string> = new Set(eventNames);

interface Arrival extends Block {
  readonly data: string;
  readonly eventId: number;
}

function checkStream({ name, blocks, expected }: Streamed, breaches: Breaches): StreamCounts {
  const places = new Map(expected.map((event, place) => [event.event_id as number, { event, place }]));
  const withId = blocks.filter(({ id }) => id !== undefined);
  const arrivals = withId.flatMap((block): Arrival[] =>
    block.data === undefined ? [] : [{ ...block, data: block.data, eventId: Number(block.id) }],
  );
  const seen = new Set(arrivals.map(({ eventId }) => eventId));
  const describe = ({ eventId, event, data }: Arrival) => `event ${eventId} (${event}), ${data.slice(0, 200)}`;
  const add = (what: string, isBad: (arrival: Arrival, event: LoggedEvent | undefined) => boolean) =>
    breaches.add(
      `stream ${name}: ${what}`,
      arrivals.filter((arrival) => isBad(arrival, places.get(arrival.eventId)?.event)),
      describe,
    );
  const rest = blocks.filter(({ id, data }) => id === undefined && data !== undefined);
  return {
    seen: seen.size,
    lost: breaches.add(
      `stream ${name}: lost`,
      expected.filter(({ event_id }) => !seen.has(event_id)),
      describeEvent,
    ),
    gaps: breaches.add(`stream ${name}: gap`, findGaps(arrivals, places), describe),
    repeats: breaches.add(`stream ${name}: repeated`, findRepeats(arrivals), describe),
    outOfOrder: breaches.add(
      `stream ${name}: out of order`,
      findFalls(withId),
      ([before, { id, event }]) => `${event || 'cursor'} ${id} after ${before}`,
    ),
    unknown: add('not in its list', (_, event) => event === undefined),
    altered: add('other data than in the log', ({ data }, event) => event !== undefined && data !== bodyOf(event)),
    mislabelled: add('another name than in the log', (a, event) => event !== undefined && a.event !== event.event),
    withoutId: breaches.add(
      `stream ${name}: an event without an id`,
      rest.filter(({ event }) => logged.has(event)),
      ({ event, data }) => `${event} ${data}`,
    ),
    signals: rest.filter(({ event }) => !logged.has(event)).length,
  };
}

/** Arrivals that came although the one right ahead of them in the list had not. */
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

/** Whoever goes on from a cursor that has fallen sees something twice; and ids are numbers. */
function findFalls(blocks: readonly Block[]): [before: number, block: Block][] {
  let greatest = 0;
  return blocks.flatMap((block) => {
    const before = greatest;
    const id = Number(block.id);
    greatest = Math.max(before, id || 0);
    return id >= before ? [] : [[before, block] as [number, Block]];
  });
}

/** Each list has exactly what happened in its user's chats while the user was in them, by what the log itself tells. */
function checkLists({ lists, log }: TrialEvidence, breaches: Breaches): number {
  const wrong = lists.flatMap(({ name, userId, events }: Listed) => {
    const expected = new Set(seenBy(userId, log).map(({ event_id }) => event_id));
    const listed = new Set(events.map(({ event_id }) => event_id));
    const missing = log.filter(({ event_id }) => expected.has(event_id) && !listed.has(event_id));
    const extra = events.filter(({ event_id }) => !expected.has(event_id));
    return [
      ...missing.map((event) => `${name} is not told of ${describeEvent(event)}`),
      ...extra.map((event) => `${name} is told of ${describeEvent(event)}`),
    ];
  });
  return breaches.add('list', wrong, (line) => line);
}

/** What of a log that knows everything one user may see: from the event that brings the user into a chat to the one of leaving. */
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

/** Whoever pages with `after_id` sees every message of the chat once, in the order of the ids. */
function checkPages({ pages, found }: TrialEvidence, breaches: Breaches): number {
  const wrong = pages.flatMap(({ chat_id, ids }) => {
    const there = found.filter((message) => message.chat_id === chat_id).map(({ message_id }) => message_id);
    const [paged, known] = [new Set(ids), new Set(there)];
    const line = (id: number, what: string) => `message ${id} of chat ${chat_id} ${what}`;
    return [
      ...there.filter((id) => !paged.has(id)).map((id) => line(id, 'was passed over')),
      ...ids.filter((id) => !known.has(id)).map((id) => line(id, 'is not there any more')),
      ...ids.filter((id, i) => id <= (ids[i - 1] ?? 0)).map((id) => line(id, 'came twice, or after a later one')),
    ];
  });
  return breaches.add('page', wrong, (line) => line);
}

/** Whoever joined by the last answer is there, and whoever left is not. */
function checkSeats({ seats, foundSeats }: TrialEvidence, breaches: Breaches): number {
  const keyOf = ({ chat_id, user_id }: Seat) => `${user_id} in chat ${chat_id}`;
  const [asked, found] = [new Set(seats.map(keyOf)), new Set(foundSeats.map(keyOf))];
  const wrong = [
    ...[...asked].filter((key) => !found.has(key)).map((key) => `${key}, and is not there`),
    ...[...found].filter((key) => !asked.has(key)).map((key) => `not ${key}, and is there`),
  ];
  return breaches.add('by the last answer user', wrong, (line) => line);
}
