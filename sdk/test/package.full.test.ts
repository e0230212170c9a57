import { beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { inChromium, visitors } from '@parley/server/test/support/chromium.ts';
import { endWithUs, temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { eventually } from './eventually.ts';

const root = join(import.meta.dir, '../..');
const server = serverFor('sqlite');
const entries = ['@parley-chat/sdk', '@parley-chat/sdk/bot', '@parley-chat/sdk/uploads', '@parley-chat/sdk/webhook'];

/** The tarball of `npm pack`. */
let tarball = '';
/** A project that was empty before the tarball was installed. */
let project = '';

beforeAll(async () => {
  const folder = temporaryFolder();
  await run(['npm', 'pack', '--silent', '--pack-destination', folder], join(root, 'sdk'));
  const [name = ''] = readdirSync(folder);
  tarball = join(folder, name);
  project = await install(temporaryFolder());
});

/** Runs a command that must succeed and say nothing on standard error. Returns its output. */
async function run(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    // The settings of whoever runs the tests could make npm warn, and so could a newer npm.
    env: { PATH: process.env.PATH ?? '', HOME: temporaryFolder(), npm_config_update_notifier: 'false', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [said, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect({ command, code: await child.exited, complaint, said }).toEqual({ command, code: 0, complaint: '', said });
  return said;
}

/** Installs the tarball without the network. */
async function install(folder: string): Promise<string> {
  await run(['npm', 'install', '--offline', '--no-audit', '--no-fund', tarball], folder);
  return folder;
}

/** Bundles a module of the project for a browser. */
async function bundle(name: string, source: string): Promise<string> {
  writeFileSync(join(project, `${name}.mjs`), source);
  const built = await Bun.build({
    entrypoints: [join(project, `${name}.mjs`)],
    target: 'browser',
    minify: true,
    external: ['node:*', 'bun', 'bun:*'],
  });
  const [output] = built.outputs;
  if (!output) throw new Error('nothing was built');
  return output.text();
}

const gzipped = (text: string) => Bun.gzipSync(Buffer.from(text), { level: 9 }).length;

const typescript = join(root, 'node_modules/.bin/tsc');

/** A program that uses every entry. Each line that must not compile says so. */
const program = `
import { ApiError, type Client, createClient, type Message, refreshingToken } from '@parley-chat/sdk';
import { bot, type BotStore } from '@parley-chat/sdk/bot';
import { uploadFile } from '@parley-chat/sdk/uploads';
import { verifyWebhook } from '@parley-chat/sdk/webhook';

const client: Client = createClient({ url: 'http://127.0.0.1:8080', token: 'pat_x' });

export async function calls(): Promise<Message[]> {
  const { message } = await client.messages.send({ chat_id: 1, content: 'hello' });
  const same: Message = (await client.messages.get_message({ message_id: message.message_id })).message;
  // @ts-expect-error: a chat_id is required.
  await client.messages.send({ content: 'hello' });
  // @ts-expect-error: there is no such field.
  await client.messages.send({ chat_id: 1, contents: 'hello' });
  const found: Message[] = [same];
  for await (const one of client.messages.list.all({ chat_id: 1 })) found.push(one);
  for await (const { name, role } of client.chats.list.all()) {
    const title: string | null = name;
    // @ts-expect-error: not a role.
    if (role === 'boss') console.log(title);
  }
  for await (const event of client.events()) {
    if (event.event === 'message_edited') console.log(event.data.previous_content, event.event_id);
    // @ts-expect-error: other events have no such field.
    if (event.event === 'new_message') console.log(event.data.previous_content);
  }
  return found;
}

export async function others(file: Blob, request: Request): Promise<Response> {
  const token = refreshingToken({ url: 'x', clientId: 'y', tokens: { refreshToken: 'z' }, save: async () => {} });
  createClient({ url: 'http://127.0.0.1:8080', token });
  const uploaded = await uploadFile(client, file, { onProgress: ({ sent, total }) => console.log(sent / total) });
  await client.messages.send({ chat_id: 1, ...uploaded }).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'forbidden') console.log(error.status);
  });
  const event = await verifyWebhook(await request.text(), request.headers, 'secret');
  if (event.event === 'new_message') console.log(event.data.content.length);
  const store: BotStore = { load: () => undefined, save: () => {} };
  const echo = bot({ client, store, onMention: (message) => message.reply(message.content), onError: console.error });
  return echo.receive(request, 'secret');
}
`;

describe('the package', () => {
  test('has what it needs, and no tests', async () => {
    const files = (await run(['tar', '--list', '--file', tarball], root)).trim().split('\n');
    for (const file of ['package.json', 'README.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts', 'index.ts']) {
      expect(files).toContain(`package/${file}`);
    }
    expect(files.filter((file) => /test|tsconfig/.test(file))).toEqual([]);
    const { dependencies = {}, peerDependencies = {} } = await Bun.file(
      join(project, 'node_modules/@parley-chat/sdk/package.json'),
    ).json();
    expect({ ...dependencies, ...peerDependencies }).toEqual({});
    expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      '@parley-chat',
    ]);
  });

  test('is small in a bundle, and has nothing of the contract', async () => {
    const whole = await bundle('whole', `export * from '@parley-chat/sdk';`);
    const verify = await bundle('verify', `export { verifyWebhook } from '@parley-chat/sdk/webhook';`);
    expect(gzipped(whole)).toBeLessThanOrEqual(12_000);
    expect(gzipped(verify)).toBeLessThan(3_000);
    for (const text of [whole, verify]) {
      expect(new Bun.Transpiler({ loader: 'js' }).scanImports(text)).toEqual([]);
      expect(text).not.toMatch(/zod/i);
    }
  });

  test('runs on Node', async () => {
    const { token } = await server().user('node');
    const script = `
      import { openAsBlob } from 'node:fs';
      import { ApiError, createClient } from '@parley-chat/sdk';
      import { uploadFile } from '@parley-chat/sdk/uploads';
      import { verifyWebhook } from '@parley-chat/sdk/webhook';
      const client = createClient({ url: process.env.URL, token: process.env.TOKEN });
      const { group } = await client.chats.createGroup({ name: 'From Node', participants: [] });
      const { chat_id } = group;
      const stream = client.events({ events: ['new_message'] });
      await stream.open();
      for (const content of ['one', 'two', 'three']) await client.messages.send({ chat_id, content });
      const live = (await stream.next()).value.data.content;
      await stream.return();
      const contents = [];
      for await (const { content } of client.messages.list.all({ chat_id, limit: 2 })) contents.push(content);
      const steps = [];
      const uploaded = await uploadFile(client, await openAsBlob('package.json'), {
        name: 'from Node.json', pieceBytes: 40, onProgress: ({ sent, total }) => steps.push(sent / total),
      });
      const { message } = await client.messages.send({ chat_id, ...uploaded });
      const refused = await client.chats.get({ chat_id: 999 }).catch((error) => error);
      const forged = await verifyWebhook('{}', {}, 'secret').catch((error) => error.reason);
      console.log(JSON.stringify({
        live, contents, steps: [steps[0], steps.at(-1), steps.length > 2], file: message.file.name,
        refused: [refused instanceof ApiError, refused.code], forged,
      }));`;
    writeFileSync(join(project, 'node.mjs'), script);
    const said = await run(['node', 'node.mjs'], project, { URL: server().url, TOKEN: token });
    expect(JSON.parse(said)).toEqual({
      live: 'one',
      contents: ['one', 'two', 'three'],
      steps: [0, 1, true],
      file: 'from Node.json',
      refused: [true, 'not_found'],
      forged: 'missing_headers',
    });
  });

  test('has a README with no link to a file that is not in the package', () => {
    const readme = readFileSync(join(project, 'node_modules/@parley-chat/sdk/README.md'), 'utf8');
    const targets = [...readme.matchAll(/\]\(([^)#]+)/g)].map(([, target = '']) => target);
    expect(targets.filter((target) => !target.startsWith('https://'))).toEqual([]);
  });

  test('is installed from the file that the pages name', () => {
    for (const page of ['sdk/README.md', 'docs/reference/sdk.md', 'examples/echo-bot/README.md']) {
      expect(readFileSync(join(root, page), 'utf8')).toContain(`/${basename(tarball)}\n`);
    }
  });

  test('runs on Bun from the installed source', async () => {
    const { token } = await server().user('bun');
    const script = `
      import { createClient } from '@parley-chat/sdk';
      const resolved = entries.map((entry) => import.meta.resolve(entry).split('/').at(-1));
      const { user } = await createClient({ url: process.env.URL, token: process.env.TOKEN }).users.me();
      console.log(JSON.stringify([user.name, ...resolved]));`;
    writeFileSync(join(project, 'bun.mjs'), script.replace('entries', JSON.stringify(entries)));
    const said = await run([process.execPath, 'bun.mjs'], project, { URL: server().url, TOKEN: token });
    expect(JSON.parse(said)).toEqual(['bun', 'index.ts', 'bot.ts', 'uploads.ts', 'webhook.ts']);
  });

  test.skipIf(!Bun.which('deno'))('runs on Deno', async () => {
    const { token } = await server().user('deno');
    const script = `
      import { createClient } from '@parley-chat/sdk';
      const { user } = await createClient({ url: Deno.env.get('URL'), token: Deno.env.get('TOKEN') }).users.me();
      console.log(user.name);`;
    writeFileSync(join(project, 'deno.mjs'), script);
    const command = ['deno', 'run', '--quiet', '--allow-net', '--allow-env', 'deno.mjs'];
    expect(await run(command, project, { URL: server().url, TOKEN: token })).toBe('deno\n');
  });

  const settings = {
    target: 'ES2022',
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    exactOptionalPropertyTypes: true,
  };
  const node = { lib: ['ES2022'], types: ['node'], typeRoots: [join(root, 'node_modules/@types')] };
  test.each([
    ['nodenext', { module: 'nodenext', moduleResolution: 'nodenext', types: [] }],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler', types: [] }],
    ['nodenext without the types of a browser', { module: 'nodenext', moduleResolution: 'nodenext', ...node }],
  ])('has types without an error: %s', async (_, options) => {
    const folder = join(project, `types-${options.moduleResolution}-${options.types.length}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'main.ts'), program);
    const config = { compilerOptions: { ...settings, ...options }, files: ['main.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    expect(await run([typescript, '--project', folder], project)).toBe('');
  });
});

inChromium('the package in a browser', () => {
  const visit = visitors();

  test('sends, iterates, uploads and verifies, from a page of another site', async () => {
    const source = entries.map((entry) => `export * from '${entry}';`).join('\n');
    const module = await bundle('browser', source);
    await using site = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      routes: {
        '/sdk.mjs': new Response(module, { headers: { 'content-type': 'text/javascript' } }),
        '/': new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }),
      },
    });
    const { token } = await server().user('browser');
    const page = await visit();
    await page.goto(`http://localhost:${site.port}/`);
    const result = await page.evaluate(
      async ({ url, token }) => {
        type Sdk = typeof import('../index.ts') & typeof import('../uploads.ts') & typeof import('../webhook.ts');
        const { createClient, uploadFile, verifyWebhook } = (await import(`${location.origin}/sdk.mjs`)) as Sdk;
        const client = createClient({ url, token });
        const { group } = await client.chats.createGroup({ name: 'From a browser', participants: [] });
        const { chat_id } = group;
        for (const content of ['one', 'two', 'three']) await client.messages.send({ chat_id, content });
        const contents: string[] = [];
        for await (const { content } of client.messages.list.all({ chat_id, limit: 2 })) contents.push(content);
        const steps: number[] = [];
        const uploaded = await uploadFile(client, new File(['0123456789'], 'קובץ.txt'), {
          pieceBytes: 4,
          onProgress: ({ sent }) => steps.push(sent),
        });
        const { message } = await client.messages.send({ chat_id, ...uploaded });
        const forged = await verifyWebhook('{}', {}, 'secret').catch((error) => error.reason);
        return { contents, steps, file: message.file?.name, forged };
      },
      { url: server().url, token },
    );
    expect(result).toEqual({
      contents: ['one', 'two', 'three'],
      steps: [0, 4, 8, 10],
      file: 'קובץ.txt',
      forged: 'missing_headers',
    });
  });
});

describe('the echo bot', () => {
  const example = join(root, 'examples/echo-bot');

  async function installed(): Promise<string> {
    const folder = temporaryFolder();
    cpSync(example, folder, { recursive: true });
    // The tests have no network. The repository has the same development dependencies.
    const { devDependencies, ...manifest } = JSON.parse(readFileSync(join(example, 'package.json'), 'utf8'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    await install(folder);
    for (const [name, version] of Object.entries(devDependencies)) {
      const dependency = join(root, 'node_modules', name);
      expect(JSON.parse(readFileSync(join(dependency, 'package.json'), 'utf8'))).toMatchObject({ name, version });
      mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
      symlinkSync(dependency, join(folder, 'node_modules', name));
    }
    return folder;
  }

  /** Starts the bot on Node. */
  function start(folder: string, env: Readonly<Record<string, string>>) {
    const child = Bun.spawn(['node', 'echo-bot.js'], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', PARLEY_URL: server().url, ...env },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    endWithUs(child);
    let said = '';
    const collect = async () => {
      for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) said += piece;
    };
    const collected = collect();
    return {
      says: (text: RegExp) => eventually(`it says ${text}`, () => text.exec(said)),
      stop: async () => {
        child.kill('SIGTERM');
        await collected;
        return { code: await child.exited, complaint: await new Response(child.stderr).text() };
      },
    };
  }

  async function scene(name: string) {
    const [ada, echo] = [await server().user(`ada-${name}`), await server().user(`echo-${name}`)];
    const { group } = await ada.ok('messages.create_group', { name: 'Echo', participants: [echo.userId] });
    const { chat_id } = group;
    return {
      echo,
      say: (content: string) => ada.ok('messages.send_message', { chat_id, content }),
      hears: (content: string) =>
        eventually(`ada hears ${content}`, async () =>
          (await ada.ok('messages.get_messages', { chat_id })).messages.some(
            (message: { user_id: number; content: string }) =>
              message.user_id === echo.userId && message.content === content,
          ),
        ),
      contents: async () =>
        (await ada.ok('messages.get_messages', { chat_id })).messages.map(
          ({ content }: { content: string }) => content,
        ),
    };
  }

  test('has no type error', async () => {
    const folder = await installed();
    expect(await run([process.execPath, 'node_modules/typescript/bin/tsc', '-p', '.'], folder)).toBe('');
  });

  test('echoes mentions over the stream, and what it has missed', async () => {
    const folder = await installed();
    const { echo, say, hears, contents } = await scene('stream');
    const env = { PARLEY_TOKEN: echo.token };
    const first = start(folder, env);
    await first.says(/Connected/);
    await say('not for you');
    await say('@ada-stream @echo-stream one');
    await hears('@ada-stream one');
    expect(await first.stop()).toEqual({ code: 0, complaint: '' });
    await say('@echo-stream two');
    const second = start(folder, env);
    await hears('two');
    expect(await second.stop()).toEqual({ code: 0, complaint: '' });
    expect(await contents()).toEqual([
      'not for you',
      '@ada-stream @echo-stream one',
      '@ada-stream one',
      '@echo-stream two',
      'two',
    ]);
  });

  test('says that its place is lost, and goes on', async () => {
    const folder = await installed();
    const { echo, say, hears } = await scene('expired');
    writeFileSync(join(folder, 'echo-bot.json'), '{"cursor":4000000000,"handled":[]}');
    const bot = start(folder, { PARLEY_TOKEN: echo.token });
    await bot.says(/Messages were missed: .+\nConnected/);
    await say('@echo-expired one');
    await hears('one');
    expect(await bot.stop()).toEqual({ code: 0, complaint: '' });
  });

  test('echoes mentions over webhooks with the same handlers', async () => {
    const folder = await installed();
    const { echo, say, hears, contents } = await scene('webhook');
    const secret = 'the secret of the echo bot';
    const bot = start(folder, { PARLEY_TOKEN: echo.token, WEBHOOK_SECRET: secret, PORT: '0' });
    const [, url = ''] = await bot.says(/Listening on (\S+)/);
    // Only this address of the machine is open.
    await expect(fetch(url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow();
    await echo.ok('webhooks.register', { url, events: ['new_message'], secret });
    await say('@echo-webhook hello');
    await hears('hello');
    expect(await bot.stop()).toEqual({ code: 0, complaint: '' });
    expect(await contents()).toEqual(['@echo-webhook hello', 'hello']);
  });
});
