/**
 * The baseline of the files: a server that streams the body of a POST into a file of its folder, and answers a GET with
 * that file. It knows nobody, parses nothing, hashes nothing, and does not wait for the disk.
 */
const folder = process.env.FOLDER ?? '';
const file = Bun.file(`${folder}/bare`);

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
    return new Response('{"success":true}');
  },
});

export {};
