import { expect, test } from 'bun:test';
import { clientBundle } from '@parley/server/pages/client-bundle.ts';

const kilobyte = 1_000;

test('the first load has at most 100 KB of scripts, and code is coloured by a part that comes later', async () => {
  const { files, scripts } = await clientBundle()();
  const first = new Set<string>();
  const visit = (name: string) => {
    const file = files.get(name);
    if (!file || first.has(name)) return;
    first.add(name);
    const source = new TextDecoder().decode(file.bytes);
    // Imports that run at once. `import(…)` loads later.
    for (const [, imported = ''] of source.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) visit(imported);
  };
  for (const name of scripts) visit(name);
  const bytes = [...first].reduce((sum, name) => sum + (files.get(name)?.gzipped.length ?? 0), 0);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(100 * kilobyte);
  const later = [...files.keys()].filter((name) => name.endsWith('.js') && !first.has(name));
  expect(later.some((name) => (files.get(name)?.gzipped.length ?? 0) > 20 * kilobyte)).toBe(true);
});
