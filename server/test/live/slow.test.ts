import { expect, test } from 'bun:test';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { comeBack, fill, groupOf, listen, loggedIds, metric, streamsOpen } from '../support/streams.ts';

/** More than the network takes in for a reader that does not read. */
const pipeBytes = 12_000_000;
const content = 'x'.repeat(1_000_000);

onAnyEngine('a reader of a stream', (engine) => {
  const quietMs = 20;
  const stallMs = 1_000;
  let monotonic = 0;
  const runtime = { quietMs, stallMs, monotonic: () => monotonic };
  const server = serverFor(engine, { PARLEY_CONTENT_LIMIT: '1000000' }, runtime);
  const cutOff = () => metric(server().url, 'parley_streams_ended_total{reason="too_slow"}');

  test('that reads nothing is disconnected, and resumes there without a gap', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const chat_id = await groupOf(ada, bob);
    const [stalled, other] = [await listen(bob), await listen(bob)];
    const after = Number(stalled.opening.id);
    stalled.pause();
    await fill(ada, chat_id, 16, content);
    await other.untilTold(16);
    expect(await cutOff()).toBe(0);
    await eventually('it is cut off', async () => {
      monotonic += stallMs;
      return (await cutOff()) === 1 || undefined;
    });
    await streamsOpen(server().url, 1);
    stalled.readOn();
    await stalled.untilEnded();
    const first = stalled.eventIds;
    const all = await loggedIds(bob, after);
    expect(first.length).toBeLessThan(16);
    const again = await comeBack(bob, stalled.lastEventId);
    await again.untilTold(16 - first.length);
    expect([...first, ...again.eventIds]).toEqual(all);
    expect(other.eventIds).toEqual(all);
    for (const reader of [other, again]) reader.breakOff();
    await streamsOpen(server().url, 0);
  });

  test('who is slow and steady gets everything in order, and is not cut off', async () => {
    const before = await cutOff();
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const chat_id = await groupOf(ada, bob);
    // The server looks at them one after the other: once `quiet` has a sign of life, it has looked at `slow`.
    const [slow, quiet] = [await listen(bob), await listen(bob, { events: ['role_changed'] })];
    const after = Number(slow.opening.id);
    const rest = async () => {
      monotonic += 0.6 * stallMs;
      const { length } = quiet.frames;
      await quiet.until('a sign of life', ({ frames }) => frames.length > length);
    };
    slow.pause();
    await fill(ada, chat_id, 36, content);
    // More of them than wait in memory.
    await fill(ada, chat_id, 300, 'short');
    await rest();
    await slow.sip(pipeBytes);
    await rest();
    slow.readOn();
    await slow.untilTold(336);
    expect(slow.eventIds).toEqual(await loggedIds(bob, after));
    expect(await cutOff()).toBe(before);
    for (const reader of [slow, quiet]) reader.breakOff();
  });
});
