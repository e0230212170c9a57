import { type EngineName, engineTitles, onEngine } from '../engines.ts';
import { untilIndexed } from '../fill.ts';
import type { Load } from '../load.ts';
import type { Outcome, Reference } from '../outcome.ts';
import { sendMessage, startBare, startParley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { median, race } from '../race.ts';
import { countMessages, first, makeChat, makeUsers } from '../scene.ts';
import { type Inserting, startInserting } from './bare-insert.ts';
import { measureHalfLoad } from './half-load.ts';

const bars = { sqlite: 0.6, postgres: 0.45 } as const;

/** Durable sends by several users into several chats, against a server that parses the same and answers the same. */
export function measureSend(engine: EngineName, plan: Plan): Promise<Outcome[]> {
  const what = `send_message, ${engineTitles[engine]}`;
  return onEngine(engine, what, async (fresh) => {
    await using parley = await startParley(await fresh());
    const users = await makeUsers(parley, 4);
    const chats = await Promise.all(users.map((owner) => makeChat(owner, users)));
    const requests = chats.flatMap((chat) => users.map((user) => sendMessage(user, chat)));
    await using bare = await startBare(await parley.answer(first(requests)));
    const inserting = await startInserting(parley);
    const before = await countMessages(parley);
    const contender = parley.racer(requests);
    const baseline = { ...contender, ...bare };
    const waits: number[] = [];
    const beside: { sends: number; inserts: number }[] = [];
    const afterRound = async ({ perSecond }: Load) => {
      waits.push(await untilIndexed(parley.engine));
      beside.push({ sends: perSecond, inserts: (await inserting.run(plan.seconds)).perSecond });
    };
    const result = await race(baseline, { ...contender, afterRound }, plan);
    const written = (await countMessages(parley)) - before;
    if (written !== result.contender.answers) {
      throw new Error(`${result.contender.answers} sends were accepted and ${written} messages written`);
    }
    const notes = [
      `${written} sends accepted, ${written} messages in the database`,
      `the search index needed ${median(waits).toFixed(2)} s after a round to catch up`,
    ];
    const references = referencesOf(inserting, result.baseline.perSecond, beside.slice(1));
    return [
      { kind: 'rates', what, bar: bars[engine], notes, references, ...result },
      await measureHalfLoad(what, { baseline, contender, parley, inserting }, result.contender.perSecond / 2, plan),
    ];
  });
}

/** What the disk and the engine allow by themselves, and what remains when both the server and they have taken their time. */
function referencesOf(
  { batch }: Inserting,
  served: number,
  rounds: readonly { sends: number; inserts: number }[],
): Reference[] {
  const together = (inserts: number) => 1 / (1 / served + 1 / inserts);
  const reference = (what: string, of: (inserts: number) => number): Reference => ({
    what,
    perSecond: median(rounds.map(({ inserts }) => of(inserts))),
    ratio: median(rounds.map(({ sends, inserts }) => sends / of(inserts))),
  });
  return [
    reference(`a bare insert of the same rows, ${batch} in a transaction`, (inserts) => inserts),
    reference('the bare server and the bare insert, one after the other', together),
  ];
}
