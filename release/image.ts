import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root } from './bundle.ts';
import { run } from './run.ts';

interface Context {
  /** The repository. */
  readonly from?: string;
  /** Files from elsewhere, which get into the root of the context. */
  readonly added?: readonly string[];
}

/**
 * Packs what `deploy/Dockerfile` needs: `docker build -f deploy/Dockerfile - < file` builds the image from it alone. Only files
 * that git tracks get into it: others, such as settings with keys, are nobody's decision.
 */
export function packImageContext(file: string, { from = root, added = [] }: Context = {}): void {
  const isNeeded = filterOf(readFileSync(join(from, '.dockerignore'), 'utf8'));
  const files = run(['git', 'ls-files', '--cached', '-z'], { cwd: from })
    .split('\0')
    .filter((path) => path === 'deploy/Dockerfile' || (isNeeded(path) && existsSync(join(from, path))));
  // The same files make the same archive.
  const fixed = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
  const others = added.flatMap((path) => ['-C', dirname(path), basename(path)]);
  const words = ['tar', ...fixed, '-czf', file, '-C', from, '--null', '-T', '-', ...others];
  run(words, { cwd: from, stdin: files.filter((path) => path !== '').join('\0') });
}

/** Returns the files of the repository that differ from its last commit, or that git does not know. */
export const uncommitted = (from = root): string[] =>
  run(['git', 'status', '--porcelain', '-z'], { cwd: from })
    .split('\0')
    .filter((entry) => entry !== '');

/** Returns a filter for the few forms that our .dockerignore has: names, paths, `**` before a name, and `!`. The last match counts. */
export function filterOf(ignoreFile: string): (path: string) => boolean {
  const rules = ignoreFile
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ isKept: line.startsWith('!'), glob: line.replace('!', '') }))
    .map(({ isKept, glob }) => ({ isKept, globs: [new Bun.Glob(glob), new Bun.Glob(`${glob}/**`)] }));
  return (path) => rules.findLast(({ globs }) => globs.some((glob) => glob.match(path)))?.isKept ?? true;
}
