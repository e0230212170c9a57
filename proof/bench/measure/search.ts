import { median } from '../../harness/report.ts';
import type { QueryJob } from '../bare/query.ts';
import type { EngineMeasure } from '../engines.ts';
import { common, rare, usersWithSearchableChat } from '../fixtures.ts';
import type { Load } from '../load.ts';
import type { Outcome } from '../outcome.ts';
import { Baseline, Parley, runBare, searchMessages } from '../parley.ts';
import { race } from '../race.ts';

/** Searches for a word that is in all messages, of which the newest 50 are returned, and for one that is in few. */
export const measureSearch: EngineMeasure = async ({ title, fresh }, plan) => {
  const env = await fresh();
  await using parley = await Parley.start(env);
  const { users, chat } = await usersWithSearchableChat(parley, plan.sizes.chat);
  const measure = async (which: string, word: string): Promise<Outcome> => {
    const ask = (user: (typeof users)[0]) => searchMessages(user, word, { chat_id: String(chat) });
    const response = await parley.fetch(ask(users[0]));
    await using bare = await Baseline.start('server', response);
    const job: QueryJob = { userId: users[0].userId, chatId: chat, word, ms: plan.seconds * 1_000 };
    const rounds: { searches: number; queries: number }[] = [];
    // The database runs the same queries alone, for comparison.
    const afterRound = async ({ perSecond }: Load) =>
      void rounds.push({ searches: perSecond, queries: await runBare<number>('query', job, env) });
    const contender = parley.racer(users.map(ask));
    const result = await race(bare.like(contender), { ...contender, afterRound }, plan);
    const measured = rounds.slice(1);
    const reference = {
      what: 'the bare query',
      perSecond: median(measured.map(({ queries }) => queries)),
      ratio: median(measured.map(({ searches, queries }) => searches / queries)),
    };
    const { messages } = JSON.parse(response.body) as { messages: unknown[] };
    const notes = [`${messages.length} messages found, ${Buffer.byteLength(response.body)} bytes`];
    const what = `search_messages, ${which}, ${title}`;
    return { kind: 'rates', what, bar: undefined, notes, references: [reference], ...result };
  };
  return [await measure('a common word', common), await measure('a rare word', rare)];
};
