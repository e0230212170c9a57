import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle.ts';
import { run } from './run.ts';

/** Packs what `deploy/Dockerfile` needs: `docker build -f deploy/Dockerfile - < file` builds the image from it alone. */
export function packImageContext(file: string): void {
  const isNeeded = filterOf(readFileSync(join(root, '.dockerignore'), 'utf8'));
  const files = run(['git', 'ls-files', '--cached', '--others', '--exclude-standard'])
    .split('\n')
    .filter((path) => path === 'deploy/Dockerfile' || isNeeded(path));
  // The same files make the same archive.
  const fixed = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
  run(['tar', ...fixed, '-czf', file, '-T', '-'], { stdin: files.join('\n') });
}

/** Returns a filter for the few forms that our .dockerignore has: names, paths, `**` before a name, and `!`. The last match counts. */
export function filterOf(ignoreFile: string): (path: string) => boolean {
  const rules = ignoreFile
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ isKept: line.startsWith('!'), glob: line.replace('!', '') }))
    .map(({ isKept, glob }) => ({ isKept, globs: [new Bun.Glob(glob), new Bun.Glob(`${glob}/**`)] }));
  return (path) => rules.findLast(({ globs }) => globs.some((glob) => glob.match(path)))?.isKept ?? true;
}
