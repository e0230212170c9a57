import { beforeAll, expect, test } from 'bun:test';
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { botScopes, buildContract, defaultLimits, type Scope, scopeNames } from '@parley/contract';
import { mcpTools } from '../../http/mcp-tools.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { decide, newApp } from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { expectRefusal, request } from '../support/wire.ts';

/** An agent in the hands of a person who authorizes it. */
class Agent implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadata;
  asked: URL | undefined;
  saved: OAuthTokens | undefined;
  readonly #clientId: string;
  #verifier = '';

  constructor(clientId: string, redirectUrl: string, scopes: readonly Scope[]) {
    this.#clientId = clientId;
    this.redirectUrl = redirectUrl;
    this.clientMetadata = { redirect_uris: [redirectUrl], scope: scopes.join(' ') };
  }

  clientInformation = () => ({ client_id: this.#clientId });
  tokens = () => this.saved;
  saveTokens = (tokens: OAuthTokens) => {
    this.saved = tokens;
  };
  redirectToAuthorization = (url: URL) => {
    this.asked = url;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
}

onAnyEngine('the Model Context Protocol', (engine) => {
  const server = serverFor(engine, { PARLEY_RATE_LIMIT: '1/1000' }, { now: () => now });
  const now = Date.now();
  let ada: Client;
  let bob: Client;
  let chat_id: number;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
    chat_id = (await ada.ok('messages.create_group', { name: 'Agents', participants: [bob.userId] })).group.chat_id;
  });

  const url = () => new URL(`${server().url}/mcp`);
  const newClient = () => new McpClient({ name: 'test', version: '1' });

  /** Connects with an access token that somebody has created. */
  async function connect(scopes: readonly Scope[]): Promise<McpClient> {
    const { access_token } = await ada.ok('tokens.create', { name: 'agent', scopes: [...scopes] });
    const client = newClient();
    const requestInit = { headers: { authorization: `Bearer ${access_token}` } };
    await client.connect(new StreamableHTTPClientTransport(url(), { requestInit }));
    return client;
  }

  const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';

  test('an agent finds out how to get access, asks for it, and posts a message', async () => {
    const app = await newApp(server(), ada, { name: 'Agent' });
    const agent = new Agent(app.clientId, app.redirect, ['messages:read', 'messages:write', 'chats:read']);
    const first = new StreamableHTTPClientTransport(url(), { authProvider: agent });
    await expect(newClient().connect(first)).rejects.toBeInstanceOf(UnauthorizedError);
    const asked = agent.asked?.searchParams ?? new URLSearchParams();
    expect(asked.get('resource')).toBe(url().href);
    // An agent asks for all that the resource names.
    expect(asked.get('scope')?.split(' ')).toEqual(botScopes);
    const end = new URL(await decide(server(), asked, ada));
    await first.finishAuth(end.searchParams.get('code') ?? '');
    const client = newClient();
    await client.connect(new StreamableHTTPClientTransport(url(), { authProvider: agent }));
    expect(client.getServerVersion()?.name).toBe('parley');
    const sent = await client.callTool({
      name: 'messages_send_message',
      arguments: { chat_id, content: 'Hello from an agent' },
    });
    expect(JSON.parse(textOf(sent))).toMatchObject({ success: true, message: { user_id: ada.userId } });
    const { messages } = await bob.ok('messages.get_messages', { chat_id });
    expect(messages.map(({ content }) => content)).toContain('Hello from an agent');
    await client.close();
  });

  test('tools are the operations that the token may call', async () => {
    const reader = await connect(['messages:read', 'chats:read']);
    const { tools } = await reader.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toContain('messages_get_messages');
    expect(names).toContain('chats_list');
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    await expect(
      reader.callTool({ name: 'messages_send_message', arguments: { chat_id, content: 'x' } }),
    ).rejects.toThrow('no tool messages_send_message');
    const everything = await connect(scopeNames.filter((scope) => scope !== 'admin'));
    const all = (await everything.listTools()).tools.map(({ name }) => name);
    expect(all).toContain('messages_delete_message');
    expect(all.filter((name) => /^(?:tokens|apps|bots|push|users_create|service_update)/.test(name))).toEqual([]);
    // They are a file or a stream, need a file, or only a page may call them.
    expect(all.filter((name) => /files_download|events_stream|files_upload|hooks_create/.test(name))).toEqual([]);
    const send = (await everything.listTools()).tools.find(({ name }) => name === 'messages_send_message');
    expect(Object.keys(send?.inputSchema.properties ?? {})).not.toContain('file');
    expect(send?.inputSchema.required).toEqual(['chat_id']);
    await Promise.all([reader.close(), everything.close()]);
  });

  test('a call has the checks of the API, and says what is wrong', async () => {
    const client = await connect(['messages:read', 'messages:write', 'chats:read']);
    const listed = await client.callTool({ name: 'users_get', arguments: { user_ids: [ada.userId, bob.userId] } });
    expect(JSON.parse(textOf(listed)).users).toHaveLength(2);
    const wrong = await client.callTool({ name: 'messages_send_message', arguments: { chat_id, contents: 'x' } });
    expect(wrong.isError).toBe(true);
    expect(JSON.parse(textOf(wrong)).error).toMatchObject({ code: 'validation_failed' });
    for (const one of [[chat_id], { id: chat_id }]) {
      const many = await client.callTool({ name: 'messages_get_messages', arguments: { chat_id: one } });
      expect(JSON.parse(textOf(many)).error).toMatchObject({ code: 'validation_failed' });
    }
    const { group } = await bob.ok('messages.create_group', { name: 'Private', participants: [] });
    const hidden = await client.callTool({ name: 'messages_get_messages', arguments: { chat_id: group.chat_id } });
    expect(JSON.parse(textOf(hidden)).error.code).toBe('not_found');
    await client.close();
  });

  test('a call with the same key does nothing twice', async () => {
    const client = await connect(['messages:write']);
    const send = async (content: string, idempotency_key: string) => {
      const sent = await client.callTool({
        name: 'messages_send_message',
        arguments: { chat_id, content, idempotency_key },
      });
      return JSON.parse(textOf(sent));
    };
    const first = await send('once', 'agent-1');
    expect((await send('once', 'agent-1')).message.message_id).toBe(first.message.message_id);
    expect((await send('twice', 'agent-1')).error.code).toBe('idempotency_conflict');
    await expect(send('once', 'ключ')).rejects.toThrow('idempotency_key');
    const { tools } = await client.listTools();
    const keyed = tools.filter(({ inputSchema }) => 'idempotency_key' in (inputSchema.properties ?? {}));
    expect(keyed.map(({ name }) => name)).toEqual(['messages_send_message']);
    await client.close();
  });

  test('a large message counts as more requests', async () => {
    const { access_token } = await ada.ok('tokens.create', { name: 'large', scopes: ['messages:read'] });
    const left = async (bytes: number) => {
      const { headers } = await request(url().href, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${access_token}` },
        body: `{}${' '.repeat(bytes)}`,
      });
      return Number(headers.get('ratelimit-remaining'));
    };
    const before = await left(0);
    expect(before - (await left(10 * 65_536))).toBe(11);
  });

  test('the event log is a resource, from a cursor on', async () => {
    const client = await connect(['messages:read']);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['parley://events']);
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(2);
    const read = async (uri: string) => {
      const { contents } = await client.readResource({ uri });
      return JSON.parse((contents[0] as { text: string }).text) as { events: { event: string }[]; next: number };
    };
    await expect(read('parley://events?after=now')).rejects.toThrow('chats:read');
    const { next } = await read(`parley://chats/${chat_id}/events`);
    await bob.ok('messages.send_message', { chat_id, content: 'news' });
    const { events } = await read(`parley://chats/${chat_id}/events?after=${next}`);
    expect(events.map(({ event }) => event)).toEqual(['new_message']);
    const lister = await connect(['messages:read', 'chats:read']);
    const [now] = (await lister.readResource({ uri: 'parley://events?after=now' })).contents;
    expect(JSON.parse((now as { text: string }).text)).toMatchObject({ events: [], has_more: false });
    await lister.close();
    await expect(client.readResource({ uri: 'parley://secrets' })).rejects.toThrow('no resource');
    const writer = await connect(['messages:write']);
    expect((await writer.listResources()).resources).toEqual([]);
    await Promise.all([client.close(), writer.close()]);
  });

  test('without a valid token it says where to get one', async () => {
    const metadata = `${server().url}/.well-known/oauth-protected-resource/mcp`;
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const init = (headers: Record<string, string> = {}) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(message),
    });
    const none = await request(url().href, init());
    expectRefusal(none, 'unauthorized');
    expect(none.headers.get('www-authenticate')).toBe(`Bearer realm="parley", resource_metadata="${metadata}"`);
    const bad = await request(url().href, init({ authorization: 'Bearer pat_wrong' }));
    expect(bad.headers.get('www-authenticate')).toContain('error="invalid_token", resource_metadata=');
    expect((await request(metadata)).body).toEqual({
      resource: url().href,
      resource_name: 'Parley',
      authorization_servers: [server().url],
      scopes_supported: ['messages:read', 'messages:write', 'chats:read', 'chats:write', 'webhooks', 'files'],
      bearer_methods_supported: ['header'],
    });
    expect((await request(`${server().url}/.well-known/oauth-protected-resource`)).body).toMatchObject({
      resource: url().href,
    });
    expectRefusal(await request(`${url().href}/`, init()), 'unauthorized');
    const got = await request(url().href);
    expectRefusal(got, 'method_not_allowed');
    expect(got.headers.get('allow')).toBe('POST');
  });
});

const tools = [...mcpTools(buildContract(defaultLimits)).values()].map(({ tool }) => tool);
const namesOf = (chosen: (tool: (typeof tools)[number]) => boolean | undefined) =>
  tools.flatMap((tool) => (chosen(tool) ? tool.name : []));

/** A new operation belongs into one of these lists, or is left out by its row. */
test('the tools are exactly these', () => {
  expect(namesOf(({ annotations }) => annotations?.readOnlyHint)).toEqual([
    'messages_get_messages',
    'messages_get_message',
    'messages_search_messages',
    'messages_mentions',
    'messages_threads',
    'messages_reactions',
    'messages_pins',
    'chats_list',
    'chats_get',
    'chats_participants',
    'webhooks_list',
    'webhooks_get',
    'webhooks_health',
    'webhooks_deliveries',
    'webhooks_delivery',
    'webhooks_preview_replay',
    'webhooks_replays',
    'events_list',
    'files_get',
    'users_me',
    'users_get',
    'users_search',
    'users_list',
    'users_presence',
    'users_quiet_hours',
    'service_get',
    'service_status',
    'service_history',
    'service_chats',
    'service_use',
    'service_audit',
    'service_settings',
  ]);
  expect(namesOf(({ annotations }) => !annotations?.readOnlyHint && annotations?.destructiveHint)).toEqual([
    'messages_edit_message',
    'messages_delete_message',
    'messages_mark_read',
    'messages_remove_reaction',
    'messages_unpin',
    'chats_update',
    'chats_set_preferences',
    'chats_remove_participant',
    'chats_set_role',
    'chats_leave',
    'webhooks_skip',
    'webhooks_redeliver',
    'webhooks_replay',
    'webhooks_cancel_replay',
    'webhooks_delete',
    'users_update',
    'users_remove_avatar',
    'users_disable',
    'users_set_presence',
    'users_set_quiet_hours',
    'service_update',
  ]);
  expect(namesOf(({ annotations }) => !annotations?.readOnlyHint && !annotations?.destructiveHint)).toEqual([
    'messages_send_message',
    'messages_add_reaction',
    'messages_pin',
    'messages_create_group',
    'messages_create_channel',
    'messages_create_direct',
    'chats_add_participants',
    'chats_join',
    'chats_typing',
  ]);
});

test('tools of webhooks reach other servers', () => {
  const reaching = namesOf(({ annotations }) => annotations?.openWorldHint);
  expect(reaching).toEqual(namesOf(({ name }) => name.startsWith('webhooks_')));
});

test('each scope that agents ask for opens a tool', () => {
  const rows = [...mcpTools(buildContract(defaultLimits)).values()].map(({ row }) => row);
  for (const scope of botScopes) expect(rows.some(({ scopes }) => scopes.includes(scope))).toBe(true);
});
