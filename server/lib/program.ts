import { realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { embedded } from './embedded.ts';

/** How the program was started. */
export interface Start {
  readonly from: 'executable' | 'package' | 'source';
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The first word of the command that started it. */
  readonly argv0: string;
  readonly execPath: string;
}

export interface Program {
  /** How a person types the command line. */
  readonly program: string;
  /** How a person starts the server. */
  readonly startCommand: string;
  /** How a person backs the server up. */
  readonly backupCommand: string;
}

const checkout = resolve(import.meta.dir, '../..');

/**
 * Returns the commands to show to people. Each one must run this program: outside of a checkout, `npx parley` fetches and runs
 * the package of another project.
 */
export function programOf(start: Start): Program {
  // The image sets both: nobody can type a command inside of the container. An empty setting is none.
  const { PARLEY_PROGRAM: outside, PARLEY_START: startOutside } = start.env;
  const program = outside || typed(start);
  return {
    program,
    // npm runs it in the checkout: elsewhere, the server would find neither the settings nor the data of this folder.
    startCommand: startOutside || (program === npxParley && start.cwd === checkout ? 'npm start' : `${program} serve`),
    // A file that the command writes by itself would stay in the container.
    backupCommand: `${program} backup ${outside ? '- >' : ''}"parley-$(date +%F-%H%M).backup"`,
  };
}

const npxParley = 'npx parley';

function typed({ from, env, cwd, argv0, execPath }: Start): string {
  if (from === 'executable') return isSame(argv0, { execPath, env, cwd }) ? quoted(argv0) : quoted(execPath);
  // With npx, nothing is on the PATH afterwards.
  if (from === 'package') return env.npm_command === 'exec' ? 'npx @parley-chat/cli' : 'parley';
  if (cwd === checkout || cwd.startsWith(checkout + sep)) return npxParley;
  return quoted(resolve(checkout, 'node_modules/.bin/parley'));
}

/** Whether a shell in that folder runs this executable for the word. Its caller may have passed any word. */
function isSame(word: string, { execPath, env, cwd }: Pick<Start, 'execPath' | 'env' | 'cwd'>): boolean {
  const found = Bun.which(word, { PATH: env.PATH ?? '', cwd });
  try {
    return found !== null && realpathSync(found) === realpathSync(execPath);
  } catch {
    return false;
  }
}

/** Returns a word as a shell reads it. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

export const { program, startCommand, backupCommand } = programOf({
  from: embedded === undefined ? 'source' : embedded.cliFile === undefined ? 'executable' : 'package',
  env: process.env,
  cwd: process.cwd(),
  argv0: process.argv0,
  execPath: process.execPath,
});
