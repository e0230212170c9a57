/** Runs the tests of tiers (`bun test/run.ts quick rest`), or of some files (`bun test/run.ts streams cli/`). */
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { temporaryFolder } from '../server/test/support/cleanup.ts';
import { postgresMissing, sharedPostgresVariable, startPostgres } from '../server/test/support/postgres.ts';
import { type Failure, Output } from './output.ts';
import { type FileResult, readReport, type Skipped, summary } from './summary.ts';
import { type Step, stepFor, stepsOf, type Tier, tiers } from './tiers.ts';

const root = join(import.meta.dir, '..');
const folder = temporaryFolder();
const skippedFile = join(folder, 'skipped.jsonl');

/** Catches hangs, and nothing else. */
const timeoutMs = 120_000;

const isTier = (word: string): word is Tier => (tiers as readonly string[]).includes(word);

const words = process.argv.slice(2);
const steps = (
  words.every(isTier)
    ? (await Promise.all(words.map((tier) => stepsOf(tier, root)))).flat()
    : [await stepFor(words, root)]
).filter(({ files }) => files.length > 0);
if (steps.length === 0) {
  process.stderr.write(`Name what to run: ${tiers.join(', ')}, both, or parts of the paths of test files.\n`);
  process.exit(2);
}

const started = performance.now();
const postgres = postgresMissing === undefined ? await startPostgres({ fsync: false }) : undefined;
const results: FileResult[] = [];
const failures: Failure[] = [];
const processes = availableParallelism();
const files = steps.reduce((total, step) => total + step.files.length, 0);
for (const [i, step] of steps.entries()) {
  const part = steps.length > 1 ? `Step ${i + 1} of ${steps.length}: ` : '';
  process.stdout.write(`${part}${step.files.length} test files, ${processes} at a time\n`);
  await run(step, join(folder, `report-${i}.xml`));
}
await postgres?.stop('immediate');
const seconds = (performance.now() - started) / 1_000;
process.stdout.write(`\n${summary({ files, results, failures, skipped: skipped(), seconds }).join('\n')}\n`);
process.exit(failures.length === 0 ? 0 : 1);

/** Runs one step, shows how it goes, and notes its results. */
async function run({ files, env, only }: Step, report: string): Promise<void> {
  const child = Bun.spawn(
    [
      process.execPath,
      'test',
      `--timeout=${timeoutMs}`,
      `--parallel=${processes}`,
      '--no-isolate',
      // The files in it run last, the slowest first: a slow one at the end would leave the other processors idle.
      `--timings=${join(import.meta.dir, 'timings.json')}`,
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
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const screen = {
    write: (text: string) => void process.stdout.write(text),
    columns: () => (process.stdout.isTTY ? process.stdout.columns : undefined),
    hasColours: process.stdout.isTTY && !process.env.NO_COLOR,
    now: () => performance.now(),
  };
  const output = new Output(screen, files.length);
  const ticking = setInterval(() => output.tick(), 1_000);
  const read = async (stream: ReadableStream<Uint8Array>) => {
    for await (const line of createInterface(Readable.fromWeb(stream as never))) output.line(line);
  };
  await Promise.all([read(child.stdout), read(child.stderr)]);
  const code = await child.exited;
  clearInterval(ticking);
  output.end();
  failures.push(...output.failures);
  if (code !== 0 && output.failures.length === 0) {
    failures.push({ file: 'the test runner', test: `(ended with ${child.signalCode ?? code})` });
  }
  if (existsSync(report)) {
    const found = readReport(readFileSync(report, 'utf8'));
    // The report calls skipped what the pattern leaves out.
    results.push(...(only === undefined ? found : found.map((file) => ({ ...file, skipped: 0 }))));
  }
}

function skipped(): Skipped[] {
  if (!existsSync(skippedFile)) return [];
  return readFileSync(skippedFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Skipped);
}
