import { median } from '../../harness/report.ts';
import type { EngineMeasure } from '../engines.ts';
import { countMessages, searchLagSeconds, sendsOf, untilIndexed } from '../fixtures.ts';
import type { Load } from '../load.ts';
import { Baseline } from '../parley.ts';
import { compare, race } from '../race.ts';
import { batch, prepareInserts } from './bare-insert.ts';

/** The `floor` is the bare server and the bare insert in turn. */
const bars = {
  sqlite: { bare: 0.33, floor: undefined, p99: 8, searchLag: 2 },
  postgres: { bare: undefined, floor: 0.55, p99: undefined, searchLag: undefined },
} as const;

/** A round lasts 10 s at the usual pace: in a shorter one the search index could leave its work for later. */
const roundFactor = 12.5;
const maxRounds = 3;

/** Durable sends by several users into several chats, against a server that parses the same and returns the same. */
export const measureSend: EngineMeasure = async ({ engine, title, start }, plan) => {
  const what = `send_message, ${title}`;
  const pace = { ...plan, seconds: plan.seconds * roundFactor, rounds: Math.min(maxRounds, plan.rounds) };
  await using parley = await start();
  const requests = await sendsOf(parley);
  await using bare = await Baseline.start('server', await parley.fetch(requests[0]));
  const runInserts = await prepareInserts(parley);
  const before = await countMessages(parley);
  const contender = parley.racer(requests);
  const rounds: { sends: number; inserts: number; searchLag: number; catchUp: number }[] = [];
  const afterRound = async ({ perSecond: sends }: Load) => {
    const searchLag = await searchLagSeconds(parley.engine);
    const catchUp = await untilIndexed(parley.engine, 600);
    rounds.push({ sends, searchLag, catchUp, inserts: await runInserts({ seconds: plan.seconds }) });
  };
  const result = await race(bare.like(contender), { ...contender, afterRound }, pace);
  const written = (await countMessages(parley)) - before;
  if (written !== result.contender.answers) {
    throw new Error(`${result.contender.answers} sends were accepted and ${written} messages written`);
  }
  // The first round only warms up.
  const measured = rounds.slice(1);
  const of = (value: (round: (typeof rounds)[number]) => number) => measured.map(value);
  const inTurn = (inserts: number) => 1 / (1 / result.baseline.perSecond + 1 / inserts);
  const rate = (perSecond: number) => ({ perSecond, answers: 0 });
  const reference = {
    what: `a bare insert of the same rows, ${batch} in a transaction`,
    perSecond: median(of(({ inserts }) => inserts)),
    ratio: median(of(({ sends, inserts }) => sends / inserts)),
  };
  const { doubts = [] } = result;
  return [
    {
      kind: 'rates',
      what,
      bar: bars[engine].bare,
      notes: [`${written} sends accepted, ${written} messages in the database`],
      references: [reference],
      ...result,
    },
    {
      kind: 'rates',
      what: `${what}, against the bare server and the bare insert in turn`,
      bar: bars[engine].floor,
      notes: [],
      ...compare(of(({ inserts }) => inTurn(inserts)).map(rate), of(({ sends }) => sends).map(rate)),
      doubts,
    },
    {
      kind: 'figure',
      what: `${what}, p99 at saturation`,
      value: result.contender.p99Ms / result.baseline.p99Ms,
      unit: '× bare',
      bar: bars[engine].p99,
      notes: [`${result.contender.p99Ms.toFixed(2)} ms, of the bare server ${result.baseline.p99Ms.toFixed(2)} ms`],
      doubts,
    },
    {
      kind: 'figure',
      what: `${what}, search index behind after ${pace.seconds} s`,
      value: median(of(({ searchLag }) => searchLag)),
      unit: 's',
      bar: bars[engine].searchLag,
      notes: [`it caught up in ${median(of(({ catchUp }) => catchUp)).toFixed(2)} s`],
    },
  ];
};
