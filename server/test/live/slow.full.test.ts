import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';
import { users } from '../support/people.ts';
import { attach, spawnServer } from '../support/server.ts';
import { type EventReader, fill, groupOf, listen, loggedIds, streamsOpen } from '../support/streams.ts';

const content = 'x'.repeat(100_000);

const megabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

onBothEngines('readers of streams who take in nothing', (engine) => {
  test('take little of the server’s memory, and other streams get every event', async () => {
    const env = { ...(await freshEnvironment(engine)), PARLEY_CONTENT_LIMIT: '100000' };
    const server = await spawnServer(env);
    const beside = await attach(server.url, env);
    const { ada, bob, cleo } = await users(beside, 'ada', 'bob', 'cleo');
    const chat_id = await groupOf(ada, bob, cleo);
    const good = await listen(cleo);
    const after = Number(good.opening.id);
    // Until the process is as large as it gets by itself.
    await fill(ada, chat_id, 60, content);
    await good.untilTold(60);
    const before = megabytes(server.process.pid);
    const stalled: EventReader[] = [];
    for (let i = 0; i < 30; i++) stalled.push(await listen(bob));
    for (const reader of stalled) reader.pause();
    await fill(ada, chat_id, 240, content);
    await good.untilTold(60 + 240);
    // Kept for each of them it would be 600 megabytes.
    expect(megabytes(server.process.pid) - before).toBeLessThan(200);
    expect(good.eventIds).toEqual(await loggedIds(cleo, after));
    for (const reader of [good, ...stalled]) reader.breakOff();
    await streamsOpen(server.url, 0);
    await beside.stop();
    await server.kill('SIGTERM');
  });
});
