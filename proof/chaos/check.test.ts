import { describe, expect, test } from 'bun:test';
import type { LoggedEvent } from '@parley/contract';
import { bodyOf } from '../harness/check.ts';
import type { Block } from '../harness/sse.ts';
import { checkRun, seenBy } from './check.ts';
import type { Answer, RunEvidence } from './evidence.ts';

const timestamp = '2026-01-01T12:00:00.000Z';
const [owner, guest] = [1, 2];

function logged(event_id: number, event: LoggedEvent['event'], data: LoggedEvent['data']): LoggedEvent {
  return { event_id: event_id as LoggedEvent['event_id'], event, timestamp, data };
}

const membership = { chat_id: 1, user_id: guest, actor_id: owner };
const message = (message_id: number) => ({ message_id, chat_id: 1, user_id: owner, content: `message ${message_id}` });
const [created, before, joined, during, left, after] = [
  logged(1, 'group_created', { chat_id: 1, name: 'Chat', user_id: owner, participants: [] }),
  logged(2, 'new_message', message(1)),
  logged(3, 'user_joined', membership),
  logged(5, 'new_message', message(2)),
  logged(6, 'user_left', membership),
  logged(7, 'new_message', message(3)),
];
const log = [created, before, joined, during, left, after];
const messages = [1, 2, 3].map(message).map(({ message_id, chat_id, content }) => ({ message_id, chat_id, content }));

/** Three messages; somebody came before the second and left after it. */
const sound: RunEvidence = {
  acknowledged: messages,
  changes: [
    { event: 'user_joined', chat_id: 1, user_id: guest },
    { event: 'user_left', chat_id: 1, user_id: guest },
  ],
  found: messages,
  log,
  webhooks: [],
  answers: [],
  streams: [],
  lists: [
    { name: 'owner', userId: owner, events: log },
    { name: 'guest', userId: guest, events: [joined, during, left] },
  ],
  memberships: [],
  foundMemberships: [],
  pages: [],
};

const judge = (changed: Partial<RunEvidence>) => checkRun({ ...sound, ...changed });

const block = (event: LoggedEvent, changed: Partial<Block> = {}): Block => ({
  id: String(event.event_id),
  event: event.event,
  data: bodyOf(event),
  ...changed,
});
const cursor = (id: number): Block => ({ id: String(id), event: '', data: undefined });

function judgeStream(...blocks: Block[]): Record<string, number> {
  const { broken, streams } = judge({ streams: [{ name: 'one', blocks, expected: [joined, during, left] }] });
  const found = Object.entries(streams.one ?? {}).filter(([, count]) => count > 0);
  return { broken: broken.length, ...Object.fromEntries(found) };
}

describe('the check of a run', () => {
  test('finds nothing wrong where every stream saw what its list has, whatever moved its cursor', () => {
    const blocks = [cursor(2), block(joined), cursor(4), block(during), block(left), cursor(6), cursor(9)];
    expect(judgeStream(...blocks)).toEqual({ broken: 0, seen: 3 });
  });

  test('counts signals, and holds nothing against them', () => {
    const signal = { id: undefined, event: 'message_read', data: '{}' };
    expect(judgeStream(block(joined), signal, block(during), block(left), signal)).toEqual({
      broken: 0,
      seen: 3,
      signals: 2,
    });
  });

  test('finds an event that never came, and where it was passed over', () => {
    expect(judgeStream(block(joined), block(left))).toEqual({ broken: 2, seen: 2, lost: 1, gaps: 1 });
    expect(judgeStream(block(joined), block(during))).toEqual({ broken: 1, seen: 2, lost: 1 });
    expect(judgeStream(block(during), block(left))).toEqual({ broken: 2, seen: 2, lost: 1, gaps: 1 });
  });

  test('finds an event that came again, at once or later', () => {
    const again = [block(joined), block(joined), block(during), block(left)];
    expect(judgeStream(...again)).toEqual({ broken: 1, seen: 3, repeats: 1 });
    const later = [block(joined), block(during), block(joined), block(left)];
    expect(judgeStream(...later)).toEqual({ broken: 2, seen: 3, repeats: 1, outOfOrder: 1 });
  });

  test('finds events that came in another order, and a cursor that fell', () => {
    const swapped = [block(joined), block(left), block(during)];
    expect(judgeStream(...swapped)).toEqual({ broken: 2, seen: 3, gaps: 1, outOfOrder: 1 });
    const fallen = [block(joined), block(during), cursor(4), block(left)];
    expect(judgeStream(...fallen)).toEqual({ broken: 1, seen: 3, outOfOrder: 1 });
    expect(judgeStream(block(joined), block(during), block(left), { ...cursor(0), id: 'x' })).toMatchObject({
      outOfOrder: 1,
    });
  });

  test('finds an event that the user may not see', () => {
    const blocks = [block(joined), block(during), block(left), block(after)];
    expect(judgeStream(...blocks)).toEqual({ broken: 1, seen: 4, unknown: 1 });
  });

  test('finds other bytes, another name, and an event without an id', () => {
    const rest = [block(during), block(left)];
    const spaced = bodyOf(joined).replace(':', ': ');
    expect(judgeStream(block(joined, { data: spaced }), ...rest)).toEqual({ broken: 1, seen: 3, altered: 1 });
    expect(judgeStream(block(joined, { event: 'user_left' }), ...rest)).toEqual({
      broken: 1,
      seen: 3,
      mislabelled: 1,
    });
    expect(judgeStream(block(joined), ...rest, block(during, { id: undefined }))).toEqual({
      broken: 1,
      seen: 3,
      withoutId: 1,
    });
  });

  test('knows from the log alone who may see what, joining and leaving included', () => {
    expect(judge({}).broken).toEqual([]);
    expect(seenBy(guest, log)).toEqual([joined, during, left]);
    expect(seenBy(owner, log)).toEqual(log);
    expect(seenBy(3, log)).toEqual([]);
  });

  test('finds a list that has too much or too little', () => {
    const listOf = (...events: LoggedEvent[]) => ({ lists: [{ name: 'guest', userId: guest, events }] });
    expect(judge(listOf(joined, during, left, after))).toMatchObject({ misread: 1 });
    expect(judge(listOf(before, joined, during, left))).toMatchObject({ misread: 1 });
    expect(judge(listOf(joined, during))).toMatchObject({ misread: 1 });
  });

  test('finds somebody who is where they should not be, or not where they should', () => {
    const seat = { chat_id: 1, user_id: guest };
    expect(judge({ memberships: [seat], foundMemberships: [seat] })).toMatchObject({ misplaced: 0 });
    expect(judge({ memberships: [seat] })).toMatchObject({ misplaced: 1 });
    expect(judge({ foundMemberships: [seat] })).toMatchObject({ misplaced: 1 });
  });

  test('finds a message that a page passed over, showed twice, too late or from nowhere', () => {
    const paged = (...ids: number[]) => judge({ pages: [{ chat_id: 1, ids }] });
    expect(paged(1, 2, 3)).toMatchObject({ mispaged: 0, broken: [] });
    for (const ids of [
      [1, 3],
      [1, 2, 2, 3],
      [1, 3, 2],
      [1, 2, 3, 4],
    ]) {
      expect(paged(...ids)).toMatchObject({ mispaged: 1, broken: [expect.stringContaining('page: message')] });
    }
  });

  test('takes a plea to come again and what goes with a node, and no other answer', () => {
    const given = (outcome: Answer['outcome']) =>
      judge({ answers: [{ operation: 'chats.join', outcome, detail: '' }] });
    for (const outcome of [200, 429, 503, 'broken: killed', 'broken: stopping', 'already done']) {
      expect(given(outcome)).toMatchObject({ unexpected: 0, broken: [] });
    }
    for (const outcome of [500, 404, 401, 410, '503 without Retry-After', 'broken: up', 'broken: ended', 'silence']) {
      expect(given(outcome)).toMatchObject({ unexpected: 1, broken: [expect.stringContaining(String(outcome))] });
    }
  });

  test('finds what a single node would have to answer for too', () => {
    expect(judge({ found: messages.slice(1) })).toMatchObject({ missing: 1 });
    expect(judge({ changes: sound.changes.slice(1) })).toMatchObject({ unlogged: 1 });
  });
});
