import type { Client } from '../../../server/test/support/client.ts';
import { firstThreadSeconds } from '../../harness/machine.ts';
import { median } from '../../harness/report.ts';
import { inParallel, makeGroup, makeUsers } from '../../harness/stage.ts';
import type { EngineMeasure } from '../engines.ts';
import { common, fillChat, makeChats, rare, secret, untilIndexed } from '../fixtures.ts';
import type { Outcome } from '../outcome.ts';
import { content, Parley } from '../parley.ts';
import type { Sizes } from '../plan.ts';

const barMs = 20;

/** The server is idle for this long before its processor time is read: some work follows the response. */
const restMs = 25;

/** A request that an ordinary token can make. */
interface Probe {
  readonly what: string;
  readonly status?: number;
  readonly send: (stage: Stage, round: number) => Promise<Response>;
}

/** The chats, messages and files that the requests meet. The largest of everything belongs to one user. */
interface Stage {
  readonly user: Client;
  /** Another caller. */
  readonly other: Client;
  readonly members: readonly number[];
  /** A chat with a page of the longest messages, each edited once. */
  readonly longTexts: number;
  readonly ownMessage: number;
  /** A chat of short messages. */
  readonly chat: number;
  readonly crowd: number;
  readonly webhook: number;
}

const maxBytes = 2 ** 20;
const page = 200;
const longest = 16_384;

/** As many different words as fit into one message. */
const longText = (seed: number): string => {
  let text = '';
  for (let i = 0; text.length < longest; i++) text += `${(seed * 10_000 + i + 36 ** 3).toString(36)} `;
  return text.slice(0, longest);
};

/** Twenty words in every message of the search. */
const words = [...content.toLowerCase().matchAll(/[a-z0-9]+/g), 'and', 'five', 'more', 'words', 'here', 'too'].join(
  ' ',
);
const sought = [...new Set(words.split(' '))].slice(0, 20);

const get = ({ user }: Stage, resource: string, query: Readonly<Record<string, string | number>>) =>
  fetch(`${user.url}/api/${resource}.php?${new URLSearchParams(query as Record<string, string>)}`, {
    headers: { authorization: `Bearer ${user.token}` },
  });

const post = (
  { user }: Stage,
  action: string,
  body: BodyInit,
  type = 'application/json',
  headers: Record<string, string> = {},
) =>
  fetch(`${user.url}/api/${action}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.token}`, 'content-type': type, ...headers },
    body,
  });

const sending = 'messages.php?action=send_message';
const urlencoded = 'application/x-www-form-urlencoded';
const filled = (start: string, part: string, end = '') =>
  start + part.repeat(Math.floor((maxBytes - start.length - end.length) / part.length)) + end;

const search = (query: string) => (stage: Stage) =>
  get(stage, 'messages', { action: 'search_messages', query, limit: page });

const part = (i: number) => `--frontier\r\nContent-Disposition: form-data; name="k${i}"\r\n\r\n1\r\n`;
const manyParts = Array.from({ length: 1_999 }, (_, i) => part(i)).join('');
const numberedKeys = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 0])));
const formOfNames = Array.from({ length: 10_900 }, (_, i) => `${'%41'.repeat(29)}${i}`).join('&');
const [formOfFields, formOfEscapes] = [filled('', 'a&'), filled('content=', '%41')];
const [jsonOfKeys, jsonOfEscapes, jsonOfLists] = [
  numberedKeys(80_000),
  filled('{"chat_id":1,"content":"', '\\u0041', '"}'),
  filled('{"participants":', '[', ''),
];

/** Each is the largest of its kind. */
const probes: readonly Probe[] = [
  { what: 'a form of 500,000 fields', status: 422, send: (s) => post(s, sending, formOfFields, urlencoded) },
  { what: 'a form of 10,900 names', status: 422, send: (s) => post(s, sending, formOfNames, urlencoded) },
  { what: 'a form of 1 MiB of escapes', status: 422, send: (s) => post(s, sending, formOfEscapes, urlencoded) },
  {
    what: 'a multipart form of 1,999 parts',
    status: 422,
    send: (s) =>
      post(
        s,
        'messages.php?action=create_group',
        `${manyParts}--frontier--\r\n`,
        'multipart/form-data; boundary=frontier',
      ),
  },
  { what: 'JSON of 80,000 unknown keys', status: 422, send: (s) => post(s, sending, jsonOfKeys) },
  { what: 'JSON of 1 MiB of escapes', status: 422, send: (s) => post(s, sending, jsonOfEscapes) },
  { what: 'JSON of 1 MiB of brackets', status: 422, send: (s) => post(s, sending, jsonOfLists) },
  { what: 'a search for 20 words in all chats', send: search(sought.join(' ')) },
  { what: 'a search for a common word in all chats', send: search(common) },
  { what: 'a search for a rare word in all chats', send: search(rare) },
  { what: 'a search for a letter in all chats', send: search(common.slice(0, 1)) },
  {
    what: 'a search in the longest messages',
    send: (s) => get(s, 'messages', { action: 'search_messages', query: 'edited', chat_id: s.longTexts, limit: page }),
  },
  {
    what: 'the largest page of messages',
    send: (s) => get(s, 'messages', { action: 'get_messages', chat_id: s.longTexts, limit: page, after_id: 0 }),
  },
  { what: 'the largest page of chats', send: (s) => get(s, 'chats', { action: 'list', limit: page }) },
  {
    what: 'the largest page of chats by activity',
    send: (s) => get(s, 'chats', { action: 'list', order: 'activity', limit: page }),
  },
  {
    what: 'the largest page of participants',
    send: (s) => get(s, 'chats', { action: 'participants', chat_id: s.crowd, limit: page }),
  },
  {
    what: 'the largest page of users',
    send: (s) => get(s, 'users', { action: 'search', query: 'bench', limit: page }),
  },
  {
    what: 'the largest page of events',
    send: (s) =>
      get(s, 'events', { action: 'list', after: 0, chat_id: s.longTexts, events: 'message_edited', limit: page }),
  },
  {
    what: 'a page of rare events',
    send: (s) => get(s, 'events', { action: 'list', after: 0, events: 'chat_updated', limit: page }),
  },
  { what: '100 webhooks', send: (s) => get(s, 'webhooks', { action: 'list', limit: page }) },
  {
    what: 'the largest page of deliveries',
    send: (s) => get(s, 'webhooks', { action: 'deliveries', webhook_id: s.webhook, limit: page }),
  },
  {
    what: 'a send of the longest text',
    send: (s, round) => post(s, sending, JSON.stringify({ chat_id: s.chat, content: longText(round) })),
  },
  {
    what: 'a repeated send with an Idempotency-Key',
    send: (s) =>
      post(s, sending, JSON.stringify({ chat_id: s.chat, content: longText(1) }), 'application/json', {
        'idempotency-key': 'k'.repeat(64),
      }),
  },
  {
    what: 'an edit of the longest text',
    send: (s, round) =>
      post(
        s,
        'messages.php?action=edit_message',
        JSON.stringify({ message_id: s.ownMessage, content: longText(1_000 + round) }),
      ),
  },
  {
    what: 'a group of 1,000',
    send: (s) =>
      post(s, 'messages.php?action=create_group', JSON.stringify({ name: 'Crowd', participants: s.members })),
  },
];

/**
 * Measures how long one request keeps all others waiting: its processor time in the thread that serves requests, or the
 * longest wait of another caller meanwhile if that is less, because the request lets others in between.
 */
export const measureExpensive: EngineMeasure = async ({ title, fresh }, plan) => {
  await using parley = await Parley.start(await fresh());
  const stage = await makeStage(parley, plan.sizes);
  const { warmUps } = plan.sizes;
  const outcomes: Outcome[] = [];
  for (const probe of probes) {
    const what = `${probe.what}, ${title}`;
    const rounds: { cpuMs: number; waitMs: number }[] = [];
    for (let round = -warmUps; round < 2 * plan.rounds; round++) {
      const cpuMs = await cpuOf(parley, () => send(probe, stage, 2 * (round + warmUps)));
      if (cpuMs === undefined) return [{ kind: 'skipped', what, why: 'needs Linux' }];
      const waitMs = await longestWait(parley, stage.other, send(probe, stage, 2 * (round + warmUps) + 1));
      if (round >= 0) rounds.push({ cpuMs, waitMs });
    }
    const held = rounds.map(({ cpuMs, waitMs }) => Math.min(cpuMs, waitMs));
    const of = (name: string, ms: readonly number[]) =>
      `${name} ${median(ms).toFixed(1)} ms, at most ${Math.max(...ms).toFixed(1)}`;
    const notes = [
      `held ${held.map((ms) => ms.toFixed(1)).join(' ')}`,
      of(
        'CPU',
        rounds.map(({ cpuMs }) => cpuMs),
      ),
      of(
        'another caller waited',
        rounds.map(({ waitMs }) => waitMs),
      ),
    ];
    outcomes.push({ kind: 'figure', what, value: median(held), unit: 'ms', bar: barMs, notes });
  }
  return outcomes;
};

async function send({ what, status = 200, send }: Probe, stage: Stage, round: number): Promise<void> {
  const response = await send(stage, round);
  const body = await response.text();
  if (response.status !== status) throw new Error(`${what}: ${response.status} ${body.slice(0, 500)}`);
}

async function cpuOf({ pid }: Parley, work: () => Promise<void>): Promise<number | undefined> {
  await Bun.sleep(restMs);
  const before = firstThreadSeconds(pid);
  await work();
  await Bun.sleep(restMs);
  const after = firstThreadSeconds(pid);
  return after === undefined ? undefined : 1_000 * (after - (before ?? 0));
}

/**
 * Calls `users.me` again and again until the work is done. Returns the longest time in ms. The processor time that the server
 * used meanwhile is an upper bound, because other processes may have had its core.
 */
async function longestWait({ pid }: Parley, caller: Client, work: Promise<void>): Promise<number> {
  let [longest, isDone] = [0, false];
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const [began, cpuBefore = 0] = [performance.now(), firstThreadSeconds(pid)];
    await caller.ok('users.me', {});
    const [ended, cpuAfter = 0] = [performance.now(), firstThreadSeconds(pid)];
    longest = Math.max(longest, Math.min(ended - began, 1_000 * (cpuAfter - cpuBefore)));
  }
  await done;
  return longest;
}

async function makeStage(parley: Parley, sizes: Sizes): Promise<Stage> {
  const { searchedChats, foreignMessages, chat: size, crowd, longMessages } = sizes;
  const [user, other, stranger] = await makeUsers(parley.admin, 'bench', 3);
  if (!other || !stranger) throw new Error('three users are needed');
  const members: number[] = [];
  await inParallel(8, crowd, async (n) => void members.push((await parley.user(`bench-member-${n}`)).userId));

  const text = sought.join(' ');
  const chats = await makeChats(user, searchedChats);
  await inParallel(16, chats.length, (n) =>
    user.ok('messages.send_message', { chat_id: chats[n] ?? 0, content: n % 160 === 0 ? `${text} ${rare}` : text }),
  );
  const longTexts = await makeGroup(user, []);
  await inParallel(8, longMessages, async (n) => {
    const { message } = await user.ok('messages.send_message', { chat_id: longTexts, content: longText(n) });
    const edited = `edited ${longText(10_000 + n)}`.slice(0, longest);
    await user.ok('messages.edit_message', { message_id: message.message_id, content: edited });
  });
  const chat = await makeGroup(user, []);
  const own = await user.ok('messages.send_message', { chat_id: chat, content });
  const group = await user.ok('messages.create_group', { name: 'Crowd', participants: members });
  const webhook = await makeWebhooks(user, longTexts, sizes);
  await fillChat(parley.engine, user, await makeGroup(user, []), size, { searchable: true });
  // Messages of others with the same words are newer: so the user's chats are searched one by one.
  await fillChat(parley.engine, stranger, await makeGroup(stranger, []), foreignMessages, { searchable: true, text });
  await untilIndexed(parley.engine, 600);
  return {
    ...{ user, other, members, longTexts, chat, webhook },
    ownMessage: own.message.message_id,
    crowd: group.group.chat_id,
  };
}

/** Makes webhooks. Returns the id of one that has deliveries. */
async function makeWebhooks(user: Client, idle: number, { webhooks, deliveries }: Sizes): Promise<number> {
  const busy = await makeGroup(user, []);
  const endpoint = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
  const register = async (chat_id: number) => {
    const input = {
      url: `http://127.0.0.1:${endpoint.port}/${chat_id}`,
      events: ['new_message' as const],
      secret,
      chat_id,
    };
    return (await user.ok('webhooks.register', input)).webhook.webhook_id;
  };
  const first = await register(busy);
  for (let n = 1; n < webhooks; n++) await register(idle);
  await inParallel(8, deliveries, () => user.ok('messages.send_message', { chat_id: busy, content }));
  const delivered = async () =>
    (await user.ok('webhooks.deliveries', { webhook_id: first, state: 'delivered', limit: page })).deliveries.length;
  while ((await delivered()) < deliveries) await Bun.sleep(50);
  await endpoint.stop(true);
  return first;
}
