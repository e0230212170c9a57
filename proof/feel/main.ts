import { readArguments, readCount, readNumber, readOrExit, runTool, UsageError } from '../harness/arguments.ts';
import { othersWhile } from '../harness/others.ts';
import { percent, table } from '../harness/report.ts';
import { manyChats } from './chats.ts';
import { watchConsole } from './console.ts';
import { deliver } from './delivery.ts';
import { type Figure, isMet } from './figures.ts';
import { watchMemory } from './memory.ts';
import { onPhone } from './phone.ts';
import { scrollMessages } from './scroll.ts';
import { Stage } from './stage.ts';

const parts = ['scroll', 'chats', 'delivery', 'console', 'phone', 'memory'] as const;
type Part = (typeof parts)[number];

const usage = `npm run feel -- [${parts.join('] [')}] [--messages N] [--chats N] [--rounds N] [--seconds N] [--trips N] [--keys N] [--minutes N]
Measures the web client in Chromium with a server of its own: everything, or the parts that are named.
--messages  in the long chat (100000)
--chats     in the list (2000)
--rounds    how often each list is scrolled there and back (3)
--seconds   how long one scroll takes (8)
--trips     messages from one browser to another, and deliveries to the console (100)
--keys      typed on a slow phone (200)
--minutes   how long the memory is watched (10)
The exit code is 1 if a bar is missed.`;

const asked = readOrExit(usage, (args) => {
  const typed = readArguments(args, ['messages', 'chats', 'rounds', 'seconds', 'trips', 'keys', 'minutes']);
  if (typed === 'help') return 'help';
  const { given, words } = typed;
  const named = words.map((word) => {
    const part = parts.find((one) => one === word);
    if (part === undefined) throw new UsageError(`There is no part ${word}`);
    return part;
  });
  return {
    named: named.length > 0 ? named : parts,
    messages: readCount('messages', given.messages, { min: 2_000, max: 1_000_000 }) ?? 100_000,
    chats: readCount('chats', given.chats, { min: 100, max: 10_000 }) ?? 2_000,
    rounds: readCount('rounds', given.rounds, { min: 1, max: 20 }) ?? 3,
    seconds: readNumber('seconds', given.seconds, { min: 1, max: 60 }) ?? 8,
    trips: readCount('trips', given.trips, { min: 1, max: 10_000 }) ?? 100,
    keys: readCount('keys', given.keys, { min: 2, max: 10_000 }) ?? 200,
    minutes: readNumber('minutes', given.minutes, { min: 0.1, max: 600 }) ?? 10,
  };
});

/** Updates one line on a terminal. Prints nothing elsewhere. */
const progress = (line: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
};

const measure: Readonly<Record<Part, (stage: Stage) => Promise<Figure[]>>> = {
  scroll: (stage) => scrollMessages(stage, asked),
  chats: (stage) => manyChats(stage, asked.chats, asked),
  delivery: (stage) => deliver(stage, asked.trips),
  console: (stage) => watchConsole(stage, asked.trips),
  phone: (stage) => onPhone(stage, asked),
  memory: (stage) => watchMemory(stage, { ...asked, progress }),
};

const barOf = ({ bar, unit }: Figure): string =>
  bar === undefined ? '' : 'max' in bar ? `≤ ${bar.max} ${unit}`.trim() : `≥ ${bar.min} ${unit}`.trim();

const verdictOn = (figure: Figure): string => ({ true: 'pass', false: 'MISSED', undefined: '' })[`${isMet(figure)}`];

await runTool(async () => {
  for (const part of asked.named) {
    progress(part);
    // Each part has a server of its own, so that none sees the chats of another.
    await using stage = await Stage.open();
    const { result: figures, others } = await othersWhile(() => measure[part](stage));
    const rows = figures.map((figure) => [
      figure.what,
      `${figure.value.toPrecision(3)} ${figure.unit}`.trim(),
      barOf(figure),
      verdictOn(figure),
    ]);
    const notes = figures.flatMap(({ what, notes }) => (notes ? [`- ${what}: ${notes.join('; ')}`] : []));
    if (others !== undefined) notes.push(`- other processes used ${percent(others)} of all cores`);
    if (figures.some((figure) => isMet(figure) === false)) process.exitCode = 1;
    progress('');
    console.log(`${table([[part, 'figure', 'bar', ''], ...rows], '')}\n\n${notes.join('\n')}\n`);
  }
});
