import { describe, expect, test } from 'bun:test';
import { FairSlots } from '../../lib/fair-slots.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { botOf } from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { EventReader, streamUrl } from '../support/streams.ts';

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
});
