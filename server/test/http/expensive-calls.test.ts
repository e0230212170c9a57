import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { expectRefusal, request } from '../support/wire.ts';

const json = 'application/json';
const form = 'application/x-www-form-urlencoded';
const many = (count: number, piece: (i: number) => string, separator: string) =>
  Array.from({ length: count }, (_, i) => piece(i)).join(separator);

describe('a body with too many parts', () => {
  const server = serverFor('sqlite', { PARLEY_PARTICIPANT_LIMIT: '10000' });
  let ada: Client;
  beforeAll(async () => {
    ada = await server().user('ada');
  });
  const post = (type: string, body: string) =>
    request(`${server().url}/api/messages.php?action=create_group`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': type },
    });

  const bodies: [string, string, string, string][] = [
    ['a form', form, many(11_001, () => 'a', '&'), 'A form may have at most 11000 fields.'],
    ['JSON with many keys', json, `{${many(12_000, (i) => `"k${i}":1`, ',')}}`, 'JSON may have at most 22000 values.'],
    ['JSON in JSON', json, `{"name":${'['.repeat(22_001)}}`, 'JSON may have at most 22000 values.'],
    ['JSON in a form', form, `participants=[${many(22_001, () => '1', ',')}]`, 'JSON may have at most 22000 values.'],
    ['unknown fields', json, `{${many(2_000, (i) => `"k${i}":1`, ',')}}`, 'There are 1997 fields too many.'],
    [
      'unknown fields of a form',
      form,
      many(2_000, (i) => `k${i}`, '&'),
      'The fields of a form may have at most 200 names.',
    ],
    ['some unknown fields of a form', form, many(150, (i) => `k${i}`, '&'), 'There are 147 fields too many.'],
  ];
  test.each(bodies)('is rejected before it is split or validated: %s', async (_, type, body, message) => {
    const refused = await post(type, body);
    expect(expectRefusal(refused, 'validation_failed').message).toBe(message);
  });

  test('does not include the longest list, or a long text', async () => {
    const ids = Array.from({ length: 10_000 }, () => ada.userId);
    expect((await post(json, JSON.stringify({ name: 'g', participants: ids }))).status).toBe(200);
    expect((await post(form, `name=g&${many(10_000, () => `participants[]=${ada.userId}`, '&')}`)).status).toBe(200);
    const text = ',:[{"\\'.repeat(10_000);
    const refused = await post(json, JSON.stringify({ name: text, participants: [] }));
    expect(expectRefusal(refused, 'validation_failed').message).toStartWith('name: ');
  });
});

onAnyEngine('an expensive call', (engine) => {
  const server = serverFor(engine, { PARLEY_RATE_LIMIT: '5/1000', PARLEY_OWNER_RATE_LIMIT: '5/40' }, { now: () => 0 });
  const remaining = ({ headers }: { headers: Headers }) => headers.get('ratelimit-remaining');

  test('counts as one more request for each 64 KiB of its body', async () => {
    const { ada } = await users(server(), 'ada');
    const post = (bytes: number) =>
      request(`${server().url}/api/messages.php?action=send_message`, {
        method: 'POST',
        body: ' '.repeat(bytes),
        headers: { authorization: `Bearer ${ada.token}`, 'content-type': json },
      });
    expect(remaining(await post(65_535))).toBe('39');
    expect(remaining(await post(10 * 65_536))).toBe('28');
    expect(remaining(await post(16 * 65_536))).toBe('11');
    expect(remaining(await post(16 * 65_536))).toBe('0');
    expectRefusal(await ada.call('users.me', {}), 'rate_limited');
  });
});

onAnyEngine('a search of many chats', (engine) => {
  const server = serverFor(engine, { PARLEY_RATE_LIMIT: '5/1000' }, { now: () => 0 });
  const words = (count: number) => many(count, (i) => `w${i}`, ' ');
  let ada: Client;
  let chatId = 0;
  beforeAll(async () => {
    ada = await server().user('ada');
    for (let i = 0; i < 16; i++) {
      const { group } = await ada.ok('messages.create_group', { name: `g${i}`, participants: [] });
      chatId = group.chat_id;
    }
  });

  test('counts as more requests', async () => {
    const left = async (query: string, chat_id?: number) => {
      const { headers } = await ada.call('messages.search_messages', chat_id ? { query, chat_id } : { query });
      return Number(headers.get('ratelimit-remaining'));
    };
    const before = await left(words(20), chatId);
    expect(await left(words(1))).toBe(before - 1);
    expect(await left(words(19))).toBe(before - 2 - Math.floor((16 * 19) / 100));
  });
});
