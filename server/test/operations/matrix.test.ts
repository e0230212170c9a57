import { beforeAll, expect, test } from 'bun:test';
import {
  type ClientInput,
  type ErrorCode,
  listOperations,
  type NamedOperation,
  type OperationName,
  scopeNames,
} from '@parley/contract';
import { type Cast, invite, type Role, roles } from '../support/cast.ts';
import { type Client, formOf, hasFile } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { picture } from '../support/pictures.ts';
import { serverFor } from '../support/server.ts';
import { hook, openGroup, Stage } from '../support/stage.ts';

/**
 * What every operation answers to whom.
 *
 * The first four, and the last three, call as somebody who could do anything: an owner of the group who administers the
 * service too; they lack only what their column says. `none` brings no token, `revoked` one that has ended, and `disabled` is
 * such a person who was disabled. `scope` brings a token with every scope but those of the row. `app` is an app with a token
 * for all scopes, `page` a browser's cookie on a call by a page of ours, and `site` the same cookie on any other call.
 *
 * Those between bring a token of their own with all scopes that they may have. `root` administers the service, and is a
 * stranger to the group, as is `stranger`. The bot is a member. Where an operation is about neither a chat nor a message, it
 * is about things of their own.
 */
const columns = ['none', 'revoked', 'disabled', 'scope', ...roles, 'app', 'page', 'site'] as const;
type Column = (typeof columns)[number];

/** `–`: there is nothing to ask, because the row asks for no scope. */
const verdicts: Record<string, ErrorCode | 'ok' | 'not asked'> = {
  ok: 'ok',
  '401': 'unauthorized',
  scope: 'insufficient_scope',
  no: 'forbidden',
  '-': 'not_found',
  '–': 'not asked',
};

// biome-ignore format: a table is read in columns
const table: Record<OperationName, string> = {
  //                           none revoked disabled scope | stranger member bot   admin owner root | app page site
  'messages.send_message':    '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'messages.get_messages':    '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'messages.get_message':     '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'messages.edit_message':    '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401', // one's own
  'messages.delete_message':  '401  401     401      scope | -        no     no    ok    ok    -    | ok  ok   401', // another's
  'messages.search_messages': '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'messages.mentions':        '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'messages.threads':         '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'messages.mark_read':       '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'messages.add_reaction':    '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'messages.remove_reaction': '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'messages.reactions':       '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'messages.pin':             '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'messages.unpin':           '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'messages.pins':            '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'messages.create_group':    '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'messages.create_channel':  '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'messages.create_direct':   '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',

  'chats.list':               '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'chats.get':                '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'chats.update':             '401  401     401      scope | -        no     no    ok    ok    -    | ok  ok   401',
  'chats.set_preferences':    '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'chats.participants':       '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'chats.add_participants':   '401  401     401      scope | -        no     no    ok    ok    -    | ok  ok   401',
  'chats.remove_participant': '401  401     401      scope | -        no     no    ok    ok    -    | ok  ok   401', // a member
  'chats.set_role':           '401  401     401      scope | -        no     no    no    ok    -    | ok  ok   401',
  'chats.join':               '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'chats.leave':              '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',
  'chats.typing':             '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401',

  'webhooks.register':        '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401', // for the group
  'webhooks.list':            '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.get':             '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.health':          '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.update':          '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.rotate_secret':   '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.test':            '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.deliveries':      '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.delivery':        '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.skip':            '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.redeliver':       '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.replay':          '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.preview_replay':  '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.cancel_replay':   '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.replays':         '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'webhooks.delete':          '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',

  'hooks.create':             '401  401     401      –     | no       no     no    no    no    no   | no  ok   401',
  'hooks.list':               '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401', // of the group
  'hooks.revoke':             '401  401     401      scope | -        no     no    ok    ok    -    | ok  ok   401', // another's

  'events.list':              '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401', // of the group
  'events.stream':            '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401', // of the group

  'files.upload':             '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'files.get':                '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401', // of the group
  'files.download':           '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401', // of the group

  'files.thumbnail':          '401  401     401      scope | -        ok     ok    ok    ok    -    | ok  ok   401', // of the group

  'push.key':                 '401  401     401      –     | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'push.subscribe':           '401  401     401      scope | ok       ok     no    ok    ok    ok   | ok  ok   401',
  'push.list':                '401  401     401      scope | ok       ok     no    ok    ok    ok   | ok  ok   401',
  'push.unsubscribe':         '401  401     401      scope | ok       ok     no    ok    ok    ok   | ok  ok   401',

  'users.me':                 '401  401     401      –     | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'users.get':                '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'users.search':             '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'users.update':             '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'users.set_avatar':         '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'users.remove_avatar':      '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'users.avatar':             '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'users.create':             '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',
  'users.disable':            '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',
  'users.enable':             '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',
  'users.list':               '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',
  'users.presence':           '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'users.set_presence':       '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'users.quiet_hours':        '401  401     401      scope | ok       ok     no    ok    ok    ok   | ok  ok   401',
  'users.set_quiet_hours':    '401  401     401      scope | ok       ok     no    ok    ok    ok   | ok  ok   401',

  'tokens.list':              '401  401     401      –     | ok       ok     ok    ok    ok    ok   | no  ok   401',
  'tokens.create':            '401  401     401      –     | ok       ok     ok    ok    ok    ok   | no  ok   401',
  'tokens.usage':             '401  401     401      –     | ok       ok     ok    ok    ok    ok   | no  ok   401',
  'tokens.revoke':            '401  401     401      –     | ok       ok     ok    ok    ok    ok   | no  ok   401',

  'apps.list':                '401  401     401      scope | ok       ok     no    ok    ok    ok   | ok  ok   401',
  'apps.get':                 '401  401     401      scope | ok       ok     no    ok    ok    ok   | ok  ok   401',
  'apps.register':            '401  401     401      scope | ok       ok     no    ok    ok    ok   | no  ok   401',
  'apps.delete':              '401  401     401      scope | ok       ok     no    ok    ok    ok   | no  ok   401',

  'apps.update':              '401  401     401      –     | no       no     no    no    no    no   | no  ok   401',
  'apps.replace_secret':      '401  401     401      –     | no       no     no    no    no    no   | no  ok   401',
  'apps.authorized':          '401  401     401      –     | no       no     no    no    no    no   | no  ok   401',
  'apps.revoke_access':       '401  401     401      –     | no       no     no    no    no    no   | no  ok   401',

  'bots.list':                '401  401     401      –     | no       no     no    no    no    no   | no  ok   401',
  'bots.create':              '401  401     401      –     | no       no     no    no    no    no   | no  ok   401',
  'bots.disable':             '401  401     401      –     | no       no     no    no    no    no   | no  ok   401',
  'bots.tokens':              '401  401     401      –     | no       no     no    no    no    no   | no  ok   401',
  'bots.create_token':        '401  401     401      –     | no       no     no    no    no    no   | no  ok   401',
  'bots.revoke_token':        '401  401     401      –     | no       no     no    no    no    no   | no  ok   401',

  'invitations.create':       '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',
  'invitations.list':         '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',
  'invitations.withdraw':     '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',

  'service.get':              '401  401     401      scope | ok       ok     ok    ok    ok    ok   | ok  ok   401',
  'service.update':           '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',
  'service.status':           '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',
  'service.history':          '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',
  'service.chats':            '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',
  'service.use':              '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',
  'service.audit':            '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',
  'service.settings':         '401  401     401      scope | scope    scope  scope scope scope ok   | ok  ok   401',
};

const rows = listOperations();

test('every operation has a line in the table, and every line an operation', () => {
  expect(Object.keys(table).sort()).toEqual(rows.map(({ name }) => name).sort());
});

test('every line has a verdict for everybody, but for a missing scope where none is asked for', () => {
  for (const { name, scopes } of rows) {
    const asked = columns.map((column) => (column === 'scope' && scopes.length === 0 ? 'not asked' : 'asked'));
    const given = verdictsOf(table[name]).map((verdict) => (verdict === 'not asked' ? verdict : verdict && 'asked'));
    expect({ name, given }).toEqual({ name, given: asked });
  }
});

const verdictsOf = (line: string) => line.split(/[\s|]+/).map((cell) => verdicts[cell]);

type Inputs = { readonly [N in OperationName]: (stage: Stage) => ClientInput<N> | Promise<ClientInput<N>> };

/** A valid input for every operation. */
const inputs: Inputs = {
  'messages.send_message': ({ chat_id }) => ({ chat_id, content: 'hello' }),
  'messages.get_messages': ({ chat_id }) => ({ chat_id }),
  'messages.get_message': ({ message_id }) => ({ message_id }),
  'messages.edit_message': async (stage) => ({ message_id: await stage.newOwnMessage(), content: 'edited' }),
  'messages.delete_message': async (stage) => ({ message_id: await stage.newMessage() }),
  'messages.search_messages': ({ chat_id }) => ({ chat_id, query: 'word' }),
  'messages.mentions': ({ chat_id }) => ({ chat_id }),
  'messages.threads': () => ({}),
  'messages.mark_read': ({ chat_id }) => ({ chat_id }),
  'messages.add_reaction': ({ message_id }) => ({ message_id, emoji: '👍' }),
  'messages.remove_reaction': ({ message_id }) => ({ message_id, emoji: '👍' }),
  'messages.reactions': ({ message_id }) => ({ message_id, emoji: '👍' }),
  'messages.pin': ({ message_id }) => ({ message_id }),
  'messages.unpin': ({ message_id }) => ({ message_id }),
  'messages.pins': ({ chat_id }) => ({ chat_id }),
  'messages.create_group': ({ outsider }) => ({ name: 'Group', participants: [outsider] }),
  'messages.create_channel': ({ outsider }) => ({ name: 'Channel', participants: [outsider] }),
  'messages.create_direct': ({ outsider }) => ({ user_id: outsider }),
  'chats.list': () => ({}),
  'chats.get': ({ chat_id }) => ({ chat_id }),
  'chats.update': ({ chat_id }) => ({ chat_id, name: 'Renamed' }),
  'chats.set_preferences': ({ chat_id }) => ({ chat_id, pinned: true }),
  'chats.participants': ({ chat_id }) => ({ chat_id }),
  'chats.add_participants': ({ chat_id, outsider }) => ({ chat_id, participants: [outsider] }),
  'chats.remove_participant': async (stage) => ({ chat_id: await stage.newChat(), user_id: stage.member }),
  'chats.set_role': async (stage) => ({ chat_id: await stage.newChat(), user_id: stage.member, role: 'admin' }),
  'chats.join': ({ chat_id }) => ({ chat_id }),
  'chats.leave': async (stage) => ({ chat_id: await stage.newChat() }),
  'chats.typing': ({ chat_id }) => ({ chat_id }),
  'webhooks.register': ({ chat_id }) => ({ ...hook, chat_id }),
  'webhooks.list': () => ({}),
  'webhooks.get': async (stage) => ({ webhook_id: await stage.webhook() }),
  'webhooks.health': async (stage) => ({ webhook_id: await stage.webhook() }),
  'webhooks.update': async (stage) => ({ webhook_id: await stage.webhook(), events: ['new_message'] }),
  'webhooks.rotate_secret': async (stage) => ({ webhook_id: await stage.webhook(), secret: 'another' }),
  'webhooks.test': async (stage) => ({ webhook_id: await stage.webhook() }),
  'webhooks.deliveries': async (stage) => ({ webhook_id: await stage.webhook() }),
  'webhooks.delivery': async (stage) => ({ delivery_id: await stage.delivery() }),
  'webhooks.skip': async (stage) => ({ delivery_id: await stage.delivery() }),
  'webhooks.redeliver': async (stage) => ({ delivery_id: await stage.delivery() }),
  'webhooks.replay': async (stage) => ({ webhook_id: await stage.webhook(), from_event_id: 1 }),
  'webhooks.preview_replay': async (stage) => ({ webhook_id: await stage.webhook(), from_event_id: 1 }),
  'webhooks.cancel_replay': async (stage) => ({ replay_id: await stage.replay() }),
  'webhooks.replays': async (stage) => ({ webhook_id: await stage.webhook() }),
  'webhooks.delete': async (stage) => ({ webhook_id: await stage.newWebhook() }),
  'hooks.create': ({ chat_id }) => ({ chat_id, name: 'Grafana' }),
  'hooks.list': ({ chat_id }) => ({ chat_id }),
  'hooks.revoke': async (stage) => ({ hook_id: await stage.newHook() }),
  'events.list': ({ chat_id }) => ({ chat_id }),
  'events.stream': ({ chat_id }) => ({ chat_id }),
  'files.upload': () => ({ file: new File(['a file'], 'file.txt') }),
  'files.get': ({ file_id }) => ({ file_id }),
  'files.download': ({ file_id }) => ({ file_id }),
  'files.thumbnail': ({ file_id }) => ({ file_id }),
  'push.key': () => ({}),
  'push.subscribe': (stage) => stage.newBrowser(),
  'push.list': () => ({}),
  'push.unsubscribe': async (stage) => ({ subscription_id: await stage.newSubscription() }),
  'users.me': () => ({}),
  'users.get': ({ outsider }) => ({ user_id: outsider }),
  'users.search': () => ({ query: 'out' }),
  'users.update': () => ({ status_text: 'busy' }),
  'users.set_avatar': () => ({ file: picture() }),
  'users.remove_avatar': () => ({}),
  'users.avatar': async (stage) => ({ user_id: await stage.pictured() }),
  'users.create': (stage) => ({ name: stage.newName() }),
  'users.disable': async (stage) => ({ user_id: await stage.newUser() }),
  'users.enable': async (stage) => ({ user_id: await stage.newUser() }),
  'users.list': () => ({}),
  'users.presence': ({ outsider }) => ({ user_ids: [outsider] }),
  'users.set_presence': () => ({ presence: 'away' }),
  'users.quiet_hours': () => ({}),
  'users.set_quiet_hours': () => ({ from: '22:00', to: '07:00', time_zone: 'Europe/Paris' }),
  'tokens.list': () => ({}),
  'tokens.create': () => ({ name: 'another', scopes: ['chats:read'] }),
  'tokens.usage': () => ({}),
  'tokens.revoke': async (stage) => ({ token_id: await stage.newToken() }),
  'apps.list': () => ({}),
  'apps.get': async (stage) => ({ app_id: await stage.newApp() }),
  'apps.register': () => ({ name: 'App', redirects: ['https://app.example/callback'], confidential: true }),
  'apps.delete': async (stage) => ({ app_id: await stage.newApp() }),
  'apps.update': async (stage) => ({
    app_id: await stage.newApp(),
    name: 'App',
    redirects: ['https://app.example/callback'],
  }),
  'apps.replace_secret': async (stage) => ({ app_id: await stage.newApp() }),
  'apps.authorized': () => ({}),
  'apps.revoke_access': async (stage) => ({ app_id: await stage.newApp() }),
  'bots.list': () => ({}),
  'bots.create': (stage) => ({ name: stage.newName() }),
  'bots.disable': async (stage) => ({ user_id: (await stage.newBot()).user_id }),
  'bots.tokens': async (stage) => ({ user_id: (await stage.newBot()).user_id }),
  'bots.create_token': async (stage) => ({
    user_id: (await stage.newBot()).user_id,
    name: 'its own',
    scopes: ['chats:read'],
  }),
  'bots.revoke_token': (stage) => stage.newBot(),
  'invitations.create': () => ({ note: 'For Grace' }),
  'invitations.list': () => ({}),
  'invitations.withdraw': async (stage) => ({ invitation_id: await stage.newInvitation() }),
  'service.get': () => ({}),
  'service.update': () => ({ name: 'Lovelace Ltd' }),
  'service.status': () => ({}),
  'service.history': () => ({}),
  'service.chats': () => ({}),
  'service.use': () => ({}),
  'service.audit': () => ({}),
  'service.settings': () => ({}),
};

type Headers = Readonly<Record<string, string>>;

/** One call as it is, with these headers and no others. */
async function ask(url: string, row: NamedOperation, input: object, headers: Headers): Promise<string> {
  const address = new URL(`${url}/api/${row.resource}.php?action=${row.action}`);
  const isGet = row.method === 'GET';
  if (isGet) for (const [key, value] of Object.entries(input)) address.searchParams.set(key, String(value));
  const isForm = hasFile(input);
  const response = await fetch(address.href, {
    method: row.method,
    headers: isGet || isForm ? headers : { 'content-type': 'application/json', ...headers },
    ...(!isGet && { body: isForm ? formOf(input) : JSON.stringify(input) }),
  });
  if (response.status === 200) {
    await response.body?.cancel();
    return 'ok';
  }
  const { error } = (await response.json()) as { error?: { code?: string } };
  return error?.code ?? `status ${response.status}`;
}

onAnyEngine('what every operation answers to whom', (engine) => {
  const server = serverFor(engine);
  let cast: Cast;
  const stages = new Map<Client, Stage>();
  /** The inputs of a user who is disabled before the call. */
  const prepared = new Map<OperationName, object>();

  beforeAll(async () => {
    cast = await invite(server());
    const { disabled, root, powerful, app } = cast;
    const group = await openGroup(cast, disabled);
    for (const maker of [...roles.map((role) => cast[role]), powerful, app, disabled]) {
      stages.set(maker, new Stage(server(), cast, group, maker));
    }
    for (const { name } of rows) prepared.set(name, await inputOf(name, disabled));
    await root.ok('users.disable', { user_id: disabled.userId });
  });

  async function inputOf(name: OperationName, maker: Client): Promise<object> {
    const stage = stages.get(maker);
    if (!stage) throw new Error('there is no stage for this one');
    return inputs[name](stage);
  }

  const isRole = (column: Column): column is Role => (roles as readonly string[]).includes(column);
  const makerFor = (column: Column) => (isRole(column) || column === 'app' ? cast[column] : cast.powerful);

  const bearer = ({ token }: Pick<Client, 'token'>) => ({ authorization: `Bearer ${token}` });
  const tokens = new Map<string, string>();

  async function allBut({ scopes }: NamedOperation): Promise<Headers> {
    const left = scopeNames.filter((scope) => !scopes.includes(scope));
    const token = tokens.get(left.join()) ?? (await server().token('powerful', left));
    tokens.set(left.join(), token);
    return bearer({ token });
  }

  const credentials: Record<Exclude<Column, Role>, (row: NamedOperation) => Headers | Promise<Headers>> = {
    none: () => ({}),
    revoked: () => bearer(cast.revoked),
    disabled: () => bearer(cast.disabled),
    scope: allBut,
    app: () => bearer(cast.app),
    page: () => ({ cookie: cast.cookie, 'sec-fetch-site': 'same-origin' }),
    site: () => ({ cookie: cast.cookie }),
  };

  for (const row of rows) {
    test(row.name, async () => {
      const given: Partial<Record<Column, string>> = {};
      const expected: Partial<Record<Column, string>> = {};
      for (const [i, verdict] of verdictsOf(table[row.name]).entries()) {
        const column = columns[i];
        if (!column || !verdict || verdict === 'not asked') continue;
        expected[column] = verdict;
        const input = column === 'disabled' ? prepared.get(row.name) : await inputOf(row.name, makerFor(column));
        const headers = isRole(column) ? bearer(cast[column]) : await credentials[column](row);
        given[column] = await ask(server().url, row, input ?? {}, headers);
      }
      expect(given).toEqual(expected);
    });
  }
});
