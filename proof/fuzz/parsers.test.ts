import { describe, test } from 'bun:test';
import { parsers } from './parsers.ts';
import { attempt } from './subject.ts';

/** The first third of the inputs. `npm run test:all` tries them all. */
const share = 1 / 3;

describe('a few of all things that may be to be read', () => {
  for (const one of parsers) test(one.name, () => attempt(one, 'parsers', { runs: Math.ceil(one.runs * share) }));
});
