/** Bundles the client and prints its files as JSON. The server runs it in a process of its own: see `server/pages/client-bundle.ts`. */
import { join } from 'node:path';

const { outputs } = await Bun.build({
  entrypoints: [join(import.meta.dir, 'main.tsx')],
  target: 'browser',
  // The SDK's sources. Its other entries need a build first.
  conditions: ['bun', 'browser'],
  splitting: true,
  minify: true,
  naming: '[name]-[hash].[ext]',
  define: { 'process.env.NODE_ENV': '"production"' },
});

const files = await Promise.all(
  outputs.map(async (output) => ({
    name: output.path.replace(/^.*\//, ''),
    type: output.type,
    isEntry: output.kind === 'entry-point' || output.path.endsWith('.css'),
    body: Buffer.from(await output.arrayBuffer()).toString('base64'),
  })),
);
process.stdout.write(JSON.stringify(files));
