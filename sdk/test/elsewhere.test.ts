import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
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
      const refused = await client.chats.get({ chat_id: 999 }).catch((e) => e);
      const away = createClient({ url: 'http://127.0.0.1:9', token: 'x', retries: 1 });
      const unreachable = await away.users.me().catch((e) => e);
      console.log(JSON.stringify({
        content: message.content,
        file: [upload.file.name, await download.text()],
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
      refused: [true, 'not_found'],
      unreachable: [true, expect.stringMatching(/^Cannot reach Parley at http:\/\/127\.0\.0\.1:9: .+/)],
    });
  });
});
