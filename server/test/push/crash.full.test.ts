import { afterEach, expect, test } from 'bun:test';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { PushService } from '../support/push-service.ts';
import { attach, spawnServer } from '../support/server.ts';
import { groupOf } from '../support/streams.ts';

const services: PushService[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop();
});

onBothEngines('a server that is killed', (engine) => {
  test('has sent, or sends after its restart, each push', async () => {
    const env = await freshEnvironment(engine);
    const service = new PushService();
    services.push(service);
    const first = await spawnServer(env);
    const server = await attach(first.url, env);
    const { ada, bob } = await users(server, 'ada', 'bob');
    const [hung, sent] = [await service.subscribe(bob), await service.subscribe(bob)];
    hung.responses.push('hang');
    await ada.ok('messages.send_message', { chat_id: await groupOf(ada, bob), content: 'hello' });
    await sent.gets(1);
    await eventually('it hangs', async () => hung.requests === 1 || undefined);
    const waiting = () => server.engine.all('SELECT 1 AS one FROM push_pending');
    await eventually('the other is done', async () => (await waiting()).length === 1 || undefined);
    await first.kill('SIGKILL');

    const second = await spawnServer(env);
    // It belongs to the first for a minute.
    await server.engine.write((tx) => tx.run('UPDATE push_pending SET next_at = 0'));
    await hung.gets(1);
    await eventually('nothing waits', async () => (await waiting()).length === 0 || undefined);
    await second.kill('SIGTERM');
    await server.tools.engine.close();
    expect([hung.texts, sent.texts]).toEqual([['hello'], ['hello']]);
    expect(service.faults).toEqual([]);
  });
});
