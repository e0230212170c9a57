import { type EngineName, engineTitles, type FreshServer, onEngine } from '../../engines.ts';
import { untilIndexed } from '../../fill.ts';
import type { Curve, Outcome } from '../../outcome.ts';
import { type ParleyUnderTest, type Request, searchMessages, sendMessage, startParley } from '../../parley.ts';
import type { Plan } from '../../plan.ts';
import { makeUsers, pagesOf } from '../../scene.ts';
import { common, makeSearchableChat, rare } from '../searchable-chat.ts';
import { measureCurve } from './curve.ts';

/** What is asked of a chat. Sends come last: they make it longer. */
const probes = ['newest', 'middle', 'oldest', 'search, a rare word', 'search, a common word', 'send'] as const;

interface Chat {
  readonly x: number;
  readonly parley: ParleyUnderTest;
  readonly requests: Readonly<Record<(typeof probes)[number], readonly Request[]>>;
}

/** A chat grows, each on a server of its own: so does the database with it. */
export function measureMessageGrowth(engine: EngineName, plan: Plan): Promise<Outcome[]> {
  const title = engineTitles[engine];
  return onEngine(engine, `more messages in a chat, ${title}`, async (fresh) => {
    await using servers = new AsyncDisposableStack();
    const chats: Chat[] = [];
    for (const x of plan.sizes.growth.messages) chats.push(await makeServer(x, fresh, servers));
    const curves: Curve[] = [];
    for (const probe of probes) {
      const racers = chats.map(({ x, parley, requests }) => {
        const racer = parley.racer(requests[probe]);
        const afterRound = async () => void (await untilIndexed(parley.engine));
        return { x, racer: probe === 'send' ? { ...racer, afterRound } : racer };
      });
      const notes = probe === 'send' ? ['each chat has as many to begin with, and what is sent on top'] : [];
      curves.push(
        await measureCurve({ what: `${probe}, ${title}`, along: 'messages in the chat', racers, notes }, plan),
      );
    }
    return curves;
  });
}

async function makeServer(x: number, fresh: FreshServer, servers: AsyncDisposableStack): Promise<Chat> {
  const parley = servers.use(await startParley(await fresh()));
  const users = await makeUsers(parley, 4);
  const chat = await makeSearchableChat(parley, users, x);
  const { newest, middle, oldest } = await pagesOf(parley, users, chat);
  const search = (word: string) => users.map((user) => searchMessages(user, word, { chat_id: String(chat) }));
  const requests = {
    newest,
    middle,
    oldest,
    'search, a rare word': search(rare),
    'search, a common word': search(common),
    send: users.map((user) => sendMessage(user, chat)),
  };
  return { x, parley, requests };
}
