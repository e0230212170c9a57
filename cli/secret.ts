import { UsageError } from './command.ts';
import type { CommandContext } from './context.ts';
import { readStdin } from './input.ts';
import { text } from './values.ts';

export const secretOptions = {
  secret: {
    value: 'text',
    summary: 'Sign with this secret. It stays in the shell history. Defaults to a random one.',
    read: text,
  },
  'secret-stdin': { summary: 'Read the secret from standard input.' },
} as const;

interface Given {
  readonly secret: string | undefined;
  readonly 'secret-stdin': boolean;
}

/** Returns the secret of the options, or a new one, which the command has to show. */
export async function chooseSecret(options: Given, context: CommandContext) {
  if (!options['secret-stdin'] && options.secret === undefined) return { secret: newSecret(), isNew: true };
  if (options['secret-stdin'] && options.secret !== undefined) {
    throw new UsageError('Give --secret or --secret-stdin, not both.');
  }
  return { secret: options.secret ?? (await readStdin(context)), isNew: false };
}

/** Hexadecimal, because it passes through shells, .env files and forms unchanged. */
export const newSecret = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
