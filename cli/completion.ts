import { type Command, type Flag, takesValue, type ValueOption } from './command.ts';
import type { Row } from './commands.ts';

/** A word that a shell may complete to. */
export interface Candidate {
  readonly word: string;
  readonly summary: string;
}

/** Returns the words that may stand where `typed` ends. The last typed word is the beginning of one, and may be empty. */
export async function candidates(commands: readonly Row[], typed: readonly string[]): Promise<readonly Candidate[]> {
  const begun = typed.at(-1) ?? '';
  const before = typed.slice(0, -1);
  const row = commands.find((one) => namesOf(one).every((name, i) => name === before[i]));
  const found = row ? await wordsOf(row, before, begun) : commandWords(commands, before);
  return found.filter(({ word }) => word.startsWith(begun));
}

const namesOf = ({ name }: Row): string[] => name.split(' ');

/** The next words of commands. The summary of a group is a list of its commands. */
function commandWords(commands: readonly Row[], before: readonly string[]): Candidate[] {
  const found = new Map<string, string>();
  for (const row of commands) {
    const names = namesOf(row);
    if (!before.every((word, i) => word === names[i])) continue;
    const word = names[before.length];
    if (word === undefined) continue;
    const isGroup = names.length > before.length + 1;
    const others = found.get(word);
    found.set(word, isGroup ? [others, names.at(-1)].filter(Boolean).join(', ') : row.summary);
  }
  if (before.length === 0) found.set('help', 'Show the help.');
  return [...found].map(([word, summary]) => ({ word, summary }));
}

/** The options of a command, the values of the option before, or the values of its next argument. */
async function wordsOf(row: Row, before: readonly string[], begun: string): Promise<Candidate[]> {
  const { command } = await row.load();
  const options = Object.entries({ ...command.options, help: { summary: 'Show this help.' } });
  if (begun.startsWith('-')) return options.map(([name, { summary }]) => ({ word: `--${name}`, summary }));
  const [, opened] = options.find(([name]) => `--${name}` === before.at(-1)) ?? [];
  const taker =
    opened && takesValue(opened) ? opened : nextArgument(command, before.slice(namesOf(row).length), options);
  return taker?.complete?.().map((word) => ({ word, summary: '' })) ?? [];
}

function nextArgument(command: Command, typed: readonly string[], options: readonly [string, Flag | ValueOption][]) {
  const takers = new Set(options.filter(([, option]) => takesValue(option)).map(([name]) => `--${name}`));
  const given = typed.filter((word, i) => !word.startsWith('-') && !takers.has(typed[i - 1] ?? ''));
  const expected = Object.values(command.arguments);
  return expected[given.length] ?? expected.findLast(({ rest }) => rest);
}
