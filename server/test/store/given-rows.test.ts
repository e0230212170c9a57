import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { ChatId, MessageId, UserId } from '@parley/contract';
import { readSettings } from '../../config.ts';
import { membershipPeriods } from '../../store/chat/members.ts';
import { reactionsTo } from '../../store/chat/reactions.ts';
import type { Engine, Tx } from '../../store/engine/engine.ts';
import { openAsGuest, openStore } from '../../store/engine/open.ts';
import { eventsNamed } from '../../store/log/events.ts';
import { backlogsAmong } from '../../store/webhooks/backlogs.ts';
import { recordResults } from '../../store/webhooks/delivery-results.ts';
import { confirmLeases, countDeliveries, renewLeases } from '../../store/webhooks/endpoint-state.ts';
import { withoutAccess } from '../../store/webhooks/webhooks.ts';
import { freshEnvironment, onPostgres } from '../support/engines.ts';
import { blocksRead, planning } from '../support/plans.ts';

/** The rows of each table. Most are written after the statements were planned, and the queries look for the last ones. */
const count = 30_000;

/** The number of rows when statements are planned. An empty table has no statistics. */
const plannings: [string, number][] = [
  ['while there was nothing', 0],
  ['while there was little', 20],
];

/** Plans the statements while there are few rows, and then writes the rest. */
async function planBefore(
  fill: (engine: Engine, from: number, upTo: number) => Promise<void>,
  few: number,
  total: number,
  questions: readonly [string, (tx: Tx) => Promise<unknown>][],
): Promise<{ engine: Engine; guest: Engine }> {
  const settings = readSettings(await freshEnvironment('postgres'));
  const engine = await openStore(settings, Date.now);
  const guest = await openAsGuest(settings);
  if (few > 0) {
    await fill(engine, 1, few);
    await engine.run('VACUUM ANALYZE');
  }
  for (const [, ask] of questions) await ask(planning(guest).tx);
  await fill(engine, few + 1, total);
  return { engine, guest };
}
const webhooks = 20;
const asked = [count - 1, count];

async function fill(engine: Engine, from: number, upTo: number): Promise<void> {
  const numbers = `WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${upTo})`;
  await engine.write(async (tx) => {
    await tx.run(
      `${numbers} INSERT INTO events (event_id, chat_id, event, created_at, body)
       SELECT i, 1 + i % 50, 'new_message', 0, '{}' FROM n`,
    );
    await tx.run(
      `${numbers} INSERT INTO deliveries (webhook_id, event_id, replay_id, chat_id, event, state)
       SELECT 1 + i % ${webhooks}, i, 0, 1 + i % 50, 'new_message', 'pending' FROM n`,
    );
    await tx.run(`${numbers} INSERT INTO backlogs (webhook_id, chat_id, after_event) SELECT i, 0, 0 FROM n`);
    await tx.run(
      `${numbers} INSERT INTO reactions (chat_id, message_id, emoji, user_id, event_id)
       SELECT 1 + i % 50, i, '👍', 1, i FROM n`,
    );
  });
}

for (const [when, few] of plannings)
  onPostgres(`a query for a few ids, planned ${when}`, () => {
    let engine: Engine;
    let guest: Engine;
    beforeAll(async () => {
      ({ engine, guest } = await planBefore(fill, few, count, questions));
    });
    afterAll(async () => {
      await guest.close();
      await engine.close();
    });

    const result = (delivery_id: number) => ({
      delivery_id,
      state: 'delivered' as const,
      attempts: 1,
      refusals: 0,
      next_at: null,
      at: 1,
      status: 200,
      error: null,
      cause: null,
      secret_number: 1,
      duration_ms: 1,
      answer: null,
    });
    const questions: [string, (tx: Tx) => Promise<unknown>][] = [
      ['events', (tx) => eventsNamed(tx, asked)],
      ['backlogs of webhooks', (tx) => backlogsAmong(tx, asked)],
      [
        'reactions to messages',
        (tx) =>
          reactionsTo(
            tx,
            asked.map((id) => ({ chat_id: (1 + (id % 50)) as ChatId, message_id: id as MessageId })),
            1 as UserId,
          ),
      ],
      ['results of deliveries', (tx) => recordResults(tx, asked.map(result))],
      [
        'results of attempts that failed',
        (tx) =>
          recordResults(
            tx,
            asked.map((id) => ({ ...result(id), attempts: 2 })),
          ),
      ],
    ];

    test.each(questions)('reads only the rows that it needs: %s', async (_, ask) => {
      const { tx, plans } = planning(guest, true);
      await ask(tx);
      expect(plans.length).toBeGreaterThan(0);
      for (const plan of plans) {
        const [blocks] = blocksRead(plan, /^\S.*actual/);
        // Scanning a table or an index reads more than 75 blocks. An update writes to every index.
        expect(blocks).toBeLessThan(75);
      }
    });
  });

/** The number of users, each with a token, a webhook that this process leases, and a membership of the chat. */
const people = 2_000;
const owner = 'this process';
const everybody = Array.from({ length: people }, (_, i): [number, number] => [i + 1, 1]);

async function fillWithPeople(engine: Engine, from: number, upTo: number): Promise<void> {
  const numbers = `WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${upTo})`;
  const inserts = [
    `users (user_id, name, name_key, display_name, search_key, created_at)
     SELECT i, 'u' || i, 'u' || i, 'u' || i, 'u' || i, 0`,
    `tokens (token_id, user_id, name, hash, scopes, created_at) SELECT i, i, 't', 'h' || i, '', 0`,
    `webhooks (webhook_id, user_id, app_id, token_id, url, events, service_wide, include_direct, status, secret, since_event, created_at)
     SELECT i, i, 0, i, 'http://127.0.0.1', '[]', 0, 1, 'active', '', 0, 0`,
    `endpoint_state (webhook_id, owner, lease_number, lease_expires_at) SELECT i, '${owner}', 1, ${Number.MAX_SAFE_INTEGER}`,
    `chats (chat_id, type, visibility, name, search_key, description, created_by, created_at)
     SELECT i, 'channel', 'public', 'Chat', 'chat', '', 1, 0`,
    `members (chat_id, user_id, joined_event, role, joined_at, last_read_id) SELECT 1, i, 0, 'member', 0, 0`,
  ];
  await engine.write(async (tx) => {
    for (const insert of inserts) await tx.run(`${numbers} INSERT INTO ${insert} FROM n`);
  });
}

for (const [when, few] of plannings)
  onPostgres(`a query about everybody, planned ${when}`, () => {
    let engine: Engine;
    let guest: Engine;
    const questions: [string, (tx: Tx) => Promise<unknown>][] = [
      ['webhooks whose access has ended', (tx) => withoutAccess(tx, 1, undefined, false)],
      ['leases to be renewed', (tx) => renewLeases(tx, owner)],
      ['deliveries that were made for webhooks', (tx) => countDeliveries(tx, owner, everybody)],
      [
        'leases to be confirmed',
        (tx) =>
          confirmLeases(
            tx,
            owner,
            Array.from({ length: people }, (_, i) => [i + 1, 1]),
          ),
      ],
      [
        'membership periods',
        (tx) =>
          membershipPeriods(
            tx,
            everybody.map(([id]) => id as UserId),
            0,
          ),
      ],
    ];
    beforeAll(async () => {
      ({ engine, guest } = await planBefore(fillWithPeople, few, people, questions));
    });
    afterAll(async () => {
      await guest.close();
      await engine.close();
    });

    test.each(questions)('reads as much for each row as for a single one: %s', async (_, ask) => {
      const { tx, plans } = planning(guest, true);
      await ask(tx);
      const plan = plans.join('\n');
      const [blocks] = blocksRead(plan, /^\S.*actual/);
      expect(blocks).toBeGreaterThan(0);
      expect(blocks).toBeLessThan(50 * people);
      const inVain = [...plan.matchAll(/Rows Removed by.*: (\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
      expect(inVain).toBeLessThan(50 * people);
    });
  });
