import { open } from 'node:fs/promises';

/**
 * The baseline of the files: a server that streams the body of each POST into a new file of its folder, and answers a GET
 * with the last one. It knows nobody, parses nothing and hashes nothing. At `/soon` it does not wait until the file is on
 * disk.
 */
let count = 0;
const lastFile = () => `${process.env.FOLDER}/${count}`;

async function sync(path: string): Promise<void> {
  const handle = await open(path);
  await handle.sync();
  await handle.close();
}

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT),
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
