import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A file to preload: gives the server another writer thread, the file in TEST_THREAD. It replaces the module that an executable
 * replaces, and so it has the migrations, too.
 */
const folder = join(import.meta.dir, '../../store/migrations');
const migrations = Object.fromEntries(
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
);
const embedded = {
  migrations,
  clientFile: '',
  cliFile: undefined,
  threadUrl: Bun.pathToFileURL(process.env.TEST_THREAD ?? '').href,
};

Bun.plugin({
  name: 'another writer thread',
  setup: (build) =>
    void build.onLoad({ filter: /\/server\/lib\/embedded\.ts$/ }, () => ({
      contents: `export const embedded = ${JSON.stringify(embedded)};`,
      loader: 'ts',
    })),
});
