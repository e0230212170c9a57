import { expect, test } from 'bun:test';
import { clientBundle } from '@parley/server/pages/client-bundle.ts';
import { firstScripts } from './first-load.ts';

const kilobyte = 1_000;

test('the first load has at most 100 KB of scripts; colours of code, the console and the documentation come later', async () => {
  const bundle = await clientBundle()();
  const { files } = bundle;
  const first = firstScripts(bundle);
  const bytes = [...first].reduce((sum, name) => sum + (files.get(name)?.gzipped.length ?? 0), 0);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(100 * kilobyte);
  const later = [...files.keys()].filter((name) => name.endsWith('.js') && !first.has(name));
  expect(later.some((name) => (files.get(name)?.gzipped.length ?? 0) > 30 * kilobyte)).toBe(true);
  const having = (words: string) =>
    [...files].filter(([, { bytes }]) => new TextDecoder().decode(bytes).includes(words)).map(([name]) => name);
  expect(having('New webhook').map((name) => later.includes(name))).toEqual([true]);
  // The API reference has the guides. The service worker stores everything else.
  const docs = having('# Life of a request');
  expect(docs.map((name) => later.includes(name))).toEqual([true]);
  expect([...files].filter(([, { isOffline }]) => !isOffline).map(([name]) => name)).toEqual(docs);
});
