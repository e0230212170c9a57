import { Glob } from 'bun';

/** One call of the test runner: some files, and how much of each of them. */
export interface Step {
  readonly files: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Only tests whose name matches. */
  readonly only?: string;
}

export const tiers = ['quick', 'rest'] as const;
export type Tier = (typeof tiers)[number];

/** Everything in the files whose path contains one of these words. */
export async function stepFor(words: readonly string[], root: string): Promise<Step> {
  return { files: (await testFiles(root)).filter((file) => words.some((word) => file.includes(word))), env: {} };
}

const testFiles = async (root: string): Promise<string[]> =>
  (await Array.fromAsync(new Glob('**/*.test.ts').scan(root))).filter((file) => !file.includes('node_modules/')).sort();

/**
 * What a tier runs. Files named `*.full.test.ts` belong to the rest. Suites that are `onAnyEngine` are quick on SQLite and
 * belong to the rest on PostgreSQL; other tests in the same file are quick.
 */
export async function stepsOf(tier: Tier, root: string): Promise<readonly Step[]> {
  const all = await testFiles(root);
  const isFull = (file: string) => file.endsWith('.full.test.ts');
  const quick = all.filter((file) => !isFull(file));
  if (tier === 'quick') return [{ files: quick, env: { PARLEY_TEST_TIER: 'quick' } }];
  const onAnyEngine: string[] = [];
  for (const file of quick) {
    if ((await Bun.file(`${root}/${file}`).text()).includes('onAnyEngine(')) onAnyEngine.push(file);
  }
  return [
    { files: onAnyEngine, env: { PARLEY_TEST_TIER: 'rest' }, only: '\\(PostgreSQL\\)' },
    { files: all.filter(isFull), env: {} },
  ];
}
