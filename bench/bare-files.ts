import { open } from 'node:fs/promises';

/**
 * The baseline of the files: a server that streams the body of a POST into a file of its folder, and answers a GET with
 * that file. It knows nobody, parses nothing and hashes nothing. At `/soon` it does not wait until the file is on disk.
 */
const folder = process.env.FOLDER ?? '';
const file = Bun.file(`${folder}/bare`);

async function sync(): Promise<void> {
  const handle = await open(`${folder}/bare`);
  await handle.sync();
  await handle.close();
}

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT),
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  async fetch(request) {
    if (request.method !== 'POST') return new Response(request.url.endsWith('/healthz') ? 'ok' : file);
    const writer = file.writer();
    for await (const bytes of request.body ?? []) {
      writer.write(bytes);
      await writer.flush();
    }
    await writer.end();
    if (!request.url.endsWith('/soon')) await sync();
    return new Response('{"success":true}');
  },
});
