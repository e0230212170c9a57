/** A writer thread that starts and never responds. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';

parentPort?.on('message', () => writeFileSync(join(process.env.PARLEY_DATA ?? '', 'asked'), ''));
