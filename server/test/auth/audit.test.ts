import { beforeAll, expect, test } from 'bun:test';
import type { UserId } from '@parley/contract';
import type { AuditAct } from '../../auth/acts.ts';
import { addBot } from '../../auth/administer.ts';
import { type Actor, entriesPerHour, operator, record } from '../../auth/audit.ts';
import { listAudit } from '../../store/access/audit.ts';
import { onAnyEngine } from '../support/engines.ts';
import { serverFor } from '../support/server.ts';

const hour = 3_600_000;
const start = 1_800_000_000_000;

onAnyEngine('the audit log', (engine) => {
  const server = serverFor(engine, { PARLEY_RATE_LIMIT: 'off' }, { now: () => start });
  const newest = (userId: number | undefined) =>
    listAudit(server().engine, { userId: userId as UserId | undefined }, 10_000);
  const countOf = async (userId: number | undefined, act: AuditAct) =>
    (await newest(userId)).filter((entry) => entry.act === act).length;
  const actorOf = (userId: number): Actor => ({ userId: userId as UserId, appId: 0, address: '192.0.2.1' });
  const repeat = (count: number, actor: Actor, act: AuditAct, at = start) =>
    server().engine.write(async (tx) => {
      for (let i = 0; i < count; i++) await record(tx, at, actor, act);
    });

  let root: number;
  beforeAll(async () => {
    root = (await server().user('root', { admin: true })).userId;
  });

  test('does not grow with what one person repeats, and says so once', async () => {
    const ada = await server().user('ada');
    for (let i = 0; i < entriesPerHour + 5; i++) {
      const { token } = await ada.ok('tokens.create', { name: `token ${i}` });
      await ada.ok('tokens.revoke', { token_id: token.token_id });
    }
    for (const act of ['token_created', 'token_revoked'] as const) {
      expect(await countOf(ada.userId, act)).toBe(entriesPerHour);
    }
    const notes = (await newest(ada.userId)).filter(({ act }) => act === 'acts_left_out');
    expect(notes.map(({ details }) => JSON.parse(details))).toEqual([
      { event: 'token_revoked' },
      { event: 'token_created' },
    ]);
  });

  test('has what a person does besides, and what others do', async () => {
    const [cleo, dan] = [await server().user('cleo'), await server().user('dan')];
    await repeat(entriesPerHour + 50, actorOf(cleo.userId), 'role_changed');
    await repeat(1, actorOf(cleo.userId), 'token_created');
    await repeat(1, actorOf(dan.userId), 'role_changed');
    expect(await countOf(cleo.userId, 'role_changed')).toBe(entriesPerHour);
    expect(await countOf(cleo.userId, 'acts_left_out')).toBe(1);
    expect(await countOf(cleo.userId, 'token_created')).toBe(1);
    expect(await countOf(dan.userId, 'role_changed')).toBe(1);
  });

  test('counts a person together with their bots', async () => {
    const eve = await server().user('eve');
    const bots = [];
    for (const name of ['evebot1', 'evebot2']) bots.push(await addBot(server().tools, { name, ownerName: 'eve' }));
    const ids = [eve.userId, ...bots.map(({ user_id }) => user_id)];
    for (const id of ids) await repeat(entriesPerHour / 2, actorOf(id), 'webhook_changed');
    const counts = await Promise.all(ids.map((id) => countOf(id, 'webhook_changed')));
    expect(counts).toEqual([entriesPerHour / 2, entriesPerHour / 2, 0]);
    const notes = await Promise.all(ids.map((id) => countOf(id, 'acts_left_out')));
    expect(notes).toEqual([0, 0, 1]);
  });

  test('goes on later, at the same rate', async () => {
    const finn = actorOf((await server().user('finn')).userId);
    await repeat(entriesPerHour + 50, finn, 'signed_out');
    await repeat(entriesPerHour + 50, finn, 'signed_out', start + hour / 2);
    expect(await countOf(finn.userId ?? 0, 'signed_out')).toBe(entriesPerHour * 1.5);
    expect(await countOf(finn.userId ?? 0, 'acts_left_out')).toBe(1);
    await repeat(entriesPerHour + 50, finn, 'signed_out', start + hour);
    expect(await countOf(finn.userId ?? 0, 'signed_out')).toBe(entriesPerHour * 2);
    expect(await countOf(finn.userId ?? 0, 'acts_left_out')).toBe(2);
  });

  test('has everything that administrators and the operator do, and every failed sign-in', async () => {
    const gus = await server().user('gus');
    const many = entriesPerHour + 50;
    await repeat(many, actorOf(root), 'user_disabled');
    await repeat(many, actorOf(gus.userId), 'sign_in_failed');
    const before = await countOf(undefined, 'user_created');
    await repeat(many, operator, 'user_created');
    expect(await countOf(root, 'user_disabled')).toBe(many);
    expect(await countOf(gus.userId, 'sign_in_failed')).toBe(many);
    expect((await countOf(undefined, 'user_created')) - before).toBe(many);
    expect(await countOf(root, 'acts_left_out')).toBe(0);
  });
});
