import { median } from '../../harness/report.ts';
import { makeGroup, makeUsers } from '../../harness/stage.ts';
import type { EngineMeasure } from '../engines.ts';
import { countMessages, untilIndexed } from '../fixtures.ts';
import type { Load } from '../load.ts';
import type { Reference } from '../outcome.ts';
import { Baseline, sendMessage } from '../parley.ts';
import { race } from '../race.ts';
import { batch, prepareInserts } from './bare-insert.ts';
import { measureHalfLoad } from './half-load.ts';

const bars = { sqlite: 0.6, postgres: 0.45 } as const;

/** Durable sends by several users into several chats, against a server that parses the same and returns the same. */
export const measureSend: EngineMeasure = async ({ engine, title, start }, plan) => {
  const what = `send_message, ${title}`;
  await using parley = await start();
  const users = await makeUsers(parley.admin, 'bench', 4);
  const chats = await Promise.all(users.map((owner) => makeGroup(owner, users)));
  const requests = chats.flatMap((chat) => users.map((user) => sendMessage(user, chat)));
  await using bare = await Baseline.start('server', await parley.fetch(sendMessage(users[0], chats[0] ?? 0)));
  const runInserts = await prepareInserts(parley);
  const before = await countMessages(parley);
  const contender = parley.racer(requests);
  const baseline = bare.like(contender);
  const waits: number[] = [];
  const beside: { sends: number; inserts: number }[] = [];
  const afterRound = async ({ perSecond }: Load) => {
    waits.push(await untilIndexed(parley.engine));
    beside.push({ sends: perSecond, inserts: (await runInserts(plan.seconds)).perSecond });
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
  const references = referencesOf(result.baseline.perSecond, beside.slice(1));
  return [
    { kind: 'rates', what, bar: bars[engine], notes, references, ...result },
    await measureHalfLoad(what, { baseline, contender, parley, runInserts }, result.contender.perSecond / 2, plan),
  ];
};

/** Compares with the inserts alone, and with the bare server and the inserts one after the other. */
function referencesOf(served: number, rounds: readonly { sends: number; inserts: number }[]): Reference[] {
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
