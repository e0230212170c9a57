/** Builds the executable for this machine: `dist/parley`, or the file that is given. */
import { resolve } from 'node:path';
import { bundle, root } from './bundle.ts';

const [file = resolve(root, 'dist/parley')] = process.argv.slice(2);
await bundle({ executable: resolve(file) });
process.stdout.write(`${file}\n`);
