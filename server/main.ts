import { resolve } from 'node:path';
import { type Parley, processRuntime, startParley, version } from './compose.ts';
import { readSettings, SettingError, type Settings } from './config.ts';
import { StorageError } from './files/storage/blobs.ts';
import { FolderError } from './store/data-folder/folder.ts';
import { SchemaError } from './store/engine/migrate.ts';
import { untilReachable } from './store/engine/reach.ts';

/** A second signal after this time ends the process at once. */
const impatientMs = 1_000;

/** So long a server that starts waits for PostgreSQL, which may be starting as well. */
const reachMs = 60_000;

/** Starts the server for as long as the process lives; a fault that the operator can mend is one plain line. */
export async function serve(): Promise<void> {
  try {
    const settings = readSettings(process.env);
    let starting: Promise<Parley> | undefined;
    stopOnSignals(() => starting);
    await reachDatabase(settings);
    starting = startParley(settings, processRuntime);
    const parley = await starting;
    console.error(`Parley ${version} is listening on ${parley.url}`);
    console.error(
      settings.databaseUrl === undefined ? `Data is kept in ${resolve(settings.folder)}` : 'Data is kept in PostgreSQL',
    );
    const { s3 } = settings;
    if (s3) console.error(`Files are kept in the bucket ${s3.bucket} at ${s3.endpoint}`);
    else if (settings.databaseUrl !== undefined) {
      const shared = settings.natsUrl ? ', which all servers on this database have to share; or set S3_URL' : '';
      console.error(`Files are kept in ${resolve(settings.folder)}${shared}`);
    }
    if (parley.setupLink) {
      console.error(`There is no administrator yet. Open this link to become one: ${parley.setupLink}`);
    }
  } catch (error) {
    console.error(plainLine(error));
    process.exit(1);
  }
}

async function reachDatabase({ databaseUrl }: Settings): Promise<void> {
  if (databaseUrl === undefined) return;
  let said: string | undefined;
  await untilReachable(databaseUrl, reachMs, (why) => {
    if (why !== said) console.error(`Cannot reach the database yet: ${why}; trying again`);
    said = why;
  });
}

/** From the very start: whoever reads that the server is listening may stop it at once, and gracefully. */
function stopOnSignals(started: () => Promise<Parley> | undefined): void {
  let stoppingSince: number | undefined;
  const stop = () => {
    const starting = started();
    if (!starting) process.exit(0);
    // Whoever asks again later does not want to wait; at once, it is npm that passes a terminal's Ctrl-C on.
    if (stoppingSince !== undefined && performance.now() - stoppingSince > impatientMs) process.exit(1);
    if (stoppingSince !== undefined) return;
    stoppingSince = performance.now();
    void starting
      .then((parley) => parley.stop())
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
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (code === 'unavailable') return `Cannot reach the database: ${(cause as Error).message}`;
  return `Parley cannot start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

if (import.meta.main) await serve();
