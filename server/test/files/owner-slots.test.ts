import { describe, expect, test } from 'bun:test';
import { FairSlots } from '../../lib/fair-slots.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { askForTokens, newApp, tokensIn, withToken } from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor, type TestServer } from '../support/server.ts';
import { EventReader, streamUrl } from '../support/streams.ts';

async function botOf(server: TestServer, owner: Client): Promise<Client> {
  const app = await newApp(server, owner, { confidential: true });
  return withToken(server, tokensIn(await askForTokens(server, app, { grant_type: 'client_credentials' })).access);
}

describe('slots for owners', () => {
  test('are left for others: an owner holds at most as many as are free', () => {
    const slots = new FairSlots<string>(16);
    const takeAll = (owner: string) => {
      while (slots.mayTake(owner)) slots.take(owner);
      return slots.heldBy(owner);
    };
    expect(['a', 'b', 'c', 'd', 'e'].map(takeAll)).toEqual([8, 4, 2, 1, 1]);
    expect(slots.isFull).toBe(true);
    slots.release('a');
    expect([slots.isFull, slots.mayTake('a'), slots.mayTake('f')]).toEqual([false, false, true]);
  });
});

onAnyEngine('a person with bots', (engine) => {
  const server = serverFor(engine, { PARLEY_STREAM_LIMIT: '6' });

  test('has streams together with the bots, and leaves some for others', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const bot = await botOf(server(), ada);
    const open = (who: Client) => EventReader.open(streamUrl(server().url), { Authorization: `Bearer ${who.token}` });
    const readers: EventReader[] = [];
    for (const who of [ada, ada, bot, bot, ada, bob]) readers.push(await open(who));
    expect(readers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429, 200]);
    for (const reader of readers) reader.breakOff();
  });

  test('has uploads together with the bots', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const bot = await botOf(server(), ada);
    const upload = (who: Client, body: BodyInit, signal?: AbortSignal) =>
      fetch(`${server().url}/api/files.php?action=upload&name=x`, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${who.token}`, 'content-type': 'application/octet-stream' },
        ...(signal && { signal }),
      });
    const stop = new AbortController();
    const endless = () => new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) });
    // One that is refused tries again: the question below may have held its slot.
    const hold = async (who: Client) => {
      while ((await upload(who, endless(), stop.signal)).status === 503);
    };
    const open = Array.from({ length: 20 }, (_, i) => hold(i < 10 ? ada : bot));
    const ended = Promise.allSettled(open);
    await eventually('ada and the bot hold all their slots', async () =>
      (await upload(ada, 'text')).status === 503 ? true : undefined,
    );
    expect((await upload(bot, 'text')).status).toBe(503);
    expect((await upload(bob, 'text')).status).toBe(200);
    stop.abort();
    await ended;
  });
});
