import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ChatId, EventId, NewEvent, UserId } from '@parley/contract';
import { readSettings } from '../../config.ts';
import { decodeBatch, encodeBatch } from '../../log/batch-codec.ts';
import { EventLog } from '../../log/event-log.ts';
import { MembershipIndex } from '../../log/membership.ts';
import { Log } from '../../observe/log.ts';
import { endMembership, insertMembers } from '../../store/chat/members.ts';
import type { Engine, LogBatch, LogEntry } from '../../store/engine/engine.ts';
import { openStore } from '../../store/engine/open.ts';
import { append } from '../../store/log/events.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';

const hour = 3_600_000;
const silent = new Log('off', 'json', () => {}, Date.now);
const openLog = (engine: Engine, monotonic = () => 0) =>
  new EventLog({ engine, monotonic, sweepMs: hour, log: silent });

const renamed = (chat_id: number): NewEvent =>
  ({ event: 'chat_updated', data: { chat_id, user_id: 1, name: 'renamed' } }) as never;

const idsOf = ({ events }: LogBatch) => events.map(({ event_id }) => event_id as number);

/** Reads the whole log from a cursor on, as a consumer does. */
async function readAll(log: EventLog, after: number, limit = 3): Promise<number[]> {
  const ids: number[] = [];
  for (let position = after; position < log.tip; ) {
    const batch = await log.read(position, limit);
    expect(batch.after).toBe(position);
    expect(batch.events.length).toBeLessThanOrEqual(limit);
    ids.push(...idsOf(batch));
    position = batch.last;
  }
  return ids;
}

onBothEngines('the event log', (name) => {
  let engine: Engine;
  const committed: LogBatch[] = [];
  beforeAll(async () => {
    engine = await openStore(readSettings(await freshEnvironment(name)), Date.now);
    engine.committed = (batch) => committed.push(batch);
    for (const count of [2, 1, 5, 3]) {
      await engine.write((tx) =>
        append(
          tx,
          Array.from({ length: count }, () => renamed(1)),
          1,
        ),
      );
    }
  });
  afterAll(() => engine.close());

  /** The same database, which fails to be read while `isAway`. */
  const flaky = (isAway: () => boolean) => {
    const read: Engine['all'] = (...query) => (isAway() ? Promise.reject(new Error('away')) : engine.all(...query));
    return { dialect: engine.dialect, all: read } as Engine;
  };
  const unreadable = () => flaky(() => true);
  const all = () => committed.flatMap(idsOf);

  test('returns recent commits from memory, from any cursor and in any order of arrival', async () => {
    const log = openLog(unreadable());
    for (const batch of committed.toReversed()) log.committed(batch);
    for (const after of [0, ...all()]) {
      expect(await readAll(log, after)).toEqual(all().filter((id) => id > after));
    }
    await log.stop();
  });

  test('gives the rest from the database, and notices what nobody reported', async () => {
    const log = openLog(engine);
    expect(await readAll(log, 0)).toEqual([]);
    let wakes = 0;
    log.subscribe(() => wakes++);
    await log.refresh();
    await log.refresh();
    expect(wakes).toBe(1);
    expect(await readAll(log, 0)).toEqual(all());
    await log.stop();
  });

  test('closes a gap from the database, once the missing batch had time to come', async () => {
    for (const missing of committed.keys()) {
      const log = openLog(engine);
      for (const [i, batch] of committed.entries()) if (i !== missing) log.committed(batch);
      await log.refresh();
      expect(await readAll(log, 0)).toEqual(all());
      await log.stop();
    }
  });

  test('waits for a batch that arrives a moment after the next', async () => {
    const log = openLog(unreadable());
    const [first, ...others] = committed;
    for (const batch of others) log.committed(batch);
    const reading = readAll(log, 0);
    if (first) log.committed(first);
    expect(await reading).toEqual(all());
    await log.stop();
  });

  test('forgets the older batches beyond a bound, and still gives every event', async () => {
    const log = openLog(engine);
    const large = 'x'.repeat(750_000);
    const tip = all().at(-1) ?? 0;
    const entry = (id: number): LogEntry => ({ ...(committed[0]?.events[0] as LogEntry), event_id: id as EventId });
    for (const batch of committed) log.committed(batch);
    for (const id of [tip + 1, tip + 2]) {
      log.committed({ after: id - 1, last: id, events: [{ ...entry(id), body: large }] });
    }
    const { last } = await log.read(0, 100);
    expect(last).toBeGreaterThanOrEqual(tip);
    expect(await readAll(log, 0)).toEqual(expect.arrayContaining(all()));
    await log.stop();
  });

  describe('and the membership index', () => {
    const chatId = 7 as ChatId;
    const user = 3 as UserId;
    const event = (event: 'user_joined' | 'user_left'): NewEvent =>
      ({ event, data: { chat_id: chatId, user_id: user, actor_id: user } }) as never;
    const join = () =>
      engine.write(async (tx) => {
        const [event_id] = await append(tx, [event('user_joined')], 1);
        await insertMembers(tx, chatId, [{ user_id: user, role: 'member', event_id: event_id as EventId }], 1);
        return event_id as number;
      });
    const leave = () =>
      engine.write(async (tx) => {
        const [event_id] = await append(tx, [event('user_left')], 1);
        await endMembership(tx, chatId, user, event_id as EventId);
        return event_id as number;
      });
    const say = async () => (await engine.write((tx) => append(tx, [renamed(chatId)], 1)))[0] as number;

    beforeAll(() =>
      engine.write(async (tx) => {
        await tx.run(`INSERT INTO users (user_id, name, name_key, display_name, search_key, created_at)
                      VALUES (${user}, 'ada', 'ada', 'ada', 'ada', 0)`);
        await tx.run(`INSERT INTO chats (chat_id, type, visibility, name, search_key, description, created_by, created_at)
                      VALUES (${chatId}, 'channel', 'public', 'Chat', 'chat', '', ${user}, 0)`);
      }),
    );

    test('know for every event who sees it, whenever the user was added', async () => {
      const early = { log: openLog(engine), position: 0 };
      await early.log.refresh();
      const before = new MembershipIndex(engine, early.log);
      before.addConsumer(() => 0);
      await before.track([user]);
      const expected = new Map<number, boolean>();
      const first = await say();
      expected.set(first, false);
      for (let i = 0; i < 3; i++) {
        expected.set(await join(), true);
        expected.set(await say(), true);
        expected.set(await leave(), true);
        expected.set(await say(), false);
      }
      expected.set(await join(), true);
      await early.log.refresh();
      const late = new MembershipIndex(engine, early.log);
      late.addConsumer(() => 0);
      await Promise.all([late.track([user]), late.track([user])]);
      late.untrack([user]);
      const users = new Map([[user, 'ada']]);
      const sees = async (index: MembershipIndex, id: number) => {
        await index.advanceTo(id);
        return [...index.seenBy(id, chatId, users)].length > 0;
      };
      for (const index of [before, late]) {
        // In both directions: consumers are at different positions.
        for (const [id, isSeen] of expected) expect([id, await sees(index, id)]).toEqual([id, isSeen]);
        for (const [id, isSeen] of [...expected].reverse()) expect([id, await sees(index, id)]).toEqual([id, isSeen]);
        expect([...index.seenBy(Number.POSITIVE_INFINITY, chatId, users)]).toEqual(['ada']);
        index.untrack([user]);
        expect([...index.seenBy(Number.POSITIVE_INFINITY, chatId, users)]).toEqual([]);
      }
      await early.log.stop();
    });

    test('add nobody where the periods cannot be loaded, and can be asked again', async () => {
      let isAway = true;
      const log = openLog(engine);
      await log.refresh();
      const index = new MembershipIndex(
        flaky(() => isAway),
        log,
      );
      const users = new Map([[user, 'ada']]);
      await expect(index.track([user])).rejects.toThrow('away');
      isAway = false;
      await index.track([user]);
      expect([...index.seenBy(Number.POSITIVE_INFINITY, chatId, users)]).toEqual(['ada']);
      await log.stop();
    });
  });
});

describe('a batch between nodes', () => {
  const entry = (event_id: number, body: string): LogEntry => ({
    event_id: event_id as EventId,
    chat_id: -4 as ChatId,
    event: 'webhook_disabled',
    created_at: 1_700_000_000_000,
    body,
    size: body.length,
  });
  const decoded = (batch: LogBatch) => [...encodeBatch(batch)].map(decodeBatch);

  test('arrives as it was sent', () => {
    const batch = { after: 4, last: 9, events: [entry(5, '{"a":"\u2028 {"}'), entry(8, '{}')] };
    expect(decoded(batch)).toEqual([batch]);
    expect(decoded({ after: 4, last: 9, events: [] })).toEqual([{ after: 4, last: 9, events: [] }]);
  });

  test('is split where it is large, without a gap', () => {
    const body = `{"a":"${'x'.repeat(100_000)}"}`;
    const batch = { after: 1, last: 9, events: [2, 3, 4, 5, 6].map((id) => entry(id, body)) };
    const parts = decoded(batch);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.flatMap((part) => part?.events ?? [])).toEqual(batch.events);
    let after = batch.after;
    for (const part of parts) {
      expect(part?.after).toBe(after);
      after = part?.last ?? 0;
    }
    expect(after).toBe(batch.last);
  });

  test('has no content where one event is too large, and anything else is not decoded', () => {
    expect(decoded({ after: 1, last: 2, events: [entry(2, `{${'x'.repeat(300_000)}}`)] })).toEqual([undefined]);
    for (const text of ['x', '1', '1 2\nx', '1 2\n2 3 new_message {}']) expect(decodeBatch(text)).toBeUndefined();
  });
});
