import type { EngineMeasure, Ground } from '../../engines.ts';
import { common, indexed, pagesOf, rare, usersWithSearchableChat } from '../../fixtures.ts';
import type { Curve } from '../../outcome.ts';
import { searchMessages, sendMessage } from '../../parley.ts';
import { measureCurve } from './curve.ts';

const rareSearch = 'search, a rare word';
const commonSearch = 'search, a common word';

/** A chat grows, each size on a server of its own, so that the database grows with it. */
export const measureMessageGrowth: EngineMeasure = async ({ title, start }, plan) => {
  await using servers = new AsyncDisposableStack();
  const chats: Awaited<ReturnType<typeof makeServer>>[] = [];
  for (const x of plan.sizes.growth.messages) chats.push(await makeServer(x, start, servers));
  const curves: Curve[] = [];
  // Sends come last: they make the chat longer.
  for (const probe of ['newest', 'middle', 'oldest', rareSearch, commonSearch, 'send'] as const) {
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

async function makeServer(x: number, start: Ground['start'], servers: AsyncDisposableStack) {
  const parley = servers.use(await start());
  const { users, chat } = await usersWithSearchableChat(parley, x);
  const { newest, middle, oldest } = await pagesOf(parley, users, chat);
  const search = (word: string) => users.map((user) => searchMessages(user, word, { chat_id: String(chat) }));
  const requests = {
    ...{ newest, middle, oldest, [rareSearch]: search(rare), [commonSearch]: search(common) },
    send: users.map((user) => sendMessage(user, chat)),
  };
  return { x, parley, requests };
}
