import { expect, test } from 'bun:test';
import { maxHealthCount } from '@parley/contract';
import { Client } from '../support/client.ts';
import { onBothEngines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { inSession } from '../support/visitor.ts';
import { clockedServer, day, numbers, Scene } from '../support/webhook-scene.ts';

onBothEngines('the health of webhooks', (engine) => {
  const { clock, server, receiver } = clockedServer(engine);

  const healthOf = async ({ ada }: Scene, webhook_id: number) => {
    const { webhooks } = await ada.ok('webhooks.health', { webhook_id });
    const [found] = webhooks;
    if (!found) throw new Error('it is not there');
    return found;
  };

  test('has what was delivered in the last 24 hours, and nothing else if all is well', async () => {
    const scene = await Scene.set(server(), 1);
    const webhook_id = await scene.hook(receiver().endpoint());
    await scene.say(0, 'a', 'b', 'c');
    await eventually(
      'all are delivered',
      async () => (await healthOf(scene, webhook_id)).delivered_count === 3 || undefined,
    );
    const quiet = { failed_count: 0, retrying_count: 0, backlog_count: 0, failing_since: null, last_failure: null };
    expect(await healthOf(scene, webhook_id)).toEqual({
      ...(await scene.webhook(webhook_id)),
      ...{ recent_count: 3, delivered_count: 3, ...quiet },
    });
    clock.pass(day + 1);
    expect(await healthOf(scene, webhook_id)).toMatchObject({ recent_count: 0, delivered_count: 0, ...quiet });
  });

  test('has what is refused: how many, since when, how much waits behind it, and the last failure', async () => {
    const scene = await Scene.set(server(), 2);
    const endpoint = receiver().endpoint();
    endpoint.reply = ({ data }) => (data.chat_id === scene.chat(0) ? 422 : 200);
    const webhook_id = await scene.hook(endpoint);
    const began = new Date(clock.at).toISOString();
    await scene.say(0, 'refused', 'waits', 'waits too');
    await scene.untilAttempts(webhook_id, 1);
    clock.pass(1_000);
    await scene.say(1, 'fine');
    await scene.untilAttempts(webhook_id, 2);
    const [failing] = await scene.deliveries(webhook_id, 'retrying');
    expect(await healthOf(scene, webhook_id)).toMatchObject({
      ...{ recent_count: 4, delivered_count: 1, failed_count: 0, retrying_count: 1, backlog_count: 3 },
      ...{ down_since: null, failing_since: began, last_failure: failing },
    });
    await server().engine.run(`UPDATE deliveries SET state = 'failed', settled_at = last_at WHERE delivery_id = $1`, [
      failing?.delivery_id ?? 0,
    ]);
    expect(await healthOf(scene, webhook_id)).toMatchObject({
      ...{ failed_count: 1, retrying_count: 0, backlog_count: 2, failing_since: null },
      last_failure: { delivery_id: failing?.delivery_id ?? 0, state: 'failed' },
    });
  });

  test('counts what waits in the log too, and stops counting at some number', async () => {
    const scene = await Scene.set(server(), 1);
    const webhook_id = await scene.hook(receiver().endpoint());
    await scene.setStatus(webhook_id, 'paused');
    await scene.say(0, ...numbers(5));
    expect(await healthOf(scene, webhook_id)).toMatchObject({ backlog_count: 5, recent_count: 0 });
    await server().engine.run(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${maxHealthCount + 9})
       INSERT INTO deliveries (webhook_id, event_id, replay_id, chat_id, event, state)
       SELECT $1, (SELECT max(event_id) FROM events) + i, 0, 1, 'new_message', 'pending' FROM n`,
      [webhook_id],
    );
    const all = { recent_count: maxHealthCount, backlog_count: maxHealthCount };
    expect(await healthOf(scene, webhook_id)).toMatchObject(all);
  });

  test('is that of all webhooks of a user in one call, page by page, and of nobody else', async () => {
    const [scene, { bob }] = [await Scene.set(server(), 1), await users(server(), 'bob')];
    const ids = [await scene.hook(receiver().endpoint()), await scene.hook(receiver().endpoint())];
    const page = await scene.ada.ok('webhooks.health', { limit: 1 });
    expect(page).toMatchObject({ webhooks: [{ webhook_id: ids[0] }], has_more: true });
    const next = await scene.ada.ok('webhooks.health', { after_id: ids[0] ?? 0 });
    expect(next).toMatchObject({ webhooks: [{ webhook_id: ids[1] }], has_more: false });
    expect((await bob.ok('webhooks.health', {})).webhooks).toEqual([]);
    expect(await bob.refused('webhooks.health', { webhook_id: ids[0] ?? 0 })).toBe('not_found');
  });

  test('of the whole service is for administrators', async () => {
    const root = await inSession(server(), await server().user('root', { admin: true }), clock.at);
    const { url } = receiver().endpoint();
    const input = { url, events: ['*'], secret: 'a secret', service_wide: true };
    const { webhook_id } = (await root.ok('webhooks.register', input)).webhook;
    const modest = new Client(server().url, await server().token('root', ['webhooks']), root.userId);
    expect((await modest.ok('webhooks.health', {})).webhooks).toEqual([]);
    expect(await modest.refused('webhooks.health', { webhook_id })).toBe('insufficient_scope');
    expect((await root.ok('webhooks.health', {})).webhooks).toMatchObject([{ webhook_id, service_wide: true }]);
  });
});
