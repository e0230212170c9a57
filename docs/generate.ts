import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pages, referenceFolder } from './generate/pages.ts';

/** Writes the reference from the tables that the service runs on: `npm run docs`. */
mkdirSync(referenceFolder, { recursive: true });
for (const [name, text] of Object.entries(pages())) await Bun.write(join(referenceFolder, name), text);
