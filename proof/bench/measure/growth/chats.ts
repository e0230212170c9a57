import type { Client } from '../../../../server/test/support/client.ts';
import { type EngineName, engineTitles, onEngine } from '../../engines.ts';
import { untilIndexed } from '../../fill.ts';
import type { Curve, Outcome } from '../../outcome.ts';
import {
  content,
  get,
  getMessages,
  type ParleyUnderTest,
  type Request,
  searchMessages,
  sendMessage,
  startParley,
} from '../../parley.ts';
import type { Plan } from '../../plan.ts';
import { atOnce, makeChats } from '../../scene.ts';
import { common } from '../searchable-chat.ts';
import { measureCurve } from './curve.ts';

interface Probe {
  readonly what: string;
  /** The fewest chats that it takes. */
  readonly atLeast: number;
  readonly connections?: number;
  readonly ask: (user: Client, chats: readonly number[]) => readonly Request[];
}

/** As many are asked about in turn. */
const asked = 64;
const pageSize = 50;

const ofEach = (ask: (user: Client, chat: number) => Request): Probe['ask'] => {
  return (user, chats) => {
    const step = Math.max(1, Math.floor(chats.length / asked));
    return chats.filter((_, i) => i % step === 0).map((chat) => ask(user, chat));
  };
};

const probes: readonly Probe[] = [
  { what: 'get_messages', atLeast: 1, ask: ofEach((user, chat) => getMessages(user, chat, { after_id: '0' })) },
  {
    what: 'a chat with its unread count',
    atLeast: 1,
    ask: ofEach((user, chat) => get(user, 'chats', { action: 'get', chat_id: String(chat) })),
  },
  {
    // With fewer chats the page is shorter, and so is the answer.
    what: `the first ${pageSize} chats with unread counts`,
    atLeast: pageSize,
    ask: (user) => [get(user, 'chats', { action: 'list', limit: String(pageSize) })],
  },
  {
    what: `a search in all of one's chats`,
    atLeast: pageSize,
    // Each takes long where there are many.
    connections: 4,
    ask: (user) => [searchMessages(user, common)],
  },
  { what: 'send_message', atLeast: 1, ask: ofEach(sendMessage) },
];

/** Somebody is in more and more chats, of which each has an unread message. */
export function measureChatGrowth(engine: EngineName, plan: Plan): Promise<Outcome[]> {
  const title = engineTitles[engine];
  return onEngine(engine, `more chats of a user, ${title}`, async (fresh) => {
    await using parley = await startParley(await fresh());
    const people: { x: number; user: Client; chats: readonly number[] }[] = [];
    for (const x of plan.sizes.growth.chats) people.push({ x, ...(await makeMember(parley, x)) });
    await untilIndexed(parley.engine, 600);
    const curves: Curve[] = [];
    for (const { what, atLeast, connections = 64, ask } of probes) {
      const racers = people
        .filter(({ x }) => x >= Math.min(atLeast, Math.max(...plan.sizes.growth.chats)))
        .map(({ x, user, chats }) => {
          const afterRound = async () => void (await untilIndexed(parley.engine));
          return { x, racer: { ...parley.racer(ask(user, chats)), connections, afterRound } };
        });
      curves.push(await measureCurve({ what: `${what}, ${title}`, along: 'chats of the user', racers }, plan));
    }
    return curves;
  });
}

async function makeMember(parley: ParleyUnderTest, count: number): Promise<{ user: Client; chats: number[] }> {
  const [user, other] = [await parley.user(`member-of-${count}`), await parley.user(`owner-of-${count}`)];
  const chats = await makeChats(other, count, [other, user]);
  await atOnce(64, count, async (n) => {
    await other.ok('messages.send_message', { chat_id: chats[n] ?? 0, content });
  });
  return { user, chats };
}
