import { Database } from 'bun:sqlite';
import { given, say } from './frame/say.ts';

/** Another process that writes to the database of a server, and takes its time. */
const { file, ms } = given<{ file: string; ms: number }>();
const database = new Database(file, { readwrite: true });
database.run('PRAGMA busy_timeout = 30000');
database.run('BEGIN IMMEDIATE');
say('held');
await Bun.sleep(ms);
database.run('COMMIT');
database.close();
say('let go');
