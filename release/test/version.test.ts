import { expect, test } from 'bun:test';
import { stampWorkspaces } from '../version.ts';

test('every workspace has the version of the root, also where it requires another', () => {
  expect(stampWorkspaces().map(({ file }) => file)).toEqual([]);
});
