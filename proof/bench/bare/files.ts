import { open } from 'node:fs/promises';
import { given, say } from '../../harness/helper.ts';

/**
 * Streams the body of each POST into a new file of its folder, and returns the last one for a GET. It authenticates, parses
 * and hashes nothing. At `/soon` it does not wait until the file is on disk.
 */
const { folder } = await given<{ folder: string }>();
let count = 0;
const lastFile = () => `${folder}/${count}`;

async function sync(path: string): Promise<void> {
  const handle = await open(path);
  await handle.sync();
  await handle.close();
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  async fetch({ method, url, body }) {
    if (method !== 'POST') return new Response(url.endsWith('/healthz') ? 'ok' : Bun.file(lastFile()));
    count++;
    const path = lastFile();
    const writer = Bun.file(path).writer();
    for await (const bytes of body ?? []) {
      writer.write(bytes);
      await writer.flush();
    }
    await writer.end();
    if (!url.endsWith('/soon')) await sync(path);
    return new Response('{"success":true}');
  },
});
say(server.port);
