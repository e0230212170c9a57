import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inChromium, visitors } from '../support/chromium.ts';
import { endWithUs, temporaryFolder } from '../support/cleanup.ts';
import type { Client } from '../support/client.ts';
import { freshEnvironment } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { Forwarder } from '../support/forwarder.ts';
import { requirePrograms, testUnless } from '../support/requirements.ts';
import { attach, type ServerProcess, spawnServer, type TestServer } from '../support/server.ts';
import { runBlocks, shellBlocks } from '../support/shell.ts';
import { signedIn } from '../support/visitor.ts';

const root = join(import.meta.dir, '../../..');
const page = readFileSync(join(root, 'docs/streams.md'), 'utf8');

/** The blocks of a language that stand under a heading. */
function blockUnder(heading: string, language: string): string {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const block = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(section)?.[1];
  if (block === undefined) throw new Error(`there is no ${language} under ${heading}`);
  return block;
}

let process_: ServerProcess;
let server: TestServer;
let ada: Client;
let bob: Client;
beforeAll(async () => {
  const env = await freshEnvironment('sqlite');
  process_ = await spawnServer(env);
  server = await attach(process_.url, env);
  [ada, bob] = [await server.user('ada'), await server.user('bob')];
  await ada.ok('messages.create_group', { name: 'Launch', participants: [bob.userId] });
});
afterAll(async () => {
  await server?.stop();
  await process_?.kill('SIGTERM');
});

const say = (content: string) => ada.ok('messages.send_message', { chat_id: 1, content });

/**
 * Stands before the server in place of the seconds that the page gives each stream: ends it once it has told the message
 * of the page, and answers at /opened when the first one is open.
 */
function patientReader() {
  const opened = Promise.withResolvers<void>();
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 255,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname === '/opened') return opened.promise.then(() => new Response());
      const { method, headers } = request;
      const answer = await fetch(`${server.url}${pathname}${search}`, { method, headers, body: await request.bytes() });
      if (!search.includes('action=stream')) return answer;
      opened.resolve();
      let told = '';
      const untilTold = new TransformStream<Uint8Array, Uint8Array>({
        transform: (piece, controller) => {
          told += Buffer.from(piece).toString();
          controller.enqueue(piece);
          if (/"content":"Live".*\n\n$/.test(told)) controller.terminate();
        },
      });
      return new Response(answer.body?.pipeThrough(untilTold), { headers: answer.headers });
    },
  });
}

testUnless(
  requirePrograms('curl', 'bash'),
  'every command of the page works, and prints what the page says',
  async () => {
    using reader = patientReader();
    const env = { ...process.env, PARLEY: `${reader.url}api`, ADA: ada.token, BOB: bob.token };
    const { outputs, complaints } = await runBlocks(shellBlocks(page), { cwd: temporaryFolder(), env }, (script) =>
      script.replaceAll(/--max-time \d+/g, '').replace('sleep 2', `curl -s ${reader.url}opened`),
    );
    expect(complaints).toBe('');
    const [live = '', resumed = '', filtered = ''] = outputs;
    const opening = /^\s*retry: [12]\d{3}\nid: (\d+)\n\n/;
    expect(live).toMatch(opening);
    expect(live).toMatch(/\nid: \d+\nevent: new_message\ndata: \{"event":"new_message".*"content":"Live"\}\}\n\n/);
    const [all = '', rest = ''] = resumed.split(/(?<=\n\n)(?=retry)/);
    expect(opening.exec(all)?.[1]).toBe('0');
    expect(opening.exec(rest)?.[1]).toBe('1');
    const ids = (text: string) => [...text.matchAll(/^id: (\d+)\nevent/gm)].map(([, id]) => Number(id));
    expect(ids(all)).toEqual([1, 2]);
    expect(ids(rest)).toEqual([2]);
    expect(ids(filtered)).toEqual([2]);
  },
);

describe('the programs of the page', () => {
  /** A program as the page has it, while it runs. */
  function run(program: string, cursorFile: string) {
    const script = program
      .replace('http://127.0.0.1:8080', server.url)
      .replaceAll("'cursor'", JSON.stringify(cursorFile));
    // From the folder where the page's reader is, so that it finds the client.
    const child = Bun.spawn([process.execPath, '-e', script], {
      cwd: root,
      env: { PATH: process.env.PATH ?? '', BOB: bob.token },
      stdout: 'pipe',
      stderr: 'inherit',
    });
    endWithUs(child);
    let said = '';
    const collect = async () => {
      for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) said += piece;
    };
    const collected = collect();
    return {
      says: (text: string | RegExp) => eventually(`it says ${text}`, async () => said.match(text) ?? undefined),
      end: async () => {
        child.kill();
        await collected;
        return said;
      },
    };
  }

  test('one prints messages, and resumes where it stopped', async () => {
    const program = blockUnder('TypeScript', 'ts');
    const cursor = join(temporaryFolder(), 'cursor');
    await say('before it runs');
    const first = run(program, cursor);
    await first.says('before it runs');
    await say('while it runs');
    const [, eventId] = await first.says(/(\d+) while it runs/);
    await eventually('the cursor is kept', async () => (await Bun.file(cursor).text()) === eventId || undefined);
    await first.end();
    await say('while it does not run');
    const second = run(program, cursor);
    await second.says('while it does not run');
    expect(await second.end()).toMatch(/^\d+ while it does not run\n$/);
  });

  test('another shows a chat, and its changes', async () => {
    const program = run(blockUnder('Load the state first', 'ts'), '');
    const { message } = await say('first');
    const { messages } = await bob.ok('messages.get_messages', { chat_id: 1 });
    // The page does not report when its stream opens, so edits are repeated.
    const changing = setInterval(
      () => void ada.ok('messages.edit_message', { message_id: message.message_id, content: `${Math.random()}` }),
      100,
    );
    await program.says(`${messages.length} messages, the last is 0.`).finally(() => clearInterval(changing));
    await say('last');
    await program.says(`${messages.length + 1} messages, the last is last`);
    await program.end();
  });
});

inChromium('the EventSource of the page', () => {
  const visit = visitors();

  test('gets events with the cookie alone, reconnects by itself, and sees a refusal', async () => {
    const forwarder = await Forwarder.before(Number(new URL(server.url).port));
    const url = `http://127.0.0.1:${forwarder.port}`;
    const visitor = await signedIn(server, bob);
    const tab = await visit();
    await tab.context().addCookies([{ name: 'parley_session', value: visitor.session ?? '', url }]);
    await tab.goto(`${url}/password`);
    const shown: string[] = [];
    await tab.exposeFunction('show', (line: string) => shown.push(line));
    const opened = tab.waitForResponse(/action=stream/);
    // As the console of the browser does. The policy of the page forbids scripts in the page.
    const console = await tab.context().newCDPSession(tab);
    const expression = blockUnder('Page on the same origin', 'js');
    const { exceptionDetails } = await console.send('Runtime.evaluate', { expression, replMode: true });
    expect(exceptionDetails).toBeUndefined();
    await opened;
    const { message } = await say('one');
    await ada.ok('messages.mark_read', { chat_id: 1, message_id: message.message_id });
    await eventually('both are shown', async () => shown.length === 2 || undefined);
    forwarder.cutAnswers(1);
    await say('two');
    await say('three');
    await eventually('it has come back', async () => shown.length >= 4 || undefined);
    expect(shown).toEqual([
      expect.stringMatching(/^\d+ one$/),
      `user ${ada.userId} has read message ${message.message_id}`,
      expect.stringMatching(/^\d+ two$/),
      expect.stringMatching(/^\d+ three$/),
    ]);
    await visitor.post('/sign-out');
    await eventually('it is refused', async () => shown.at(-1)?.startsWith('refused') || undefined);
    forwarder.stop();
  });
});
