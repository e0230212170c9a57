/** The writer thread, which ends as soon as there is a file `end` in the data folder. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import '../../store/engine/sqlite/thread.ts';

const file = join(process.env.PARLEY_DATA ?? '', 'end');
setInterval(() => {
  if (existsSync(file)) process.exit();
}, 20);
