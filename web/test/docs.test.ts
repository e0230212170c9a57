import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openApi } from '@parley/contract';
import { users } from '@parley/server/test/support/people.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { type ApiDocument, operationsOf } from '../ui/docs/api-document.ts';
import { pathOf } from '../ui/docs/guide-markdown.ts';
import { anchorOf, guides } from '../ui/docs/guides.ts';
import { filledIn } from '../ui/docs/own-ids.ts';
import { type CodeLanguage, codeOf } from '../ui/docs/request-snippets.ts';
import { fieldsOf } from '../ui/docs/schema.ts';
import { find, searchIndex } from '../ui/docs/search.ts';

const document = (await openApi()) as unknown as ApiDocument;
const operations = operationsOf(document);
const named = (name: string) => {
  const found = operations.find((operation) => operation.name === name);
  if (!found) throw new Error(`there is no ${name}`);
  return found;
};
const origin = 'http://127.0.0.1:8080';
const codesIn = (language: CodeLanguage) =>
  operations.map((operation) => codeOf(language, { ...operation, input: operation.example }, origin));

describe('the description of the API', () => {
  test('becomes operations with scopes, examples and errors', () => {
    expect(operations.length).toBe(Object.keys(document.paths).length);
    expect(named('messages.reactions')).toMatchObject({
      method: 'GET',
      scopes: ['messages:read', 'chats:read'],
      example: { message_id: 1, emoji: '🎉' },
      returns: 'json',
      fileField: undefined,
    });
    expect(named('messages.reactions').errors).toContainEqual({
      status: 404,
      code: 'not_found',
      when: 'It does not exist, or you may not see it: the response is the same.',
    });
    expect(named('users.me').scopes).toEqual([]);
    const kinds = ['files.upload', 'users.set_avatar', 'events.stream', 'files.download', 'messages.send_message'];
    expect(kinds.map(named).map(({ fileField, returns }) => fileField ?? returns)).toEqual([
      ...['file', 'file', 'stream', 'file', 'json'],
    ]);
  });

  test('says which operations only pages may call', () => {
    expect(['bots.create', 'users.me'].map((name) => named(name).isForPages)).toEqual([true, false]);
  });

  test('becomes fields in words', () => {
    const inputOf = (name: string) => fieldsOf(document, named(name).input);
    const shown = inputOf('events.list').map(({ object: _, about: __, ...field }) => field);
    expect(shown.slice(1, 3)).toEqual([
      { name: 'limit', type: 'integer', isRequired: false, fallback: '50', limits: '1 to 200' },
      { name: 'chat_id', type: 'integer', isRequired: false, fallback: undefined, limits: '' },
    ]);
    const [chatId, content] = inputOf('messages.send_message');
    expect(chatId).toMatchObject({ isRequired: true, type: 'integer', limits: '' });
    expect(content).toMatchObject({ isRequired: false, limits: 'at most 16,384 bytes of UTF-8' });
    expect(fieldsOf(document, named('messages.send_message').output ?? {})).toMatchObject([
      { name: 'success', object: undefined },
      { name: 'message', type: 'Message', isRequired: true, object: { properties: { message_id: {} } } },
    ]);
    for (const { input, output } of operations) {
      for (const field of [...fieldsOf(document, input), ...fieldsOf(document, output ?? {})])
        expect(field.type).not.toBe('');
    }
  });
});

describe('examples', () => {
  test('have the ids of the reader, and those of others where a user is changed', () => {
    const ids = { userId: 7, people: [8], chat: { id: 5, name: 'Plans' }, messageId: 50, webhookId: 4 };
    expect(filledIn('GET', { user_id: 2, limit: 1 }, ids)).toEqual({ user_id: 7, limit: 1 });
    expect(filledIn('POST', { chat_id: 1, user_id: 3, role: 'admin' }, ids)).toEqual({
      ...{ chat_id: 5, user_id: 8, role: 'admin' },
    });
    expect(filledIn('GET', { webhook_id: 1, state: 'failed' }, ids)).toEqual({ webhook_id: 4, state: 'failed' });
    const none = { userId: 7, people: [], chat: undefined, messageId: undefined, webhookId: undefined };
    expect(filledIn('POST', { chat_id: 1, message_id: 2 }, none)).toEqual({ chat_id: 1, message_id: 2 });
  });

  test('are TypeScript, of every operation', () => {
    const transpiler = new Bun.Transpiler({ loader: 'ts' });
    for (const code of codesIn('TypeScript')) expect(() => transpiler.transformSync(code)).not.toThrow();
    const send = codeOf('TypeScript', { ...named('messages.send_message'), input: { content: `it's "\\"\n` } }, origin);
    expect(send).toContain(`parley.messages.send({ content: 'it\\'s "\\\\"\\n' })`);
  });

  test('are Python, of every operation', async () => {
    const odd = { ...named('messages.send_message'), input: { content: `it's "\\"\n`, a: [true, null] } };
    const codes = [...codesIn('Python'), codeOf('Python', odd, origin)];
    const check = 'import json, sys\nfor code in json.load(sys.stdin): compile(code, "example", "exec")\nprint("done")';
    const python = Bun.spawn(['python3', '-c', check], { stdin: new Blob([JSON.stringify(codes)]), stderr: 'pipe' });
    expect([await new Response(python.stdout).text(), await new Response(python.stderr).text()]).toEqual([
      'done\n',
      '',
    ]);
  });

  test('are commands of the shell, of every operation', async () => {
    const input = { content: `it's $HOME "\\" \`id\`` };
    const codes = [...codesIn('curl'), codeOf('curl', { ...named('messages.send_message'), input }, origin)];
    // Another curl prints what it was given.
    const shell = Bun.spawn(['sh', '-eu'], {
      stdin: new Blob([`curl() { printf '%s\\n' "$#" "$@"; }\n${codes.join('\n')}`]),
      env: { ...process.env, TOKEN: 'pat_1', HOME: '/home' },
      stderr: 'pipe',
    });
    const output = await new Response(shell.stdout).text();
    expect(await new Response(shell.stderr).text()).toBe('');
    expect(output).toEndWith(`-d\n${JSON.stringify(input)}\n`);
    expect(output.match(/^authorization: Bearer pat_1$/gm)).toHaveLength(codes.length);
  });
});

describe('guides', () => {
  const root = join(import.meta.dir, '../../docs');

  test('are all that are there', () => {
    const files = [...new Bun.Glob('**/*.md').scanSync(root)]
      .filter((file) => !file.startsWith('decisions/'))
      .map((file) => file.replace(/^.*\/|\.md$/g, ''));
    // The reference itself replaces the page of the operations.
    expect(guides.map(({ name }) => name).sort()).toEqual(files.filter((name) => name !== 'api').sort());
    expect(guides.map(({ title }) => title)).not.toContain('');
  });

  test('have commands that run no package of another project', () => {
    expect(guides.filter(({ text }) => /npx parley/.test(text)).map(({ name }) => name)).toEqual([]);
    const [backup, streams, mentions] = ['backup', 'streams', 'mentions-and-threads'].map((name) =>
      guides.find((guide) => guide.name === name),
    );
    expect(backup?.text).toContain('\nparley backup /tmp/parley.backup\n');
    expect(streams?.text).toContain('`parley listen` shows');
    expect([backup, streams, mentions].map((guide) => guide?.hasCommands)).toEqual([true, true, false]);
  });

  test('have links that lead to a page, and to a heading of it', () => {
    const headings = new Map(
      guides.map(({ name, text }) => [
        `/docs/guides/${name}`,
        [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading.replaceAll('`', ''))),
      ]),
    );
    const broken: string[] = [];
    for (const { name, text } of guides) {
      for (const [, href = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        const target = pathOf(href.startsWith('#') ? `${name}.md${href}` : href);
        const [page = '', anchor] = target?.split('#') ?? [];
        const isOperation = operations.some((one) => page === `/docs/${one.name}`);
        const isKnown =
          target === undefined
            ? /^(?:\.\.\/|decisions\/|performance\/|\.\.\/decisions\/)/.test(href)
            : /^https?:/.test(target) ||
              page === '/docs' ||
              isOperation ||
              (headings.has(page) && (anchor === undefined || headings.get(page)?.includes(anchor)));
        if (!isKnown) broken.push(`${name}: ${href} → ${target}`);
      }
    }
    expect(broken).toEqual([]);
    expect(pathOf('reference/api.md#messagessend_message')).toBe('/docs/messages.send_message');
    expect(pathOf('../streams.md#resume')).toBe('/docs/guides/streams#resume');
  });
});

describe('the search', () => {
  const index = searchIndex(operations, guides);
  const pathsOf = (query: string) => find(index, query).map(({ path }) => path);

  test('finds operations by their name and what they do', () => {
    expect(pathsOf('send_mess')[0]).toBe('/docs/messages.send_message');
    expect(pathsOf('rotate sec').slice(0, 2)).toEqual([
      '/docs/webhooks.rotate_secret',
      '/docs/guides/webhooks#rotate-the-secret',
    ]);
    expect(pathsOf('quiet')[0]).toBe('/docs/users.quiet_hours');
  });

  test('finds the part of a guide, and nothing without a match', () => {
    expect(pathsOf('hmac')).toContain('/docs/guides/webhooks#verify-a-signature');
    expect(pathsOf('xyzzy')).toEqual([]);
    expect(pathsOf(' ')).toEqual([]);
  });
});

describe('examples on a server', () => {
  const server = serverFor('sqlite');

  test('print the response in each language', async () => {
    const { ada } = await users(server(), 'ada');
    const { group } = await ada.ok('messages.create_group', { name: 'Plans' });
    const run = async (command: string[]) => {
      const env = { ...process.env, TOKEN: ada.token };
      const child = Bun.spawn(command, { cwd: join(import.meta.dir, '..'), env, stderr: 'pipe' });
      const [output, complaint] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      if ((await child.exited) !== 0) throw new Error(complaint);
      return output;
    };
    const code = (language: CodeLanguage, name: string, input: Readonly<Record<string, unknown>>) =>
      codeOf(language, { ...named(name), input }, server().url);
    const input = { chat_id: group.chat_id, content: `it's "fine" \\ 🎉` };
    const outputs = await Promise.all([
      run(['sh', '-c', code('curl', 'messages.send_message', input)]),
      run(['python3', '-c', code('Python', 'messages.send_message', input)]),
      run([process.execPath, '-e', code('TypeScript', 'messages.send_message', input)]),
    ]);
    for (const output of outputs) expect(output).toContain('message_id');
    const reading = { after: 0, events: ['new_message', 'group_created'] };
    const [listed] = await Promise.all([
      run(['sh', '-c', code('curl', 'events.list', reading)]),
      run(['sh', '-c', code('curl', 'users.me', {})]).then((output) =>
        expect(output).toContain(`"user_id":${ada.userId}`),
      ),
    ]);
    const { events } = JSON.parse(listed) as { events: { event: string; data: { content?: string } }[] };
    expect(events.map(({ event, data }) => data.content ?? event)).toEqual([
      'group_created',
      ...Array.from({ length: 3 }, () => input.content),
    ]);
  });
});
