import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { temporaryFolder } from './cleanup.ts';

export const root = join(import.meta.dir, '../../..');

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Returns the instructions of the Dockerfile, each on one line. */
export function instructions(): Instruction[] {
  const lines = read('deploy/Dockerfile')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
      return { name, text };
    });
}

/** Returns the paths that are copied out of the repository, in order. */
export function copied(): { readonly source: string; readonly target: string }[] {
  return instructions()
    .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from='))
    .flatMap(({ text }) => {
      const words = text.split(/ +/);
      const target = words.pop() ?? '';
      // A pattern may match nothing.
      const sources = words.flatMap((word) => (word.includes('*') ? [...new Bun.Glob(word).scanSync(root)] : [word]));
      return sources.map((source) => ({
        source,
        target: target.endsWith('/') ? join(target, source.split('/').pop() ?? '') : target,
      }));
    });
}

/** Returns true if .dockerignore excludes a path: the last pattern that matches it or a parent folder decides. */
export function isIgnored(path: string): boolean {
  const patterns = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const above = path.split('/').map((_, i, parts) => parts.slice(0, i + 1).join('/'));
  return patterns.reduce((ignored, pattern) => {
    const isException = pattern.startsWith('!');
    const glob = new Bun.Glob(isException ? pattern.slice(1) : pattern);
    return above.some((one) => glob.match(one)) ? !isException : ignored;
  }, false);
}

interface LockedPackage {
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly resolved?: string;
}

/** Builds the program folder of the image as the Dockerfile does, from the packages that are installed here. */
export async function layOut(): Promise<string> {
  const folder = temporaryFolder();
  for (const { source, target } of copied()) {
    const from = join(root, source);
    cpSync(from, join(folder, target), { recursive: true, filter: (file) => !isIgnored(relative(root, file)) });
  }
  installInto(folder);
  for (const { name, text } of instructions()) {
    if (name !== 'RUN' || !text.startsWith('rm ')) continue;
    const stripping = Bun.spawn(['sh', '-ec', text], { cwd: folder, stderr: 'pipe' });
    const complaint = await new Response(stripping.stderr).text();
    if ((await stripping.exited) !== 0) throw new Error(`${text}: ${complaint}`);
  }
  return folder;
}

/** Does what `npm ci --omit=dev` does, without the network. Bun itself is not copied. */
function installInto(folder: string): void {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, LockedPackage> };
  for (const [path, { dev, link, resolved = '' }] of Object.entries(packages)) {
    const target = join(folder, path);
    if (!path.startsWith('node_modules/') || dev || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(target), { recursive: true });
    if (link) {
      if (existsSync(join(folder, resolved))) symlinkSync(relative(dirname(target), join(folder, resolved)), target);
    } else if (/^node_modules\/(bun|@oven\/.*)$/.test(path)) mkdirSync(target);
    else if (!existsSync(target)) cpSync(join(root, path), target, { recursive: true });
  }
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
}
