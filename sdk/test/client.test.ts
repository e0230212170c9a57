import { beforeAll, describe, expect, test } from 'bun:test';
import { listOperations } from '@parley/contract';
import { serverFor } from '@parley/server/test/support/server.ts';
import { ApiError, type Client, createClient } from '../index.ts';
import { names } from '../names.ts';

const server = serverFor('sqlite');
const people: Record<string, { client: Client; id: number }> = {};

const person = (name: string) => {
  const found = people[name];
  if (!found) throw new Error(`nobody is called ${name}`);
  return found;
};

beforeAll(async () => {
  for (const name of ['ada', 'bob']) {
    const { token, userId } = await server().user(name);
    people[name] = { client: createClient({ url: server().url, token }), id: userId };
  }
});

/** Returns the error of a call that must fail. */
async function failure(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApiError) return error;
  throw new Error(`expected an ApiError, not ${error}`);
}

describe('the client', () => {
  test('has a method for every row of the contract, and no other', () => {
    const methods = Object.entries(person('ada').client).flatMap(([resource, actions]) =>
      Object.keys(actions).map((action) => `${resource}.${action}`),
    );
    const readable = Object.entries(names).flatMap(([resource, own]) =>
      Object.keys(own).map((method) => `${resource}.${method}`),
    );
    expect(methods.sort()).toEqual([...new Set([...listOperations().map((row) => row.name), ...readable])].sort());
  });

  test('has one name in camelCase for every operation', () => {
    const named = Object.values(names).flatMap((own) => Object.values<string>(own));
    expect(named.sort()).toEqual(
      listOperations()
        .map((row) => row.name as string)
        .sort(),
    );
    for (const method of Object.values(names).flatMap((own) => Object.keys(own))) expect(method).toMatch(/^[a-zA-Z]+$/);
  });

  test('calls the same operation under both names', async () => {
    const { client } = person('ada');
    const { group } = await client.chats.createGroup({ name: 'Names', participants: [] });
    const { message } = await client.messages.send({ chat_id: group.chat_id, content: 'hello' });
    expect((await client.messages.get({ message_id: message.message_id })).message).toEqual(message);
    expect(client.messages.send).toBe(client.messages.send_message);
    expect(client.chats.createGroup).toBe(client.messages.create_group);
  });

  test('sends and reads messages, with the types of the contract', async () => {
    const { client } = person('ada');
    const { group } = await client.messages.create_group({ name: 'Launch', participants: [person('bob').id] });
    const { message } = await client.messages.send_message({ chat_id: group.chat_id, content: 'שלום 👋🏽' });
    const page = await person('bob').client.messages.get_messages({ chat_id: group.chat_id, limit: 1 });
    expect(page).toEqual({ messages: [message], has_more: false });
    // @ts-expect-error: a chat_id is a number.
    expect((await failure(client.messages.get_messages({ chat_id: 'one' }))).code).toBe('validation_failed');
    // @ts-expect-error: a chat_id is required.
    expect((await failure(client.messages.send_message({ content: 'where to?' }))).code).toBe('validation_failed');
  });

  test('takes no input where none is required', async () => {
    expect((await person('ada').client.users.me()).user.name).toBe('ada');
    expect((await person('ada').client.tokens.list({})).tokens).toHaveLength(1);
  });

  test('leaves out what is undefined and repeats the name of a list', async () => {
    const { client } = person('bob');
    const { group } = await client.messages.create_group({ name: 'Events', participants: [] });
    const { chat_id } = group;
    const { message } = await client.messages.send_message({ chat_id, content: 'one' });
    await client.messages.edit_message({ message_id: message.message_id, content: 'two' });
    const input = { chat_id, events: ['group_created' as const, 'message_edited' as const] };
    const { events } = await client.events.list({ ...input, limit: undefined });
    expect(events.map((e) => e.event)).toEqual(['group_created', 'message_edited']);
  });

  test('counts a call once however often it is made with one idempotency key', async () => {
    const { client } = person('ada');
    const { group } = await client.messages.create_group({ name: 'Once', participants: [] });
    const input = { chat_id: group.chat_id, content: 'once' };
    const first = await client.messages.send_message(input, { idempotencyKey: 'the-same' });
    const second = await client.messages.send_message(input, { idempotencyKey: 'the-same' });
    const other = await client.messages.send_message(input);
    expect(second).toEqual(first);
    expect(other.message.message_id).toBeGreaterThan(first.message.message_id);
  });

  test('refuses an idempotency key where the server would ignore it', async () => {
    const call = person('ada').client.messages.delete_message({ message_id: 1 }, { idempotencyKey: 'k' });
    await expect(call).rejects.toThrow('messages.delete_message does not support an idempotency key.');
  });

  test.each(['', '/', '/api', '/api/'])('reads the address with %p at its end', async (end) => {
    const client = createClient({ url: `${server().url}${end}`, token: await server().token('ada') });
    expect((await client.users.me()).user.user_id).toBe(person('ada').id);
  });

  test.each([
    ['https://example.org/parley', 'https://example.org/parley/api/users.php?action=me'],
    ['https://example.org/parley/api/', 'https://example.org/parley/api/users.php?action=me'],
    ['https://api.example.org', 'https://api.example.org/api/users.php?action=me'],
    ['https://example.org/my-api', 'https://example.org/my-api/api/users.php?action=me'],
  ])('looks for a server at %s in the right place', async (url, asked) => {
    const addresses: string[] = [];
    const fetch = async (address: string) => {
      addresses.push(address);
      return Response.json({ success: true });
    };
    await createClient({ url, token: 'pat_x', fetch }).users.me();
    expect(addresses).toEqual([asked]);
  });

  test.each(['127.0.0.1:8080', 'ftp://127.0.0.1', ''])('refuses the address %p', (url) => {
    expect(() => createClient({ url, token: 'pat_x' })).toThrow('The server URL must be like http://127.0.0.1:8080');
  });

  test('refuses a token that cannot stand in a header, and does not repeat it', () => {
    const create = () => createClient({ url: server().url, token: 'pat_secret\n' });
    expect(create).toThrow('printable ASCII');
    expect(create).not.toThrow('secret');
  });
});

describe('a refusal', () => {
  test('carries all that the server said', async () => {
    const error = await failure(person('ada').client.messages.send_message({ chat_id: 1, content: ' ' }));
    expect({ ...error, message: error.message }).toMatchObject({
      code: 'validation_failed',
      status: 422,
      message: 'content: must not be blank',
      details: [{ field: 'content', message: 'must not be blank' }],
      retryAfter: undefined,
    });
    expect(error.requestId).toMatch(/^[0-9a-f]+-\w+$/);
  });

  test('tells a chat that is not there, a token that is not known and a scope that is missing', async () => {
    const url = server().url;
    const stranger = createClient({ url, token: 'pat_unknown' });
    const reader = createClient({ url, token: await server().token('ada', ['messages:read']) });
    const refusals = await Promise.all([
      failure(person('ada').client.chats.get({ chat_id: 999_999 })),
      failure(stranger.users.me()),
      failure(reader.chats.list()),
    ]);
    expect(refusals.map((e) => [e.status, e.code])).toEqual([
      [404, 'not_found'],
      [401, 'unauthorized'],
      [403, 'insufficient_scope'],
    ]);
  });
});

describe('a server that limits its callers', () => {
  const limited = serverFor('sqlite', { PARLEY_RATE_LIMIT: '1/1' });

  test('is asked again when it said to', async () => {
    const { token } = await limited().user('cleo');
    const patient = createClient({ url: limited().url, token });
    const impatient = createClient({ url: limited().url, token, retries: 0 });
    await patient.users.me();
    const error = await failure(impatient.users.me());
    expect([error.code, error.status, error.retryAfter]).toEqual(['rate_limited', 429, 1]);
    expect((await patient.users.me()).user.name).toBe('cleo');
  });
});
