import { join } from 'node:path';
import { eventExamples } from '@parley/contract';

export const sdkExamplesFile = join(import.meta.dir, '../../sdk/event-examples.ts');

/** Returns `sdk/event-examples.ts`. It is a file of its own, because a client that only makes calls does not need it. */
export const sdkExamples = (): string =>
  [
    '// Generated from the contract by `npm run docs`. Do not edit.',
    "import type { EventData } from './operations.ts';",
    '',
    '/** An example of the data of each event. */',
    'export const eventExamples: { readonly [E in keyof EventData]: EventData[E] } =',
    `${JSON.stringify(eventExamples, null, 2)};\n`,
  ].join('\n');
