import type { Client } from '../../../../server/test/support/client.ts';
import { inParallel } from '../../../harness/stage.ts';
import type { EngineMeasure } from '../../engines.ts';
import { common, indexed, makeChats, untilIndexed } from '../../fixtures.ts';
import type { Outcome } from '../../outcome.ts';
import { content, get, getMessages, type Parley, type Request, searchMessages, sendMessage } from '../../parley.ts';
import { raceAll, sideOf } from '../../race.ts';
import { measureCurve } from './curve.ts';

interface Probe {
  readonly what: string;
  /** The smallest number of chats that it makes sense with. */
  readonly min: number;
  /** The largest number, and the largest slowdown up to there. */
  readonly max?: number;
  readonly largest?: number;
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

const byActivity = (user: Client) => get(user, 'chats', { action: 'list', order: 'activity', limit: String(pageSize) });

/** The largest processor time of a page by activity for a user with the most chats. */
const maxActivityMs = 20;

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
    // The place of each chat is found when the list is read.
    what: `the ${pageSize} most active chats`,
    min: pageSize,
    max: 1_000,
    largest: 2,
    ask: (user) => [byActivity(user)],
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
  const people: Member[] = [];
  for (const x of sizes) people.push({ x, ...(await makeMember(parley, x)) });
  await fillChats(people);
  await untilIndexed(parley.engine, 600);
  const outcomes: Outcome[] = [];
  for (const { what, min, max = Number.POSITIVE_INFINITY, largest, connections = 64, ask } of probes) {
    const racers = people
      .filter(({ x }) => x >= Math.min(min, Math.max(...sizes)) && x <= max)
      .map(({ x, user, chats }) => {
        return { x, racer: { ...parley.racer(ask(user, chats)), connections, afterRound: indexed(parley) } };
      });
    outcomes.push(await measureCurve({ what: `${what}, ${title}`, along: 'chats of the user', racers, largest }, plan));
  }
  const last = people.at(-1);
  if (last) {
    const [rounds] = await raceAll([{ ...parley.racer([byActivity(last.user)]), connections: 1 }], plan);
    const what = `the ${pageSize} most active of ${last.x.toLocaleString('en')} chats, ${title}`;
    const bar = parley.engine.dialect.name === 'sqlite' ? maxActivityMs : undefined;
    const { cpuMicros, p50Ms } = rounds ? sideOf(rounds) : { cpuMicros: undefined, p50Ms: Number.NaN };
    const value = cpuMicros === undefined ? p50Ms : cpuMicros / 1_000;
    outcomes.push({ kind: 'figure', what, value, unit: 'ms', bar, notes: ['processor time of the server'] });
  }
  return outcomes;
};

interface Member {
  readonly x: number;
  readonly user: Client;
  readonly owner: Client;
  readonly chats: readonly number[];
}

async function makeMember(parley: Parley, count: number): Promise<Omit<Member, 'x'>> {
  const [user, owner] = [await parley.user(`member-of-${count}`), await parley.user(`owner-of-${count}`)];
  return { user, owner, chats: await makeChats(owner, count, [user]) };
}

/** Sends a message to each chat. Those of all members are mixed evenly, so that nobody's are the oldest. */
async function fillChats(people: readonly Member[]): Promise<void> {
  const sends = people
    .flatMap(({ owner, chats }) => chats.map((chat_id, i) => ({ owner, chat_id, at: i / chats.length })))
    .sort((a, b) => a.at - b.at);
  await inParallel(64, sends.length, async (n) => {
    const send = sends[n];
    if (send) await send.owner.ok('messages.send_message', { chat_id: send.chat_id, content });
  });
}
