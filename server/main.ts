import { resolve } from 'node:path';
import { type Parley, processRuntime, startParley, version } from './compose.ts';
import { readSettings, SettingError, type Settings } from './config.ts';
import { StorageError } from './files/storage/blobs.ts';
import { framed } from './lib/framed.ts';
import { FolderError } from './store/data-folder/folder.ts';
import { SchemaError } from './store/engine/migrate.ts';
import { untilReachable } from './store/engine/reach.ts';
import { ThreadEnded } from './store/engine/sqlite/writer-thread.ts';

/** A second signal after this time ends the process at once. An earlier one is npm's copy of the terminal's Ctrl-C. */
const impatientMs = 1_000;

/** A start that a signal meets gets this long to finish, so that the server can stop in order. After it, the process ends at once. */
const maxStartMs = 1_000;

/** Then the memory that only the start needed is given back: 2 MB. */
const afterStartMs = 1_000;

/** PostgreSQL may still be starting. */
const maxReachMs = 60_000;

/** Runs the server until a signal. An error that the operator can fix is printed as one line. */
export async function serve(): Promise<void> {
  try {
    const settings = readSettings(process.env);
    let starting: Promise<Parley> | undefined;
    stopOnSignals(() => starting);
    // Instead of that of the command line, which shows no stack.
    process.removeAllListeners('uncaughtException').on('uncaughtException', endWith);
    await reachDatabase(settings);
    starting = startParley(settings, processRuntime);
    const parley = await starting;
    say(...welcome(parley, settings));
    setTimeout(Bun.shrink, afterStartMs).unref();
  } catch (error) {
    endWith(error);
  }
}

function endWith(error: unknown): never {
  process.stderr.write(`${plainLine(error)}\n`);
  process.exit(1);
}

/** What the operator has to know. The link is on a line of its own, so that terminals do not break it. */
function welcome(parley: Parley, { databaseUrl, natsUrl, s3, ...settings }: Settings): string[] {
  const folder = resolve(settings.folder);
  const files = s3
    ? `Files are stored in the bucket ${s3.bucket} at ${s3.endpoint}`
    : natsUrl
      ? `Files are stored in ${folder}. All servers must share it, or set S3_URL`
      : databaseUrl !== undefined && `Files are stored in ${folder}`;
  const lines = [
    `Parley ${version} is listening on ${parley.url}`,
    parley.isLocal && 'Only this machine can reach it. To let others in, set HOST',
    `Data is stored in ${databaseUrl === undefined ? folder : 'PostgreSQL'}`,
    files,
  ].filter((line) => typeof line === 'string');
  if (parley.setupLink === undefined) return lines;
  return [...lines, ...setupLines(parley.setupLink)];
}

const setupLines = (link: string): string[] => [
  ...(process.stderr.isTTY ? [''] : []),
  'There is no administrator yet. Open this link to become one:',
  link,
];

/** Writes to standard error, in a frame on a terminal. `console.error` would print it in red there. */
function say(...lines: string[]): void {
  const { isTTY, columns } = process.stderr;
  process.stderr.write(`${(isTTY ? framed(lines, columns || 80) : lines).join('\n')}\n`);
}

async function reachDatabase({ databaseUrl }: Settings): Promise<void> {
  if (databaseUrl === undefined) return;
  let reported: string | undefined;
  await untilReachable(databaseUrl, maxReachMs, (why) => {
    if (why !== reported) process.stderr.write(`Cannot reach the database yet: ${why}; trying again\n`);
    reported = why;
  });
}

/** Stops the server gracefully. Signals are handled from the start, so one that arrives early is not lost. */
function stopOnSignals(started: () => Promise<Parley> | undefined): void {
  let stoppingSince: number | undefined;
  const stop = () => {
    const starting = started();
    if (!starting) process.exit(0);
    if (stoppingSince !== undefined && performance.now() - stoppingSince > impatientMs) process.exit(1);
    if (stoppingSince !== undefined) return;
    stoppingSince = performance.now();
    // A start can hang on a disk, or on a thread or service that does not respond. What it has not finished, the next one does.
    const overdue = setTimeout(() => process.exit(0), maxStartMs);
    void starting
      .then((parley) => {
        clearTimeout(overdue);
        return parley.stop();
      })
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function plainLine(error: unknown): string {
  if ([SettingError, FolderError, SchemaError, StorageError].some((kind) => error instanceof kind))
    return (error as Error).message;
  if (error instanceof ThreadEnded) return `Parley has to stop: ${error.message}`;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (code === 'unavailable') return `Cannot reach the database: ${(cause as Error).message}`;
  return `Parley has failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

if (import.meta.main) await serve();
