import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Embedded } from '@parley/server/lib/embedded.ts';
import packageJson from '../package.json' with { type: 'json' };
import { type BundledPackage, packagesOf, sourcesOf } from './contents.ts';
import { noticesFile, noticesOf } from './notices.ts';

export const root = join(import.meta.dir, '..');

const mainFile = join(root, 'cli/main.ts');
const threadFile = join(root, 'server/store/engine/sqlite/thread.ts');
const migrationFolder = join(root, 'server/store/migrations');

/** The runtime of another kind of machine. */
interface Runtime {
  readonly file: string;
  readonly target: string;
  readonly hasBytecode: boolean;
}

type Destination =
  /** One file: a runtime, which is by default this one, with everything in it. */
  | { readonly executable: string; readonly runtime?: Runtime }
  /** A folder of JavaScript for a runtime that is installed. */
  | { readonly folder: string };

/** What a bundle is made of. */
export interface Contents {
  readonly packages: readonly BundledPackage[];
  /** The licenses of the packages. The bundle has them too. */
  readonly notices: string;
}

const common = {
  entrypoints: [mainFile, threadFile],
  root,
  target: 'bun',
  conditions: ['bun'],
  // A command loads only its own parts, and none of them is parsed: `parley --version` took 80 ms without both.
  splitting: true,
  format: 'esm',
  minify: true,
  define: { 'process.env.NODE_ENV': '"production"' },
} satisfies Bun.BuildConfig;

/** Bundles the command line, the server and the web client. */
export async function bundle(destination: Destination): Promise<Contents> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bundle-'));
  try {
    const files = { client: join(folder, 'client.json'), notices: join(folder, noticesFile) };
    const contents = await buildContents(files.client, join(folder, 'metafiles.json'));
    writeFileSync(files.notices, contents.notices);
    await Bun.build({
      ...common,
      bytecode: 'executable' in destination && (destination.runtime?.hasBytecode ?? true),
      plugins: [withEmbedded(files)],
      ...('folder' in destination
        ? { outdir: destination.folder }
        : {
            compile: {
              outfile: destination.executable,
              ...(destination.runtime && {
                target: destination.runtime.target as Bun.Build.CompileTarget,
                executablePath: destination.runtime.file,
              }),
              // A folder must not decide what the program does in it. `serve` reads .env by itself.
              autoloadDotenv: false,
              autoloadBunfig: false,
            },
          }),
    });
    return contents;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds the web client, and returns what is in it and in the rest. The bundler is fast enough to run only for its list of files. */
async function buildContents(clientFile: string, metafiles: string): Promise<Contents> {
  writeFileSync(clientFile, buildClient(metafiles));
  const client = JSON.parse(readFileSync(metafiles, 'utf8')) as Bun.BuildMetafile[];
  const { metafile } = await Bun.build({ ...common, metafile: true });
  const packages = packagesOf([...client, metafile].flatMap(sourcesOf), root);
  return { packages, notices: noticesOf(packages, packageJson.dependencies.bun) };
}

/** The web client as `web/build.ts` prints it. In a process of its own, as the server does it. */
function buildClient(metafiles: string): Uint8Array {
  const build = Bun.spawnSync([process.execPath, join(root, 'web/build.ts'), metafiles], { stderr: 'inherit' });
  if (!build.success) throw new Error('The web client could not be built.');
  return build.stdout;
}

/** Replaces `server/lib/embedded.ts`. The module ends up in a chunk, and chunks are at the root of the bundle. */
const withEmbedded = (files: { readonly client: string; readonly notices: string }): Bun.BunPlugin => ({
  name: 'embedded',
  setup(build) {
    build.onLoad({ filter: /[\\/]server[\\/]lib[\\/]embedded\.ts$/ }, () => {
      const names = readdirSync(migrationFolder).filter((name) => name.endsWith('.sql'));
      const migrations: Embedded['migrations'] = Object.fromEntries(
        names.sort().map((name) => [name, readFileSync(join(migrationFolder, name), 'utf8')]),
      );
      return {
        loader: 'ts',
        contents: `
          import { resolve } from 'node:path';
          import clientFile from ${JSON.stringify(files.client)} with { type: 'file' };
          import noticesFile from ${JSON.stringify(files.notices)} with { type: 'file' };
          export const embedded = {
            migrations: ${JSON.stringify(migrations)},
            clientFile: resolve(import.meta.dir, clientFile),
            noticesFile: resolve(import.meta.dir, noticesFile),
            cliFile: Bun.isStandaloneExecutable ? undefined : resolve(import.meta.dir, 'cli/main.js'),
            threadUrl: new URL('./server/store/engine/sqlite/thread.js', import.meta.url).href,
          };`,
      };
    });
  },
});
