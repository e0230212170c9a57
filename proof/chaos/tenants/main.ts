import { postgresMissing } from '../../../server/test/support/postgres.ts';
import { readArguments, readCount, readDatabase, readOrExit, runTool } from '../../harness/arguments.ts';
import { describeMachine, leaveServerCore, serverCore, warnIfFolderIsInMemory } from '../../harness/machine.ts';
import { table } from '../../harness/report.ts';
import { attackers } from './attackers.ts';
import { playTenants } from './run.ts';
import { attackRows, breaches, figureRows } from './verdict.ts';

const usage = `npm run chaos -- tenants [--database sqlite|postgres|both] [--seconds N]
An ordinary person works, first alone and then beside all attackers at once. Fails if they notice too much of it.
--database  the database (both)
--seconds   the time of the attack; the time without it is three quarters as long (20)

The attackers, each a user of the server with its default limits:
${table(Object.entries(attackers).map(([name, { summary }]) => [name.padEnd(18), summary]))}`;

const secondsBounds = { min: 1, max: 3_600 };
const titles = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;

function readCommandLine(args: readonly string[]) {
  const typed = readArguments(args, ['database', 'seconds']);
  if (typed === 'help') return typed;
  const { database = 'both', seconds } = typed.given;
  return {
    engines: readDatabase(database, ['sqlite', 'postgres', 'both']),
    seconds: readCount('seconds', seconds, secondsBounds) ?? 20,
  };
}

/** Runs the command to its end. */
export function tenants(): Promise<never> {
  const { engines, seconds } = readOrExit(usage, readCommandLine);
  return runTool(async () => {
    leaveServerCore();
    warnIfFolderIsInMemory();
    console.log(`${describeMachine()}\n`);
    for (const engine of engines) {
      if (engine === 'postgres' && postgresMissing) {
        console.log(`tenants, ${titles[engine]}: skipped. ${postgresMissing}\n`);
        continue;
      }
      const result = await playTenants({ engine, seconds, core: serverCore });
      const broken = breaches(result);
      const errors = result.errors.slice(0, 5).map((line) => `The server logged: ${line}\n`);
      console.log(`tenants, ${titles[engine]}: ${broken.length === 0 ? 'everything held' : 'BROKEN'}\n`);
      console.log(`${table(figureRows(result))}\n\n${table(attackRows(result))}\n`);
      console.log([...errors, ...broken.map((line) => `BROKEN: ${line}\n`)].join(''));
      if (broken.length > 0) process.exitCode = 1;
    }
  });
}
