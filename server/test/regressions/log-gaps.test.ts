import { describe, expect, test } from 'bun:test';
import type { ClientInput } from '@parley/contract';
import { changePasswordOf } from '../../auth/administer.ts';
import { readSettings } from '../../config.ts';
import { EventLog } from '../../log/event-log.ts';
import { Log } from '../../observe/log.ts';
import { indexNextEvents } from '../../search/search-index.ts';
import { openStore } from '../../store/engine/open.ts';
import { append } from '../../store/log/events.ts';
import { goodPassword } from '../support/browser-like.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { leaveGap } from '../support/log-gap.ts';
import { eventTip, users } from '../support/people.ts';
import { type Endpoint, receiverFor } from '../support/receiver.ts';
import { dropExpired, logRead } from '../support/retention.ts';
import { serverFor } from '../support/server.ts';
import { comeBack, listen } from '../support/streams.ts';
import { inSession } from '../support/visitor.ts';

const day = 24 * 3_600_000;

const newGroup = async (by: Client) =>
  (await by.ok('messages.create_group', { name: 'g', participants: [] })).group.chat_id;

const say = async (by: Client, chat_id: number, ...contents: string[]) => {
  for (const content of contents) await by.ok('messages.send_message', { chat_id, content });
};

onAnyEngine('after a gap in the log', (engine) => {
  let now = Date.now();
  const server = serverFor(engine, { PARLEY_EVENT_DAYS: '1' }, { sweepMs: 20, now: () => now });
  const receiver = receiverFor();

  /** Messages with gaps between them. */
  const sayAcrossGaps = async (by: Client, chatId: number) => {
    await say(by, chatId, 'one', 'two');
    await leaveGap(server().engine);
    await say(by, chatId, 'three');
    await leaveGap(server().engine);
    await say(by, chatId, 'four', 'five');
  };
  const said = ['one', 'two', 'three', 'four', 'five'];

  describe('a stream', () => {
    test('tells a reader who comes back with a cursor from before it of all that happened since', async () => {
      const { ada } = await users(server(), 'ada');
      const chat_id = await newGroup(ada);
      const cursor = await eventTip(ada);
      await sayAcrossGaps(ada, chat_id);
      for (const query of [{}, { chat_id }, { events: ['new_message'] }]) {
        const stream = await comeBack(ada, String(cursor), query);
        await stream.until('all is told', ({ contents }) => contents.includes('five'));
        expect(stream.contents).toEqual(said);
        stream.breakOff();
      }
      const narrow = await comeBack(ada, String(cursor), { events: ['message_edited'] });
      await narrow.until('it has begun', ({ frames }) => frames.length > 0);
      const { messages } = await ada.ok('messages.get_messages', { chat_id });
      await ada.ok('messages.edit_message', { message_id: messages[0]?.message_id ?? 0, content: 'edited' });
      await narrow.until('it is told', ({ told }) => told.length > 0);
      narrow.breakOff();
    });

    test('tells whoever listens meanwhile', async () => {
      const { ada } = await users(server(), 'ada');
      const chat_id = await newGroup(ada);
      const stream = await listen(ada);
      await sayAcrossGaps(ada, chat_id);
      await stream.until('all is told', ({ contents }) => contents.includes('five'));
      expect(stream.contents).toEqual(said);
      stream.breakOff();
    });
  });

  for (const service_wide of [true, false]) {
    describe(`a webhook ${service_wide ? 'of the whole service' : 'of a user'}`, () => {
      let number = 0;
      let name: string;
      let ada: Client;
      let chatId: number;
      let endpoint: Endpoint;
      let webhook_id: number;

      /** One that was paused before it was told of anything. */
      const pausedHook = async () => {
        name = `${service_wide ? 'root' : 'user'}${++number}`;
        ada = await server().user(name, { admin: service_wide });
        chatId = await newGroup(ada);
        endpoint = receiver().endpoint();
        const input: ClientInput<'webhooks.register'> = { url: endpoint.url, events: ['new_message'], secret: 's' };
        const by = service_wide ? await inSession(server(), ada) : ada;
        webhook_id = (await by.ok('webhooks.register', { ...input, service_wide })).webhook.webhook_id;
        await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
      };
      const age = async () => (await ada.ok('webhooks.get', { webhook_id })).webhook.oldest_undelivered_age;
      const settled = () => eventually('all is settled', async () => (await age()) === null || undefined);
      const skipped = async () => {
        const { deliveries } = await ada.ok('webhooks.deliveries', { webhook_id, state: 'skipped' });
        return deliveries.map(({ reason }) => reason);
      };

      test('is told of all that it missed, in order, and again in a replay', async () => {
        await pausedHook();
        const before = await eventTip(ada);
        now += 60_000;
        await sayAcrossGaps(ada, chatId);
        now += 60_000;
        expect(await age()).toBe(60);
        await ada.ok('webhooks.update', { webhook_id, status: 'active' });
        await endpoint.arrived(said.length);
        await settled();
        expect(endpoint.contents).toEqual(said);

        for (const from of [{ from_event_id: before + 1 }, { since: new Date(now - 60_000).toISOString() }]) {
          const { replay } = await ada.ok('webhooks.replay', { webhook_id, ...from });
          const done = await eventually('the replay is done', async () => {
            const { replays } = await ada.ok('webhooks.replays', { webhook_id });
            return replays.find(({ replay_id, status }) => replay_id === replay.replay_id && status === 'done');
          });
          expect(done).toMatchObject({ delivered_count: said.length, open_count: 0 });
        }
        expect(endpoint.contents).toEqual([...said, ...said, ...said]);
      });

      test('is deleted at once, with what it missed written down as skipped', async () => {
        await pausedHook();
        await sayAcrossGaps(ada, chatId);
        await ada.ok('webhooks.delete', { webhook_id });
        expect(await skipped()).toEqual(said.map(() => 'webhook_deleted'));
      });

      test('loses its access at once, with what it missed written down as skipped', async () => {
        await pausedHook();
        await sayAcrossGaps(ada, chatId);
        await changePasswordOf(server().tools, { userName: name, password: goodPassword });
        ada = new Client(ada.url, await server().token(name), ada.userId);
        expect(await skipped()).toEqual(said.map(() => 'access_revoked'));
      });

      test('has what it missed expire, and is told of what came after that', async () => {
        await pausedHook();
        await sayAcrossGaps(ada, chatId);
        const log = server().engine;
        await logRead(log);
        now += day + 60_000;
        await dropExpired(log, () => now);
        expect((await ada.ok('webhooks.get', { webhook_id })).webhook.expired_count).toBe(said.length);
        await leaveGap(log);
        await say(ada, chatId, 'six');
        await ada.ok('webhooks.update', { webhook_id, status: 'active' });
        await endpoint.arrived(1);
        await settled();
        expect(endpoint.contents).toEqual(['six']);
      });
    });
  }

  test('the search index counts as missing only what has happened', async () => {
    const store = await openStore(readSettings(await freshEnvironment(engine)), Date.now);
    const happen = (count: number) => {
      const data = { chat_id: 1, user_id: 1, name: 'renamed' };
      const events = Array.from({ length: count }, () => ({ event: 'chat_updated', data }) as never);
      return store.write((tx) => append(tx, events, now));
    };
    const lags: number[] = [];
    const silent = new Log('off', 'json', () => {}, Date.now);
    const eventLog = new EventLog({ engine: store, monotonic: () => 0, sweepMs: day, log: silent });
    const index = async () => {
      await eventLog.refresh();
      return indexNextEvents(store, eventLog, (lag) => lags.push(lag));
    };
    await happen(2);
    await leaveGap(store);
    await happen(300);
    await leaveGap(store);
    await happen(3);
    while (await index());
    await index();
    await leaveGap(store);
    await index();
    await happen(1);
    await index();
    expect(lags).toEqual([305, 205, 105, 5, 0, 0, 1]);
    await eventLog.stop();
    await store.close();
  });
});
