import { describe, expect, test } from 'bun:test';
import { allChats } from '../../store/webhooks/backlogs.ts';
import { pruneWebhooks } from '../../store/webhooks/webhooks.ts';
import { ConcurrencyLimit } from '../../webhooks/concurrency-limit.ts';
import { HostLimit } from '../../webhooks/host-limit.ts';
import { refill } from '../../webhooks/refill.ts';
import { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { type Reply, receiverFor } from '../support/receiver.ts';
import { serverFor } from '../support/server.ts';
import { sentinelFor } from '../support/webhook-scene.ts';

onAnyEngine('a webhook', (engine) => {
  const server = serverFor(engine, {}, { sweepMs: 20 });
  const receiver = receiverFor();
  const sentinel = sentinelFor(server, receiver);

  const scene = async (reply: Reply = 200) => {
    const { ada } = await users(server(), 'ada');
    const endpoint = receiver().endpoint(() => reply);
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group;
    const registration = { url: endpoint.url, events: ['new_message'], secret: 's' };
    const { webhook_id } = (await ada.ok('webhooks.register', registration)).webhook;
    const say = (content: string) => ada.ok('messages.send_message', { chat_id, content });
    return { ada, endpoint, chat_id, webhook_id, say };
  };

  test('that is paused just before its backlog is read keeps the backlog', async () => {
    const { ada, endpoint, webhook_id, say } = await scene();
    await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
    await say('one');
    // A task of the time when it was active runs only now.
    const task = { kind: 'backlog', chatId: allChats } as const;
    const refilled = await refill(server().engine, 'somebody', webhook_id as never, task, Date.now());
    expect(refilled).toBeUndefined();
    await say('two');
    await sentinel().passes();
    await ada.ok('webhooks.update', { webhook_id, status: 'active' });
    await endpoint.arrived(2);
    expect(endpoint.contents).toEqual(['one', 'two']);
  });

  test('that ends tells of what waited in the log as skipped, with the reason', async () => {
    for (const [end, reason] of [
      ['delete', 'webhook_deleted'],
      ['revoke', 'access_revoked'],
    ] as const) {
      const { ada, webhook_id, say } = await scene();
      await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
      for (const content of ['one', 'two', 'three']) await say(content);
      const { tokens } = await ada.ok('tokens.list', {});
      let asking = ada;
      if (end === 'delete') await ada.ok('webhooks.delete', { webhook_id });
      else {
        // One that does not end with the other: made beside it.
        asking = new Client(server().url, await server().token((await ada.ok('users.me', {})).user.name), ada.userId);
        await asking.ok('tokens.revoke', { token_id: tokens[0]?.token_id ?? 0 });
      }
      const { deliveries } = await asking.ok('webhooks.deliveries', { webhook_id, state: 'skipped' });
      expect(deliveries.map((d) => d.reason)).toEqual([reason, reason, reason]);
    }
  });

  test('ends with the token that said last where it leads', async () => {
    const { ada, webhook_id } = await scene();
    const { token, access_token } = await ada.ok('tokens.create', { name: 'other' });
    const other = new Client(server().url, access_token, ada.userId);
    await other.ok('webhooks.update', { webhook_id, url: receiver().endpoint(() => 200).url });
    await ada.ok('tokens.revoke', { token_id: token.token_id });
    const { webhook } = await ada.ok('webhooks.get', { webhook_id });
    expect(webhook).toMatchObject({ status: 'disabled', disabled_reason: 'access_revoked' });
  });

  test('can be tested by one user while another waits for tests of a hanging endpoint', async () => {
    const answer = Promise.withResolvers<void>();
    const eve = await scene({ status: 200, after: answer.promise });
    const bob = await scene();
    const refused: unknown[] = [];
    const waiting = Array.from({ length: 16 }, async () => {
      const { error } = await eve.ada.call('webhooks.test', { webhook_id: eve.webhook_id });
      if (error) refused.push(error.code);
    });
    await eve.endpoint.arrived(4);
    await eventually('the others are refused', async () => refused.length === 12 || undefined);
    expect((await bob.ada.ok('webhooks.test', { webhook_id: bob.webhook_id })).delivered).toBeTrue();
    answer.resolve();
    await Promise.all(waiting);
    expect(refused).toEqual(Array(12).fill('unavailable'));
  });

  test('can be tested while other people test as many URLs as they can', async () => {
    const answer = Promise.withResolvers<void>();
    const [eve, mallory] = [await scene({ status: 200, after: answer.promise }), await scene()];
    const bob = await scene();
    const unregistered = { url: eve.endpoint.url, secret: 'a secret' };
    const waiting = [eve, mallory].flatMap(({ ada }) =>
      Array.from({ length: 4 }, () => ada.ok('webhooks.test', unregistered)),
    );
    await eve.endpoint.arrived(8);
    const reasons = [
      await eve.ada.call('webhooks.test', unregistered),
      await bob.ada.call('webhooks.test', unregistered),
    ];
    expect(reasons.map(({ error }) => error?.message)).toEqual([
      expect.stringContaining('You and your bots already wait for 4 endpoints'),
      expect.stringContaining('The service is busy'),
    ]);
    expect((await bob.ada.ok('webhooks.test', { webhook_id: bob.webhook_id })).delivered).toBeTrue();
    answer.resolve();
    await Promise.all(waiting);
  });

  test('that was deleted is forgotten in time, and so are its replays', async () => {
    const { ada, webhook_id, say } = await scene();
    await say('one');
    await ada.ok('webhooks.replay', { webhook_id, from_event_id: 1_000_000 });
    await ada.ok('webhooks.delete', { webhook_id });
    const count = async () => {
      const sql = `SELECT (SELECT count(*) FROM webhooks WHERE webhook_id = $1) + (SELECT count(*) FROM endpoint_state WHERE webhook_id = $1)
        + (SELECT count(*) FROM replays WHERE webhook_id = $1) AS n`;
      return (await server().engine.get<{ n: number }>(sql, [webhook_id]))?.n;
    };
    expect(await count()).toBe(3);
    await server().engine.write((tx) => pruneWebhooks(tx, Date.now() + 60_000, 500));
    expect(await count()).toBe(0);
  });
});

describe('slots', () => {
  const newSlots = () => new ConcurrencyLimit(256, new HostLimit(() => 0));
  test('are fewer for each owner while others use them, and some stay free', () => {
    const slots = newSlots();
    const quick = (ownerId: number) => ({ ...endpoint(ownerId, false), allowance: 64 });
    const fill = (ownerId: number) =>
      Array.from({ length: 1_000 }, () => slots.take(quick(ownerId))).flatMap((s) => ('refusal' in s ? [] : [s]));
    const first = fill(1);
    expect(first).toHaveLength(112);
    expect(fill(2)).toHaveLength(56);
    expect(fill(3)).toHaveLength(28);
    for (const slot of first) slots.release(slot);
    expect(fill(1)).toHaveLength(70);
    expect(fill(4)).toHaveLength(35);
  });

  const endpoint = (ownerId: number, isSuspect: boolean) => ({
    ownerId,
    isSuspect,
    inFlight: 0,
    allowance: 1,
    unconfirmedHost: undefined,
  });

  test('leave room for the unproven endpoints of others, however many one owner has', () => {
    const slots = newSlots();
    const taken = (ownerId: number, count: number, isSuspect: boolean) =>
      Array.from({ length: count }, () => slots.take(endpoint(ownerId, isSuspect))).filter((s) => !('refusal' in s));
    expect(taken(1, 1_000, true).length + taken(1, 1_000, false).length).toBe(56 + 28);
    expect(taken(2, 1, true)).toHaveLength(1);
    expect(taken(3, 1, false)).toHaveLength(1);
  });

  test('are there again once they are given back', () => {
    const slots = newSlots();
    const uses = Array.from({ length: 56 }, () => endpoint(1, true));
    const held = uses.map((use) => slots.take(use));
    expect(slots.take(endpoint(1, true))).toEqual({ refusal: 'suspect' });
    const [slot] = held;
    if (slot && !('refusal' in slot)) slots.release(slot);
    expect(slots.take(endpoint(1, true))).not.toHaveProperty('refusal');
  });
});
