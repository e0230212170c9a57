/** Runs the tests of tiers (`bun test/run.ts quick rest`), or of some files (`bun test/run.ts streams cli/`). */
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '../server/test/support/cleanup.ts';
import { postgresMissing, sharedPostgresVariable, startPostgres } from '../server/test/support/postgres.ts';
import { type FileResult, readReport, type Skipped, summary } from './summary.ts';
import { type Step, stepFor, stepsOf, type Tier, tiers } from './tiers.ts';

const root = join(import.meta.dir, '..');
const folder = temporaryFolder();
const skippedFile = join(folder, 'skipped.jsonl');

/** Catches hangs, and nothing else. */
const timeoutMs = 120_000;

const isTier = (word: string): word is Tier => (tiers as readonly string[]).includes(word);

const words = process.argv.slice(2);
const steps = words.every(isTier)
  ? (await Promise.all(words.map((tier) => stepsOf(tier, root)))).flat()
  : [await stepFor(words, root)];
if (!steps.some(({ files }) => files.length > 0)) {
  process.stderr.write(`Name what to run: ${tiers.join(', ')}, both, or parts of the paths of test files.\n`);
  process.exit(2);
}

const started = performance.now();
const postgres = postgresMissing === undefined ? await startPostgres({ fsync: false }) : undefined;
const results: FileResult[] = [];
let isGreen = true;
let reports = 0;
for (const step of steps) isGreen = (await run(step)) && isGreen;
await postgres?.stop('immediate');
process.stdout.write(`\n${summary(results, skipped(), (performance.now() - started) / 1_000).join('\n')}\n`);
process.exit(isGreen ? 0 : 1);

/** Runs one step and answers whether all of its tests passed. */
async function run({ files, env, only }: Step): Promise<boolean> {
  const report = join(folder, `report-${++reports}.xml`);
  const child = Bun.spawn(
    [
      process.execPath,
      'test',
      `--timeout=${timeoutMs}`,
      `--parallel=${availableParallelism()}`,
      '--no-isolate',
      '--only-failures',
      '--reporter=junit',
      `--reporter-outfile=${report}`,
      ...(only === undefined ? [] : [`--test-name-pattern=${only}`]),
      ...files.map((file) => `./${file}`),
    ],
    {
      cwd: root,
      env: {
        ...process.env,
        ...env,
        PARLEY_TEST_SKIPPED: skippedFile,
        ...(postgres && { [sharedPostgresVariable]: postgres.server }),
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const code = await child.exited;
  if (existsSync(report)) {
    const found = readReport(readFileSync(report, 'utf8'));
    // The report calls skipped what the pattern leaves out.
    results.push(...(only === undefined ? found : found.map((file) => ({ ...file, skipped: 0 }))));
  }
  return code === 0;
}

function skipped(): Skipped[] {
  if (!existsSync(skippedFile)) return [];
  return readFileSync(skippedFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Skipped);
}
