import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { Client } from './support/client.ts';
import { freshEnvironment, onBothEngines } from './support/engines.ts';
import { attach, serverFor, spawnServer } from './support/server.ts';
import { comeBack, type EventReader, listen, logged, metric, streamsOpen } from './support/streams.ts';
import { eventually, users } from './support/world.ts';

/** So that few messages make many megabytes. */
const content = 'x'.repeat(100_000);
const settings = { PARLEY_CONTENT_LIMIT: '100000' };
const together = 4;

/** Sends so many messages, several at a time. */
async function fill(by: Client, chat_id: number, count: number, text = content): Promise<void> {
  const send = () => by.ok('messages.send_message', { chat_id, content: text });
  for (let sent = 0; sent < count; sent += together) await Promise.all(Array.from({ length: together }, send));
}

const pair = async (by: Client, ...others: Client[]) =>
  (await by.ok('messages.create_group', { name: 'g', participants: others.map((c) => c.userId) })).group.chat_id;

const idsAfter = async (who: Client, after: number) =>
  (await logged(who, after)).map(({ event_id }) => Number(event_id));

onBothEngines('a reader of a stream', (engine) => {
  const stallMs = 1_000;
  const server = serverFor(engine, settings, { stallMs });
  const cutOff = () => metric(server().url, 'parley_streams_ended_total{reason="too slow"}');

  test('who takes in nothing is cut off, and goes on from there without a gap', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const chat_id = await pair(ada, bob);
    const [stalled, other] = [await listen(bob), await listen(bob)];
    const after = Number(stalled.opening.id);
    stalled.pause();
    // More than the network takes in for it, and more than waits in memory.
    await fill(ada, chat_id, 100);
    await other.until('another has read everything', ({ told }) => told.length === 100);
    await eventually('it is cut off', async () => (await cutOff()) === 1 || undefined);
    await streamsOpen(server().url, 1);
    stalled.readOn();
    await stalled.untilEnded();
    const first = stalled.eventIds;
    const all = await idsAfter(bob, after);
    expect(first.length).toBeWithin(1, 100);
    const again = await comeBack(bob, stalled.lastEventId);
    await again.untilTold(100 - first.length);
    expect([...first, ...again.eventIds]).toEqual(all);
    expect(other.eventIds).toEqual(all);
    for (const reader of [other, again]) reader.breakOff();
    await streamsOpen(server().url, 0);
  });

  test('who is slow and steady gets everything in order, and is not cut off', async () => {
    const before = await cutOff();
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const chat_id = await pair(ada, bob);
    const slow = await listen(bob);
    const after = Number(slow.opening.id);
    slow.sip(80);
    const began = performance.now();
    await fill(ada, chat_id, 100);
    // More of them than wait in memory.
    await fill(ada, chat_id, 400, 'short');
    await slow.until('it has read everything', ({ told }) => told.length >= 500, 15_000);
    // Otherwise it was not slow.
    expect(performance.now() - began).toBeGreaterThan(stallMs);
    expect(slow.eventIds).toEqual(await idsAfter(bob, after));
    expect(await cutOff()).toBe(before);
    slow.breakOff();
  });
});

const megabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

onBothEngines('readers of streams who take in nothing', (engine) => {
  test('take little of the server’s memory, and nobody else waits for them', async () => {
    const env = { ...(await freshEnvironment(engine)), ...settings };
    const server = await spawnServer(env);
    const beside = await attach(server.url, env);
    const { ada, bob, cleo } = await users(beside, 'ada', 'bob', 'cleo');
    const chat_id = await pair(ada, bob, cleo);
    const good = await listen(cleo);
    const after = Number(good.opening.id);
    // Until the process is as large as it gets by itself.
    await fill(ada, chat_id, 60);
    await good.untilTold(60);
    const before = megabytes(server.process.pid);
    const stalled: EventReader[] = [];
    for (let i = 0; i < 12; i++) stalled.push(await listen(bob));
    for (const reader of stalled) reader.pause();
    await fill(ada, chat_id, 240);
    // What was answered for last is told soon, although twelve others have hardly begun.
    await good.untilTold(60 + 240, 2_000);
    // Kept for each of them it would be 230 megabytes.
    expect(megabytes(server.process.pid) - before).toBeLessThan(100);
    expect(good.eventIds).toEqual(await idsAfter(cleo, after));
    expect(await metric(server.url, 'parley_streams')).toBe(13);
    for (const reader of [good, ...stalled]) reader.breakOff();
    await streamsOpen(server.url, 0);
    await beside.stop();
    await server.kill('SIGTERM');
  });
});
