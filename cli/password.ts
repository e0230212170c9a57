import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { UsageError } from './command.ts';
import type { CommandContext } from './context.ts';
import { readStdin } from './input.ts';
import { write } from './output.ts';
import { text } from './values.ts';

export const passwordOptions = {
  password: { value: 'password', summary: 'The password. It stays in the shell history.', read: text },
  'password-stdin': { summary: 'Read the password from standard input.' },
} as const;

interface Given {
  readonly password: string | undefined;
  readonly 'password-stdin': boolean;
}

/** Returns the password of the options, or undefined if there is none. */
export async function givenPassword(options: Given, context: CommandContext): Promise<string | undefined> {
  if (!options['password-stdin']) return options.password;
  if (options.password !== undefined) throw new UsageError('Give --password or --password-stdin, not both.');
  return readStdin(context);
}

/** Returns the password of the options, or prompts for it. Throws if there is no terminal. */
export async function requirePassword(options: Given, context: CommandContext): Promise<string> {
  const given = await givenPassword(options, context);
  if (given !== undefined) return given;
  if (!context.stdin.isTTY) throw new UsageError('Give --password or --password-stdin.');
  const [password = '', again] = await promptHidden(context, 'New password: ', 'Repeat password: ');
  if (password !== again) throw new Error('The passwords differ. Try again.');
  return password;
}

/** Prompts at the terminal without echoing the input. */
async function promptHidden({ stdin, stderr }: CommandContext, ...questions: readonly string[]): Promise<string[]> {
  const nowhere = new Writable({ write: (_part, _encoding, done) => done() });
  const reader = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  // The iterator keeps lines that were typed ahead or pasted.
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
