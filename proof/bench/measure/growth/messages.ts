import type { EngineMeasure, Ground } from '../../engines.ts';
import { common, indexed, pagesOf, rare, usersWithSearchableChat } from '../../fixtures.ts';
import type { Curve } from '../../outcome.ts';
import { type Parley, type Request, searchMessages, sendMessage } from '../../parley.ts';
import { measureCurve } from './curve.ts';

/** The requests to a chat. Sends come last: they make it longer. */
const probes = ['newest', 'middle', 'oldest', 'search, a rare word', 'search, a common word', 'send'] as const;

interface Chat {
  readonly x: number;
  readonly parley: Parley;
  readonly requests: Readonly<Record<(typeof probes)[number], readonly Request[]>>;
}

/** A chat grows, each size on a server of its own, so that the database grows with it. */
export const measureMessageGrowth: EngineMeasure = async ({ title, start }, plan) => {
  await using servers = new AsyncDisposableStack();
  const chats: Chat[] = [];
  for (const x of plan.sizes.growth.messages) chats.push(await makeServer(x, start, servers));
  const curves: Curve[] = [];
  for (const probe of probes) {
    const isSend = probe === 'send';
    const racers = chats.map(({ x, parley, requests }) => {
      const racer = parley.racer(requests[probe]);
      return { x, racer: isSend ? { ...racer, afterRound: indexed(parley) } : racer };
    });
    const notes = isSend ? ['each chat has as many to begin with, and what is sent on top'] : [];
    const contest = { what: `${probe}, ${title}`, along: 'messages in the chat', racers, notes };
    curves.push(await measureCurve(contest, plan));
  }
  return curves;
};

async function makeServer(x: number, start: Ground['start'], servers: AsyncDisposableStack): Promise<Chat> {
  const parley = servers.use(await start());
  const { users, chat } = await usersWithSearchableChat(parley, x);
  const { newest, middle, oldest } = await pagesOf(parley, users, chat);
  const search = (word: string) => users.map((user) => searchMessages(user, word, { chat_id: String(chat) }));
  const requests = {
    ...{ newest, middle, oldest, 'search, a rare word': search(rare), 'search, a common word': search(common) },
    send: users.map((user) => sendMessage(user, chat)),
  };
  return { x, parley, requests };
}
