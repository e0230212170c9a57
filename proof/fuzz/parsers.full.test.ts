import { describe, test } from 'bun:test';
import { parsers } from './parsers.ts';
import { attempt } from './subject.ts';

describe('whatever is to be read', () => {
  for (const one of parsers) test(one.name, () => attempt(one, 'parsers'));
});
