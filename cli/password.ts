import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Flag, ValueOption } from './command.ts';
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
export async function givenPassword(options: Given): Promise<string | undefined> {
  if (!options['password-stdin']) return options.password;
  if (options.password !== undefined) throw new UsageError('Give --password or --password-stdin, not both.');
  return readStdin();
}

/** The password that was given, or that whoever sits at the terminal types. */
export async function requirePassword(options: Given): Promise<string> {
  const given = await givenPassword(options);
  if (given !== undefined) return given;
  if (!stdinIsTerminal()) throw new UsageError('Give --password or --password-stdin.');
  const [password = '', again] = await askHidden('New password: ', 'The same once more: ');
  if (password !== again) throw new Error('The two are not the same.');
  return password;
}

/** Asks at the terminal without showing what is typed there. */
async function askHidden(...questions: readonly string[]): Promise<string[]> {
  const nowhere = new Writable({ write: (_part, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  // Also what is typed ahead of its question, or pasted, is an answer.
  const lines = reader[Symbol.asyncIterator]();
  reader.on('SIGINT', () => reader.close());
  try {
    const answers: string[] = [];
    for (const question of questions) {
      await write(process.stderr, question);
      const line = await lines.next();
      await write(process.stderr, '\n');
      if (line.done) throw new Error('No password was given.');
      answers.push(line.value);
    }
    return answers;
  } finally {
    reader.close();
  }
}
