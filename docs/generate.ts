import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pages, referenceFolder } from './generate/pages.ts';
import { performanceFiles } from './generate/performance/page.ts';
import { sdkExamples, sdkExamplesFile } from './generate/sdk-examples.ts';
import { sdkOperations, sdkOperationsFile } from './generate/sdk-operations.ts';

/**
 * `npm run docs`: generates the reference from the contract and the settings table, the operations and examples of the SDK
 * from the contract, and the tables and plots of the performance page from the recorded benchmark results.
 */
mkdirSync(referenceFolder, { recursive: true });
for (const [name, text] of Object.entries(pages())) await Bun.write(join(referenceFolder, name), text);
await Bun.write(sdkOperationsFile, sdkOperations());
await Bun.write(sdkExamplesFile, sdkExamples());
for (const [file, text] of Object.entries(await performanceFiles())) await Bun.write(file, text);
