import { describe, expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { optionalProgram, requireProgram, testUnless } from '@parley/server/test/support/requirements.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { shells } from '../completion-scripts.ts';
import { failed, parley, said } from './parley.ts';
import { RunningCommand } from './running-command.ts';
import { sceneOn } from './scene.ts';
import { mainFile } from './spawned-command.ts';

const server = serverFor('sqlite');

describe('a chat', () => {
  test('can be named instead of given by its id', async () => {
    const { env, chatId } = await sceneOn(server());
    expect(await said(['send', 'launch 🚀', 'by name'], env)).toBe(`Sent message 1 to chat ${chatId}.`);
    expect(await said(['messages', 'Launch 🚀'], env)).toContain('by name');
  });

  test('that has a misspelled or ambiguous name is not guessed', async () => {
    const { env, bob, ada, chatId } = await sceneOn(server());
    expect(await parley(['send', 'Lunch 🚀', 'x'], env)).toEqual(failed(1, 'Did you mean Launch 🚀?'));
    const { group } = await bob.ok('messages.create_group', { name: 'LAUNCH 🚀', participants: [ada.userId] });
    expect(await parley(['send', 'Launch 🚀', 'x'], env)).toEqual(
      failed(1, `Several of your chats are called "Launch 🚀". Give an id: ${chatId}, ${group.chat_id}`),
    );
    expect(await parley(['send', '0', 'x'], env)).toEqual(failed(2, '<chat> must be the id or name of a chat'));
  });

  test('with a person is @name, and sending opens it', async () => {
    const { env, names } = await sceneOn(server());
    const them = `@${names.bob}`;
    expect(await parley(['messages', them], env)).toEqual(failed(1, `You have no direct chat with ${them} yet.`));
    await said(['send', them, 'hello bob'], env);
    expect(await said(['messages', them], env)).toContain('hello bob');
    expect(await parley(['send', '@nobody-at-all', 'x'], env)).toEqual(failed(1, 'There is no person @nobody-at-all.'));
    expect(await parley(['send', them.slice(0, -1), 'x'], env)).toEqual(failed(1, /Did you mean @bob\d+\?/));
  });

  test('with a person is found behind many whose names contain the name', async () => {
    const { env } = await sceneOn(server());
    // More than a page has. Pages are in the order of ids.
    for (let i = 0; i < 201; i++) await server().user(`zoe-${i}`);
    await server().user('zoe');
    expect(await said(['send', '@Zoe', 'hello'], env)).toStartWith('Sent message');
  });
});

describe('--field', () => {
  test('prints what it selects, each element on a line', async () => {
    const { env, chatId } = await sceneOn(server());
    expect(await said(['chats', '--field', 'chats.name'], env)).toBe('Launch 🚀');
    expect(await said(['chats', '--field', '.chats[].chat_id'], env)).toBe(String(chatId));
    expect(await said(['chats', '--field', 'chats.0.type'], env)).toBe('group');
    expect(JSON.parse(await said(['chats', '--field', 'chats'], env))).toMatchObject({ chat_id: chatId });
    expect(await parley(['chats', '--field', 'chats.nmae'], env)).toEqual(
      failed(2, 'There is no field "nmae". Did you mean name?'),
    );
  });

  test('that is misspelled is noticed before the command does anything', async () => {
    const { env, chatId } = await sceneOn(server());
    const noticed = failed(2, 'There is no field "mesage_id". Did you mean message_id?');
    expect(await parley(['send', String(chatId), 'x', '--field', 'message.mesage_id'], env)).toEqual(noticed);
    const call = ['api', 'messages.send_message', `chat_id=${chatId}`, 'content=x', '--field', 'message.mesage_id'];
    expect(await parley(call, env)).toEqual(noticed);
    expect(await said(['messages', String(chatId), '--field', 'messages'], env)).toBe('');
  });

  test('that is misspelled loses no secret where it cannot be noticed before', async () => {
    const { names } = await sceneOn(server());
    const words = ['token', 'create', names.ada, '--field', 'acess_token'];
    const { code, stdout, stderr } = await parley(words, server().env);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ access_token: expect.stringMatching(/^pat_/) });
    expect(stderr).toStartWith('The command was run, and all of its JSON is printed. There is no field "acess_token".');
  });

  test('that only some elements have is printed for them', async () => {
    const { env, chatId } = await sceneOn(server());
    const chat = String(chatId);
    const first = await said(['send', chat, 'first', '--field', 'message.message_id'], env);
    await said(['send', chat, 'second', '--reply-to', first], env);
    expect(await said(['messages', chat, '--field', 'messages.thread_id'], env)).toBe(first);
  });
});

describe('parley api', () => {
  test('calls an operation with fields, or with JSON', async () => {
    const { env, chatId, ada, bob } = await sceneOn(server());
    const created = await said(['api', 'messages.create_group', 'name=From api', `participants=${ada.userId}`], env);
    expect(JSON.parse(created)).toMatchObject({ group: { name: 'From api' } });
    const input = JSON.stringify({ chat_id: chatId, content: '42' });
    expect(await said(['api', 'messages.send_message', '--input', '-', '--field', 'message.content'], env, input)).toBe(
      '42',
    );
    expect(await said(['api', 'chats.get', `chat_id=${chatId}`, '--field', 'chat.name'], env)).toBe('Launch 🚀');
    const lists = [[`user_ids=${ada.userId}`, `user_ids=${bob.userId}`], [`user_ids=[${ada.userId},${bob.userId}]`]];
    for (const list of lists) {
      const found = await said(['api', 'users.get', ...list, '--field', 'users.user_id'], env);
      expect(found).toBe(`${ada.userId}\n${bob.userId}`);
    }
    expect(await said(['api', '--help'])).toContain('repeat the field, or give a JSON array');
  });

  test('says what is wrong', async () => {
    const { env } = await sceneOn(server());
    expect(await parley(['api', 'chats.lst'], env)).toEqual(failed(2, 'Did you mean chats.list?'));
    expect(await parley(['api', 'chats.list', 'limit'], env)).toEqual(failed(2, 'A field is name=value'));
    expect(await parley(['api', 'events.stream'], env)).toEqual(failed(2, 'Use: npx parley listen'));
    expect(await parley(['api', 'chats.get', 'chat_id=999999'], env)).toEqual(failed(1, /chat/i));
  });
});

describe('a profile', () => {
  test('names a server', async () => {
    const { env: own } = await sceneOn(server());
    const { PARLEY_URL: url = '', ...rest } = own;
    const env = { ...rest, XDG_CONFIG_HOME: temporaryFolder() };
    expect(await parley(['chats', '--profile', 'work'], env)).toEqual(failed(1, 'There is no profile "work".'));
    await said(['profile', 'add', 'nowhere', 'http://127.0.0.1:9'], env);
    await said(['profile', 'add', 'work', url], env);
    expect(await said(['profile', 'list', '--field', 'profiles.name'], env)).toBe('nowhere\nwork');
    expect(await said(['chats', '--profile', 'work', '--field', 'chats.name'], env)).toBe('Launch 🚀');
    expect(await said(['chats', '--field', 'chats.name'], { ...env, PARLEY_PROFILE: 'work' })).toBe('Launch 🚀');
    expect((await parley(['whoami'], env)).stderr).toContain('http://127.0.0.1:9');
    await said(['profile', 'use', 'work'], env);
    expect(await said(['whoami'], env)).toContain(url);
    expect(await parley(['profile', 'use', 'wrok'], env)).toEqual(failed(1, 'Did you mean work?'));
    await said(['profile', 'remove', 'work'], env);
    expect(await said(['profile', 'list', '--field', 'profiles.name'], env)).toBe('nowhere');
    expect(await parley(['chats', '--profile', 'nowhere', '--url', url], env)).toEqual(
      failed(2, 'Give --url or --profile, not both.'),
    );
  });
});

describe('on a terminal', () => {
  const code = '\x1b[';

  test('tables and errors have colours, and long lines end at its edge', async () => {
    const { env, bob, ada } = await sceneOn(server());
    await bob.ok('messages.create_group', { name: '長い名前 '.repeat(16).trim(), participants: [ada.userId] });
    const shown = await new RunningCommand(['chats'], { env, isTerminal: true }).end();
    const [head = '', ...rows] = shown.stdout.trimEnd().split('\n');
    expect(head).toStartWith(`${code}1m`);
    expect(rows.some((row) => row.endsWith('…'))).toBe(true);
    for (const row of rows) expect(Bun.stringWidth(row)).toBeLessThanOrEqual(100);
    const wrong = await new RunningCommand(['chats', '--jsn'], { env, isTerminal: true }).end();
    expect(wrong.stderr).toStartWith(`${code}31m`);
  });

  test('NO_COLOR turns colours off, and without a terminal there are none and nothing is cut', async () => {
    const { env, bob, ada } = await sceneOn(server());
    const name = '長い名前 '.repeat(16).trim();
    await bob.ok('messages.create_group', { name, participants: [ada.userId] });
    const plain = await new RunningCommand(['chats'], { env: { ...env, NO_COLOR: '1' }, isTerminal: true }).end();
    expect(plain.stdout).not.toContain(code);
    const piped = await said(['chats'], env);
    expect(piped).not.toContain(code);
    expect(piped).toContain(name);
  });
});

describe('completion', () => {
  const completed = async (...words: string[]) =>
    (await said(['complete', '--', ...words])).split('\n').map((line) => line.split('\t')[0]);

  test('knows commands, options and values', async () => {
    expect(await completed('webhooks', 'rep')).toEqual(['replay', 'replays']);
    expect(await completed('send', '--fi')).toEqual(['--file', '--file-id', '--field']);
    expect(await completed('api', '--json', 'chats.l')).toEqual(['chats.list', 'chats.leave']);
    expect(await completed('completion', '')).toEqual([...shells]);
    expect(await completed('')).toContain('serve');
    expect(await completed('')).not.toContain('complete');
  });

  /** A home with a `parley` to complete. */
  const home = temporaryFolder();
  writeFileSync(join(home, 'parley'), `#!/bin/sh\nexec ${process.execPath} ${mainFile} "$@"\n`);
  chmodSync(join(home, 'parley'), 0o755);

  /** Runs a script where `parley` is not on the PATH, except for the one word `parley` itself. */
  const inShell = (shell: string, typed: string, script: string) => {
    const path = typed === 'parley' ? `${home}:${process.env.PATH}` : process.env.PATH;
    const run = Bun.spawnSync([shell, '-c', script], { cwd: home, env: { PATH: path, HOME: home } });
    return { stdout: run.stdout.toString(), stderr: run.stderr.toString() };
  };

  const ways = ['parley', './parley', '~/parley', join(home, 'parley')];

  testUnless(requireProgram('bash'), 'works in bash, however the program is typed', async () => {
    for (const typed of ways) {
      // Bash takes what `complete` has for the last part of a path.
      const script = `source <("$HOME/parley" completion bash); complete -p parley >/dev/null
        COMP_WORDS=('${typed}' webhooks pau); COMP_CWORD=2; _parley; echo "\${COMPREPLY[@]}"`;
      expect({ typed, ...inShell('bash', typed, script) }).toEqual({ typed, stdout: 'pause\n', stderr: '' });
    }
  });

  testUnless(optionalProgram('fish'), 'works in fish, however the program is typed', async () => {
    for (const typed of ways) {
      const script = `~/parley completion fish | source; complete -C '${typed} webhooks pau'`;
      expect({ typed, ...inShell('fish', typed, script) }).toEqual({
        typed,
        stdout: expect.stringMatching(/^pause\t/),
        stderr: '',
      });
    }
  });

  testUnless(optionalProgram('fish'), 'says nothing in fish where there is no program', async () => {
    const script = `~/parley completion fish | source; complete -C './nowhere/parley webhooks pau'`;
    expect(inShell('fish', './nowhere/parley', script)).toEqual({ stdout: '', stderr: '' });
  });

  testUnless(optionalProgram('zsh'), 'works in zsh, however the program is typed', async () => {
    for (const typed of ways) {
      const script = `compdef() { : }; _files() { : }; _describe() { print -l -- "\${(@P)2}" }
        source <("$HOME/parley" completion zsh); words=('${typed}' webhooks pau); CURRENT=3; _parley`;
      expect({ typed, ...inShell('zsh', typed, script) }).toEqual({
        typed,
        stdout: expect.stringMatching(/^pause:/),
        stderr: '',
      });
    }
  });
});
