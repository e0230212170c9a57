import { expect, test } from 'bun:test';
import { listOperations } from '@parley/contract';
import { onBothEngines } from '../../server/test/support/engines.ts';
import { tryHttp } from './test/http-suite.ts';

onBothEngines('whatever is asked of the server', (engine) => {
  tryHttp(engine, 1, (calls) => {
    test('every operation was carried out at times, and refused at times', () => {
      const names = listOperations().map(({ name }) => name as string);
      expect(names.filter((name) => !calls.taken.has(name))).toEqual([]);
      expect(names.filter((name) => !calls.refused.has(name))).toEqual([]);
    });
  });
});
