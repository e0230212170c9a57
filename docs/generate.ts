import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pages, referenceFolder } from './generate/pages.ts';
import { performanceFiles } from './generate/performance/page.ts';

/**
 * Writes the reference from the tables that the service runs on, and the figures and plots of the page on performance from
 * what was measured: `npm run docs`.
 */
mkdirSync(referenceFolder, { recursive: true });
for (const [name, text] of Object.entries(pages())) await Bun.write(join(referenceFolder, name), text);
for (const [file, text] of Object.entries(await performanceFiles())) await Bun.write(file, text);
