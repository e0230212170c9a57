import { temporaryFolder } from '../../../server/test/support/cleanup.ts';
import { type EngineName, engineTitles, onEngine } from '../engines.ts';
import type { Load } from '../load.ts';
import { startOnServerCore } from '../machine.ts';
import type { Outcome, Reference } from '../outcome.ts';
import { searchMessages, startBare, startParley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { median, race } from '../race.ts';
import { first, makeUsers } from '../scene.ts';
import { common, makeSearchableChat, rare } from './searchable-chat.ts';

/** Messages with a word: one that stands in all of them, of which the newest 50 are wanted, and one that is in fewer. */
export function measureSearch(engine: EngineName, plan: Plan): Promise<Outcome[]> {
  const title = engineTitles[engine];
  return onEngine(engine, `search_messages, ${title}`, async (fresh) => {
    const env = await fresh();
    await using parley = await startParley(env);
    const users = await makeUsers(parley, 4);
    const chat = await makeSearchableChat(parley, users, plan.sizes.chat);
    const measure = async (what: string, word: string): Promise<Outcome> => {
      const requests = users.map((user) => searchMessages(user, word, { chat_id: String(chat) }));
      const answer = await parley.answer(first(requests));
      await using bare = await startBare(answer);
      const queries = queriesBeside(
        { ...env, USER: String(first(users).userId), CHAT: String(chat), WORD: word },
        plan,
      );
      const contender = parley.racer(requests);
      const result = await race({ ...contender, ...bare }, { ...contender, afterRound: queries.run }, plan);
      const { messages } = JSON.parse(answer.body) as { messages: unknown[] };
      const notes = [`${messages.length} messages found, ${Buffer.byteLength(answer.body)} bytes`];
      return { kind: 'rates', what, bar: undefined, notes, references: [queries.reference()], ...result };
    };
    return [
      await measure(`search_messages, a common word, ${title}`, common),
      await measure(`search_messages, a rare word, ${title}`, rare),
    ];
  });
}

/** After each round as many queries as the database answers by itself. */
function queriesBeside(job: Readonly<Record<string, string>>, { seconds }: Plan) {
  const rounds: { searches: number; queries: number }[] = [];
  return {
    run: async ({ perSecond }: Load) => {
      const out = `${temporaryFolder()}/queries`;
      await using child = startOnServerCore(['proof/bench/bare/query.ts'], {
        ...job,
        MS: String(seconds * 1_000),
        OUT: out,
      });
      while (!child.hasEnded) await Bun.sleep(20);
      if (!(await Bun.file(out).exists())) child.check();
      rounds.push({ searches: perSecond, queries: Number(await Bun.file(out).text()) });
    },
    reference: (): Reference => {
      const measured = rounds.slice(1);
      return {
        what: 'the bare query',
        perSecond: median(measured.map(({ queries }) => queries)),
        ratio: median(measured.map(({ searches, queries }) => searches / queries)),
      };
    },
  };
}
