import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { inChromium, visitors } from '@parley/server/test/support/chromium.ts';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { Forwarder } from '@parley/server/test/support/forwarder.ts';
import { serverFor } from '@parley/server/test/support/server.ts';

const server = serverFor('sqlite');

/** The SDK in one file that imports whatever a browser has not. */
async function buildBundle(): Promise<{ file: string; imports: string[] }> {
  const outdir = temporaryFolder();
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, '../index.ts')],
    target: 'browser',
    external: ['bun', 'bun:*', 'node:*'],
    naming: 'sdk.mjs',
    outdir,
  });
  const [output] = built.outputs;
  if (!output) throw new Error('nothing was built');
  const imports = new Bun.Transpiler({ loader: 'js' }).scanImports(await output.text());
  return { file: output.path, imports: imports.map((i) => i.path) };
}

const bundle = buildBundle();

describe('the SDK outside Bun', () => {
  test('imports nothing that a browser has not', async () => {
    expect((await bundle).imports).toEqual([]);
  });

  test('runs in Node', async () => {
    const { file } = await bundle;
    const { token } = await server().user('ada');
    const script = `
      import { ApiError, createClient, TransportError } from ${JSON.stringify(file)};
      const client = createClient({ url: process.env.URL, token: process.env.TOKEN });
      const { group } = await client.messages.create_group({ name: 'From Node', participants: [] });
      const { message } = await client.messages.send_message({ chat_id: group.chat_id, content: 'שלום 👋' });
      const upload = await client.files.upload({ file: new File(['from Node'], 'קובץ.txt') });
      const download = await client.files.download({ file_id: upload.file.file_id });
      const stream = client.events({ events: ['new_message', 'message_read'] });
      const begin = await stream.open();
      const { chat_id } = message;
      const live = await client.messages.send_message({ chat_id, content: 'live' });
      await client.messages.mark_read({ chat_id, message_id: live.message.message_id });
      const told = [];
      for await (const { event, event_id } of stream) if (told.push([event, event_id > begin]) === 2) break;
      const refused = await client.chats.get({ chat_id: 999 }).catch((e) => e);
      const away = createClient({ url: 'http://127.0.0.1:9', token: 'x', retries: 1 });
      const unreachable = await away.users.me().catch((e) => e);
      console.log(JSON.stringify({
        content: message.content,
        file: [upload.file.name, await download.text()],
        told,
        refused: [refused instanceof ApiError, refused.code],
        unreachable: [unreachable instanceof TransportError, unreachable.message],
      }));`;
    const child = Bun.spawn(['node', '--input-type=module', '--eval', script], {
      env: { PATH: process.env.PATH ?? '', URL: server().url, TOKEN: token },
      stderr: 'pipe',
    });
    const [said, complaint] = await Promise.all([
      Bun.readableStreamToText(child.stdout),
      Bun.readableStreamToText(child.stderr),
    ]);
    expect(complaint).toBe('');
    expect(JSON.parse(said)).toEqual({
      content: 'שלום 👋',
      file: ['קובץ.txt', 'from Node'],
      told: [
        ['new_message', true],
        ['message_read', false],
      ],
      refused: [true, 'not_found'],
      unreachable: [true, expect.stringMatching(/^Cannot reach Parley at http:\/\/127\.0\.0\.1:9: .+/)],
    });
  });
});

inChromium('the SDK in a browser', () => {
  const visit = visitors();

  test('follows events from a page of another site, through a break', async () => {
    const { file } = await bundle;
    await using elsewhere = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      routes: {
        '/sdk.mjs': new Response(Bun.file(file), { headers: { 'content-type': 'text/javascript' } }),
        '/': new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }),
      },
    });
    const forwarder = await Forwarder.before(Number(new URL(server().url).port));
    const { token } = await server().user('bob');
    const page = await visit();
    // Another site than that of the server, and not only another port.
    await page.goto(`http://localhost:${elsewhere.port}/`);
    const told = await page.evaluate(
      async ({ url, token }) => {
        const { createClient } = (await import(`${location.origin}/sdk.mjs`)) as typeof import('../index.ts');
        const client = createClient({ url, token });
        const stopping = new AbortController();
        let breaks = 0;
        const stream = client.events({ signal: stopping.signal, onBreak: () => breaks++ });
        await stream.open();
        const { group } = await client.messages.create_group({ name: 'From a browser', participants: [] });
        const { chat_id } = group;
        for (let i = 0; i < 40; i++) {
          await client.messages.send_message({ chat_id, content: `${i} ${'x'.repeat(10_000)}` });
        }
        const contents: string[] = [];
        for await (const item of stream) {
          if (item.event === 'new_message') contents.push(item.data.content.split(' ')[0] ?? '');
          if (contents.length === 40) break;
        }
        const late = client.events({ signal: stopping.signal });
        await late.open();
        const waiting = late.next().catch((error: unknown) => String(error));
        stopping.abort(new Error('enough'));
        return { contents, breaks, end: await waiting };
      },
      { url: cutting(forwarder), token },
    );
    forwarder.stop();
    expect(told).toEqual({
      contents: Array.from({ length: 40 }, (_, i) => String(i)),
      breaks: 1,
      end: 'Error: enough',
    });
  });
});

/** The address of a proxy that cuts one answer, once it is long. */
function cutting(forwarder: Forwarder): string {
  forwarder.cutAnswers(1, 100_000);
  return `http://127.0.0.1:${forwarder.port}`;
}
