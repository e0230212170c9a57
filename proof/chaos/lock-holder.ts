import { Database } from 'bun:sqlite';
import { given, say } from './frame/say.ts';

/** Another process that writes to the database of a server, and takes its time: until it is told to end. */
const { file } = given<{ file: string }>();
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
