import type { Client } from '../../../../server/test/support/client.ts';
import { inParallel } from '../../../harness/stage.ts';
import type { EngineMeasure } from '../../engines.ts';
import { common, indexed, makeChats, untilIndexed } from '../../fixtures.ts';
import type { Curve } from '../../outcome.ts';
import { content, get, getMessages, type Parley, type Request, searchMessages, sendMessage } from '../../parley.ts';
import { measureCurve } from './curve.ts';

interface Probe {
  readonly what: string;
  /** The smallest number of chats that it makes sense with. */
  readonly min: number;
  readonly connections?: number;
  readonly ask: (user: Client, chats: readonly number[]) => readonly Request[];
}

/** The chats that are asked about in turn. */
const asked = 64;
const pageSize = 50;

const ofEach = (ask: (user: Client, chat: number) => Request): Probe['ask'] => {
  return (user, chats) => {
    const step = Math.max(1, Math.floor(chats.length / asked));
    return chats.filter((_, i) => i % step === 0).map((chat) => ask(user, chat));
  };
};

const probes: readonly Probe[] = [
  { what: 'get_messages', min: 1, ask: ofEach((user, chat) => getMessages(user, chat, { after_id: '0' })) },
  {
    what: 'a chat with its unread count',
    min: 1,
    ask: ofEach((user, chat) => get(user, 'chats', { action: 'get', chat_id: String(chat) })),
  },
  {
    // With fewer chats the page is shorter, and so is the response.
    what: `the first ${pageSize} chats with unread counts`,
    min: pageSize,
    ask: (user) => [get(user, 'chats', { action: 'list', limit: String(pageSize) })],
  },
  {
    what: `a search in all of one's chats`,
    min: pageSize,
    // Each takes long where there are many.
    connections: 4,
    ask: (user) => [searchMessages(user, common)],
  },
  { what: 'send_message', min: 1, ask: ofEach(sendMessage) },
];

/** A user is in more and more chats, each with an unread message. */
export const measureChatGrowth: EngineMeasure = async ({ title, start }, plan) => {
  await using parley = await start();
  const sizes = plan.sizes.growth.chats;
  const people: { x: number; user: Client; chats: readonly number[] }[] = [];
  for (const x of sizes) people.push({ x, ...(await makeMember(parley, x)) });
  await untilIndexed(parley.engine, 600);
  const curves: Curve[] = [];
  for (const { what, min, connections = 64, ask } of probes) {
    const racers = people
      .filter(({ x }) => x >= Math.min(min, Math.max(...sizes)))
      .map(({ x, user, chats }) => {
        return { x, racer: { ...parley.racer(ask(user, chats)), connections, afterRound: indexed(parley) } };
      });
    curves.push(await measureCurve({ what: `${what}, ${title}`, along: 'chats of the user', racers }, plan));
  }
  return curves;
};

async function makeMember(parley: Parley, count: number): Promise<{ user: Client; chats: number[] }> {
  const [user, other] = [await parley.user(`member-of-${count}`), await parley.user(`owner-of-${count}`)];
  const chats = await makeChats(other, count, [user]);
  await inParallel(64, count, (n) => other.ok('messages.send_message', { chat_id: chats[n] ?? 0, content }));
  return { user, chats };
}
