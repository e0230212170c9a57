import { describe, expect, test } from 'bun:test';
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import type { Client } from '@parley/server/test/support/client.ts';
import { type Environment, freshEnvironment } from '@parley/server/test/support/engines.ts';
import { sha256, someBytes } from '@parley/server/test/support/files.ts';
import { Gate } from '@parley/server/test/support/gate.ts';
import { freePort } from '@parley/server/test/support/postgres.ts';
import { attach, serverFor, spawnServer } from '@parley/server/test/support/server.ts';
import { eventually } from '../../sdk/test/eventually.ts';
import { TestClock } from '../../sdk/test/test-clock.ts';
import { bytesText } from '../bytes.ts';
import { future, kept as keptLogin, past, signedIn, tamper } from './login.ts';
import { failed, parley, said } from './parley.ts';
import { RunningCommand } from './running-command.ts';
import { incomingBytes, type Scene, sceneOn } from './scene.ts';
import { SpawnedCommand } from './spawned-command.ts';

const server = serverFor('sqlite');

const large = someBytes(8_000_000);
const half = 4_000_000;
const size = RegExp.escape(bytesText(large.length));

function fileWith(bytes: Uint8Array, name = 'report.bin'): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

const stateIn = (env: Environment) => join(env.XDG_STATE_HOME ?? '', 'parley');

/** Returns the files that are saved between runs. */
const leftIn = (env: Environment): string[] => readdirSync(stateIn(env)).filter((name) => name.endsWith('.json'));

/** Somebody who reaches the server through a gate. */
async function behindGate(): Promise<Scene & { gate: Gate; halfKept(): Promise<void>; [Symbol.dispose](): void }> {
  const gate = await Gate.before(server().url);
  const scene = await sceneOn(server());
  const before = incomingBytes(server().env);
  return {
    ...scene,
    gate,
    env: { ...scene.env, PARLEY_URL: gate.url },
    /** The server may not have stored the bytes that it has received. */
    halfKept: async () => {
      await held(gate);
      await eventually('some of it is on disk', () => incomingBytes(server().env) > before + half / 2);
    },
    [Symbol.dispose]: () => gate[Symbol.dispose](),
  };
}

const held = (gate: Gate) => eventually('bytes are held back', () => gate.holds);

async function bytesOf(by: Client, file_id: number): Promise<Uint8Array> {
  const headers = { authorization: `Bearer ${by.token}` };
  const answer = await fetch(`${by.url}/api/files.php?action=download&file_id=${file_id}`, { headers });
  return answer.bytes();
}

const goingOn = new RegExp(`^Resuming at \\d+\\.\\d MiB of ${size}\\.\\n`);

describe('an upload', () => {
  test('that was killed is resumed by the next run, which transfers only the missing bytes', async () => {
    using scene = await behindGate();
    const { gate, env, ada, halfKept } = scene;
    const path = fileWith(large);
    gate.holdAfter('up', half);
    await using first = new SpawnedCommand(['upload', path], env);
    await halfKept();
    await first.kill('SIGKILL');
    gate.cut();
    gate.open();
    const [name = ''] = leftIn(env);
    expect(statSync(join(stateIn(env), name)).mode & 0o777).toBe(0o600);
    const before = gate.passed.up;
    const { code, stdout, stderr } = await parley(['upload', path], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(goingOn) });
    expect(gate.passed.up - before).toBeLessThan(large.length - 1_000_000);
    expect(sha256(await bytesOf(ada, Number(stdout)))).toBe(sha256(large));
    expect(leftIn(env)).toEqual([]);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'that is stopped by %s says that the next run resumes it, and ends by the signal',
    async (signal) => {
      using scene = await behindGate();
      const { gate, env, ada, halfKept } = scene;
      const path = fileWith(large);
      gate.holdAfter('up', half);
      await using first = new RunningCommand(['upload', path], { env });
      await halfKept();
      expect(await first.stop(signal)).toBe(signal);
      expect(first.stderr).toBe('Stopped. Run the same command again to resume.\n');
      // The sockets on the way may hold the rest of it, which is not to arrive.
      gate.cut();
      gate.open();
      const { stdout, stderr } = await parley(['upload', path], env);
      expect(stderr).toMatch(goingOn);
      expect(sha256(await bytesOf(ada, Number(stdout)))).toBe(sha256(large));
    },
  );

  test('waits for a server that is killed and restarted, and resumes', async () => {
    const environment: Environment = { ...(await freshEnvironment('sqlite')), PORT: String(await freePort()) };
    const first = await spawnServer(environment);
    const attached = await attach(first.url, environment);
    const scene = await sceneOn(attached);
    using gate = await Gate.before(first.url);
    gate.holdAfter('up', half);
    const env = { ...scene.env, PARLEY_URL: gate.url };
    const clock = new TestClock();
    await using upload = new RunningCommand(['upload', fileWith(large)], { env, clock });
    await held(gate);
    // The server may not have stored the bytes that it has received.
    await eventually('some of it is on disk', () => incomingBytes(environment) > half / 2);
    clock.hold();
    await first.kill('SIGKILL');
    await eventually('it is missed', () => upload.stderr.includes('The server is not available. Retrying.'));
    const second = await spawnServer(environment);
    gate.open();
    const before = gate.passed.up;
    clock.release();
    const { code, stdout, stderr } = await upload.end();
    expect({ code, lines: stderr.split('\n').slice(1) }).toEqual({
      code: 0,
      lines: ['The server is back.', expect.stringMatching(/^Send it with: /), ''],
    });
    expect(gate.passed.up - before).toBeLessThan(large.length - 1_000_000);
    expect(sha256(await bytesOf(scene.ada, Number(stdout)))).toBe(sha256(large));
    await attached.stop();
    await second.kill('SIGTERM');
  });

  test('resumes when the connection breaks', async () => {
    using scene = await behindGate();
    const { gate, env, ada } = scene;
    gate.holdAfter('up', half);
    await using upload = new RunningCommand(['upload', fileWith(large), '--json'], { env });
    await held(gate);
    gate.cut();
    gate.open();
    const { code, stdout } = await upload.end();
    const { file } = JSON.parse(stdout);
    expect({ code, file }).toMatchObject({ code: 0, file: { name: 'report.bin', sha256: sha256(large) } });
    expect(sha256(await bytesOf(ada, file.file_id))).toBe(sha256(large));
  });

  test('of a file that has changed starts over', async () => {
    using scene = await behindGate();
    const { gate, env } = scene;
    const path = fileWith(large);
    gate.holdAfter('up', half);
    await using first = new RunningCommand(['upload', path], { env });
    await held(gate);
    await first.stop('SIGTERM');
    gate.cut();
    gate.open();
    const other = someBytes(large.length, 2);
    writeFileSync(path, other);
    const { stdout, stderr } = await parley(['upload', path, '--json'], env);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout).file.sha256).toBe(sha256(other));
  });

  test('of a file that changes during the upload fails', async () => {
    using scene = await behindGate();
    const { gate, env, ada } = scene;
    // More than the sockets on the way can hold.
    const path = fileWith(someBytes(60_000_000));
    gate.holdAfter('up', half);
    await using upload = new RunningCommand(['upload', path], { env });
    await held(gate);
    appendFileSync(path, 'more');
    gate.open();
    expect(await upload.end()).toEqual(failed(1, `${path} changed during the upload.`));
    const rows = await server().engine.all('SELECT sha256 FROM files WHERE user_id = $1', [ada.userId]);
    expect(rows).toEqual([{ sha256: null }]);
    expect(leftIn(env)).toEqual([]);
  });

  test('that the server has deleted starts over', async () => {
    using scene = await behindGate();
    const { gate, env, ada } = scene;
    const path = fileWith(large);
    gate.holdAfter('up', half);
    await using first = new RunningCommand(['upload', path], { env });
    await held(gate);
    await first.stop('SIGTERM');
    gate.cut();
    gate.open();
    const { upload } = JSON.parse(readFileSync(join(stateIn(env), leftIn(env)[0] ?? ''), 'utf8'));
    const headers = { authorization: `Bearer ${ada.token}`, 'tus-resumable': '1.0.0' };
    const removed = await fetch(`${ada.url}/api/uploads/${upload}`, { method: 'DELETE', headers });
    expect(removed.status).toBe(204);
    const { code, stdout, stderr } = await parley(['upload', path], env);
    const [line] = stderr.split('\n');
    expect({ code, line }).toEqual({
      code: 0,
      line: 'The server no longer has the partial upload. Starting over.',
    });
    expect(sha256(await bytesOf(ada, Number(stdout)))).toBe(sha256(large));
  });

  test('runs beside another one of the same file', async () => {
    using scene = await behindGate();
    const { gate, env, ada } = scene;
    const path = fileWith(large);
    gate.holdAfter('up', half);
    await using first = new RunningCommand(['upload', path], { env });
    await held(gate);
    gate.holdAfter('up', half);
    await using second = new RunningCommand(['upload', path], { env });
    await eventually('both have begun', () => leftIn(env).length === 2);
    gate.open();
    const outcomes = [await first.end(), await second.end()];
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0]);
    const ids = outcomes.map(({ stdout }) => Number(stdout));
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(sha256(await bytesOf(ada, id))).toBe(sha256(large));
    expect(readdirSync(stateIn(env))).toEqual(['transfers.lock']);
  });

  test.each([
    ['is about to end', { expires_at: past }],
    ['is not taken any more', { access_token: 'oat_ended', expires_at: future }],
  ])('whose access token %s continues with another', async (_, change) => {
    using gate = await Gate.before(server().url);
    const { env, user } = await signedIn(server(), gate.url);
    const before = keptLogin(env);
    gate.holdAfter('up', half);
    await using upload = new RunningCommand(['upload', fileWith(large)], { env });
    await held(gate);
    tamper(env, change);
    gate.cut();
    gate.open();
    const { code, stdout } = await upload.end();
    expect(code).toBe(0);
    expect(keptLogin(env).refresh_token).not.toBe(before.refresh_token);
    expect(sha256(await bytesOf(user, Number(stdout)))).toBe(sha256(large));
  });
});

describe('sending a file', () => {
  test('sends the message once, although the command was stopped before the response arrived', async () => {
    using scene = await behindGate();
    const { gate, env, ada, chatId } = scene;
    const words = ['send', String(chatId), 'the report', '--file', fileWith(large)];
    gate.holdAnswersTo('action=send_message');
    await using first = new RunningCommand(words, { env });
    await held(gate);
    await first.stop('SIGTERM');
    gate.cut();
    gate.open();
    const outcome = await parley(words, env);
    const { messages } = await ada.ok('messages.get_messages', { chat_id: chatId });
    expect(messages.map(({ content, file }) => [content, file?.sha256])).toEqual([['the report', sha256(large)]]);
    expect(outcome).toEqual({
      code: 0,
      stdout: `Sent message ${messages[0]?.message_id} to chat ${chatId}.\n`,
      stderr: 'The file is already uploaded.\n',
    });
    await said(words, env);
    const again = await ada.ok('messages.get_messages', { chat_id: chatId });
    expect(again.messages).toHaveLength(2);
  });
});

describe('a download', () => {
  const running = (words: string[], env: Environment, cwd: string) => new RunningCommand(words, { env, cwd });
  const spawned = (words: string[], env: Environment, cwd: string) => new SpawnedCommand(words, env, cwd);

  /** A file, and somebody who has got half of it when the gate closes. */
  async function halfWay<C>(start: (words: string[], env: Environment, cwd: string) => C) {
    const scene = await behindGate();
    const { gate, env, ada } = scene;
    const { file } = await ada.ok('files.upload', { file: new File([large], 'report.bin') });
    const folder = temporaryFolder();
    gate.holdAfter('down', half);
    const words = ['download', String(file.file_id)];
    const download = start(words, env, folder);
    const part = join(folder, 'report.bin.part');
    await held(gate);
    await eventually(
      'half of it is there',
      () => readdirSync(folder).length > 0 && statSync(part).size > half - 1_000_000,
    );
    return { ...scene, env, gate, folder, part, download, words };
  }

  test('that was killed is resumed by the next run, which transfers only the missing bytes', async () => {
    const { gate, env, folder, part, download, words } = await halfWay(spawned);
    await download.kill('SIGKILL');
    gate.cut();
    gate.open();
    expect(readdirSync(folder)).toEqual(['report.bin.part']);
    const there = statSync(part).size;
    const before = gate.passed.down;
    const second = running(words, env, folder);
    expect(await second.end()).toEqual({
      code: 0,
      stdout: `Saved report.bin, ${bytesText(large.length)}.\n`,
      stderr: expect.stringMatching(goingOn),
    });
    expect(gate.passed.down - before).toBeLessThan(large.length - there + 10_000);
    expect(readdirSync(folder)).toEqual(['report.bin']);
    expect(sha256(readFileSync(join(folder, 'report.bin')))).toBe(sha256(large));
    expect(leftIn(env)).toEqual([]);
    gate[Symbol.dispose]();
  });

  test('that is stopped says that the next run resumes it, and ends by the signal', async () => {
    const { gate, env, folder, download } = await halfWay(running);
    expect(await download.stop('SIGINT')).toBe('SIGINT');
    expect(download.stderr).toBe('Stopped. Run the same command again to resume.\n');
    expect(readdirSync(folder)).toEqual(['report.bin.part']);
    expect(readdirSync(stateIn(env)).sort()).toEqual([expect.stringMatching(/^download-\w+\.json$/), 'transfers.lock']);
    gate[Symbol.dispose]();
  });

  test('resumes when the connection breaks', async () => {
    const { gate, folder, download } = await halfWay(running);
    const before = gate.passed.down;
    gate.cut();
    gate.open();
    expect((await download.end()).code).toBe(0);
    expect(gate.passed.down - before).toBeLessThan(large.length - half + 1_000_000);
    expect(sha256(readFileSync(join(folder, 'report.bin')))).toBe(sha256(large));
    gate[Symbol.dispose]();
  });

  test('does not share its part file with another command', async () => {
    const { gate, env, folder, download, words } = await halfWay(running);
    const second = running(words, { ...env, PARLEY_URL: server().url }, folder);
    expect(await second.end()).toEqual(failed(1, 'Another parley command is downloading to report.bin.part.'));
    gate.open();
    expect((await download.end()).code).toBe(0);
    expect(sha256(readFileSync(join(folder, 'report.bin')))).toBe(sha256(large));
    gate[Symbol.dispose]();
  });

  test('does not replace a file that was created during the download', async () => {
    const { gate, folder, download } = await halfWay(running);
    writeFileSync(join(folder, 'report.bin'), 'mine');
    gate.open();
    expect(await download.end()).toEqual(failed(1, 'report.bin already exists. Choose another name, or use --force.'));
    expect(readFileSync(join(folder, 'report.bin'), 'utf8')).toBe('mine');
    gate[Symbol.dispose]();
  });
});
