import { Database } from 'bun:sqlite';
import { given, say } from '../../harness/helper.ts';

/** Holds the write lock of a server's database until SIGTERM. */
const { file } = await given<{ file: string }>();
const database = new Database(file, { readwrite: true });
database.run('PRAGMA busy_timeout = 30000');
database.run('BEGIN IMMEDIATE');
process.on('SIGTERM', () => {
  database.run('COMMIT');
  database.close();
  process.exit(0);
});
say('held');
// Keeps the process alive.
setInterval(() => {}, 60_000);
