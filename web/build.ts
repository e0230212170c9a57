/** Bundles the client and prints its files as JSON. The server runs it in a process of its own: see `server/pages/client-bundle.ts`. */
import { join } from 'node:path';

const common = {
  target: 'browser' as const,
  // The SDK's sources. Its other entries need a build first.
  conditions: ['bun', 'browser'],
  minify: true,
  define: { 'process.env.NODE_ENV': '"production"' },
} satisfies Partial<Bun.BuildConfig>;

/** Without a connection there is no API to read about, so the worker does not store this part. It is as large as all of the first load. */
const onlinePart = 'ui/docs/index.ts';

const [main, worker, forget] = await Promise.all([
  Bun.build({
    ...common,
    entrypoints: [join(import.meta.dir, 'main.tsx')],
    splitting: true,
    naming: '[name]-[hash].[ext]',
    metafile: true,
  }),
  // One file: not every browser can import from a service worker.
  Bun.build({ ...common, entrypoints: [join(import.meta.dir, 'worker/worker.ts')], format: 'iife', metafile: true }),
  Bun.build({ ...common, entrypoints: [join(import.meta.dir, 'forget.ts')], metafile: true }),
]);

const { outputs, metafile } = main;

const isOnlinePart = (path: string): boolean => metafile?.outputs[path]?.entryPoint?.endsWith(onlinePart) ?? false;

const files = await Promise.all(
  outputs.map(async (output) => ({
    name: output.path.replace(/^.*\//, ''),
    type: output.type,
    // A part that comes later repeats styles of the first one. It must not have others: nothing would load them.
    isEntry: output.kind === 'entry-point' || /^(?:.*\/)?main-\w+\.css$/.test(output.path),
    isOffline: !isOnlinePart(output.path),
    body: Buffer.from(await output.arrayBuffer()).toString('base64'),
  })),
);
const scripts = { worker: await worker.outputs[0]?.text(), forget: await forget.outputs[0]?.text() };
process.stdout.write(JSON.stringify({ files, ...scripts }));

// A release asks for the descriptions of the bundles, to know whose code is in them.
const [metafiles] = process.argv.slice(2);
if (metafiles) await Bun.write(metafiles, JSON.stringify([main, worker, forget].map((built) => built.metafile)));
