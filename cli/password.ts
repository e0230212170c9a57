import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Flag, ValueOption } from './command.ts';
import type { CommandContext } from './context.ts';
import { readStdin, stdinIsTerminal } from './input.ts';
import { write } from './output.ts';
import { UsageError } from './usage.ts';
import { text } from './values.ts';

/** The two ways to give a password on the command line. */
export const passwordOptions = {
  password: {
    value: 'password',
    summary: 'The password to sign in with. It stays in the shell history.',
    read: text,
  } satisfies ValueOption<string>,
  'password-stdin': { summary: 'Read the password from standard input.' } satisfies Flag,
} as const;

interface Given {
  readonly password: string | undefined;
  readonly 'password-stdin': boolean;
}

/** The password that was given, if one was. */
export async function givenPassword(options: Given, context: CommandContext): Promise<string | undefined> {
  if (!options['password-stdin']) return options.password;
  if (options.password !== undefined) throw new UsageError('Give --password or --password-stdin, not both.');
  return readStdin(context);
}

/** The password that was given, or that whoever sits at the terminal types. */
export async function requirePassword(options: Given, context: CommandContext): Promise<string> {
  const given = await givenPassword(options, context);
  if (given !== undefined) return given;
  if (!stdinIsTerminal(context)) throw new UsageError('Give --password or --password-stdin.');
  const [password = '', again] = await askHidden(context, 'New password: ', 'The same once more: ');
  if (password !== again) throw new Error('The two are not the same.');
  return password;
}

/** Asks at the terminal without showing what is typed there. */
async function askHidden({ stdin, stderr }: CommandContext, ...questions: readonly string[]): Promise<string[]> {
  const nowhere = new Writable({ write: (_part, _encoding, done) => done() });
  const reader = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  // Also what is typed ahead of its question, or pasted, is an answer.
  const lines = reader[Symbol.asyncIterator]();
  reader.on('SIGINT', () => reader.close());
  try {
    const answers: string[] = [];
    for (const question of questions) {
      await write(stderr, question);
      const line = await lines.next();
      await write(stderr, '\n');
      if (line.done) throw new Error('No password was given.');
      answers.push(line.value);
    }
    return answers;
  } finally {
    reader.close();
  }
}
