import { afterAll, beforeAll, expect, test } from 'bun:test';
import { listOperations } from '@parley/contract';
import { onBothEngines } from '../server/test/support/engines.ts';
import { http } from './http.ts';
import { Stage } from './stage.ts';

onBothEngines('whatever is asked of the server', (engine) => {
  let open: Stage | undefined;
  const stage = () => {
    if (!open) throw new Error('the server has not been started yet');
    return open;
  };
  const { subjects, calls } = http(stage);
  beforeAll(async () => {
    open = await Stage.open(engine);
  });

  for (const one of subjects) {
    test(one.name, async () => {
      await stage().attempt(one);
    });
  }

  test('every operation was carried out at times, and refused at times', () => {
    const names = listOperations().map(({ name }) => name as string);
    expect(names.filter((name) => !calls.taken.has(name))).toEqual([]);
    expect(names.filter((name) => !calls.refused.has(name))).toEqual([]);
  });

  test('the server is well, and ends in order', async () => {
    await stage().check();
    await stage().close();
    open = undefined;
  });

  afterAll(() => open?.close());
});
