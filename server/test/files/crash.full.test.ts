import { expect, test } from 'bun:test';
import type { Message } from '@parley/contract';
import { removeEnded } from '../../files/removal.ts';
import { openDisk } from '../../files/storage/disk.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';
import {
  Connection,
  filePart,
  formType,
  headOf,
  keeps,
  kept,
  nothing,
  openForm,
  sending,
  sha256,
  someBytes,
  textPart,
  underWay,
  uploading,
} from '../support/files.ts';
import { users } from '../support/people.ts';
import { attach, spawnServer, type TestServer } from '../support/server.ts';

/** After this time no sender can be left. */
const quarterOfAnHour = 15 * 60_000;
const day = 86_400_000;

const fetchAs = (by: Client, url: string) => fetch(url, { headers: { authorization: `Bearer ${by.token}` } });

const newGroup = async (by: Client) =>
  (await by.ok('messages.create_group', { name: 'Group', participants: [] })).group.chat_id;

async function sweep({ engine, env }: TestServer, now: number): Promise<void> {
  const blobs = openDisk(env.PARLEY_DATA ?? '');
  while (await removeEnded(engine, blobs, now, () => {}));
}

onBothEngines('a server killed with SIGKILL during uploads', (engine) => {
  test('hides incomplete files, serves again, and removes them when they expire', async () => {
    const env = await freshEnvironment(engine);
    const first = await spawnServer(env);
    const before = await attach(first.url, env);
    const { ada } = await users(before, 'ada');
    const chat_id = await newGroup(ada);
    const beginning = someBytes(2_500_000);
    const cases = [
      { path: sending, type: formType, body: openForm(textPart('chat_id', chat_id), filePart(beginning)) },
      { path: sending, type: formType, body: openForm(filePart(beginning)) },
      { path: uploading, type: formType, body: openForm(filePart(beginning)) },
      { path: uploading, type: 'text/plain', body: beginning },
    ];
    for (const [i, { path, type, body }] of cases.entries()) {
      const connection = await Connection.to(ada.url);
      await connection.write(headOf(ada, path, 10_000_000, type));
      await connection.write(body);
      while ((await kept(before)).blobs <= i) await Bun.sleep(5);
    }
    await underWay(before);
    await before.stop();
    await first.kill('SIGKILL');

    const second = await spawnServer(env);
    const server = await attach(second.url, env);
    const again = new Client(second.url, ada.token, ada.userId);
    expect(await kept(server)).toEqual({ rows: cases.length, blobs: cases.length });
    const rows = await server.engine.all<{ file_id: number }>('SELECT file_id FROM files');
    for (const { file_id } of rows) {
      expect(await again.refused('files.get', { file_id })).toBe('not_found');
      const url = `${second.url}/api/files.php?action=download&file_id=${file_id}`;
      expect((await fetchAs(again, url)).status).toBe(404);
      expect(await again.refused('messages.send_message', { chat_id, file_id })).toBe('validation_failed');
    }
    expect((await again.ok('messages.get_messages', { chat_id })).messages).toEqual([]);

    const { message } = await again.ok('messages.send_message', { chat_id, file: new File(['whole'], 'a.txt') });
    await sweep(server, Date.now());
    expect((await kept(server)).rows).toBe(cases.length + 1);
    await sweep(server, Date.now() + quarterOfAnHour);
    await keeps(server, { rows: 1, blobs: 1 });
    expect(await (await fetchAs(again, message.file?.url ?? '')).text()).toBe('whole');
    await server.stop();
    await second.kill('SIGTERM');
  });

  test('has every acknowledged file complete, and no unknown files', async () => {
    const env = await freshEnvironment(engine);
    let running = await spawnServer(env);
    const setUp = await attach(running.url, env);
    const { ada } = await users(setUp, 'ada');
    const chat_id = await newGroup(ada);
    await setUp.stop();
    const answered = new Map<string, Message>();

    for (let round = 0; round < 3; round++) {
      const client = new Client(running.url, ada.token, ada.userId);
      const writer = async (name: number) => {
        // From sizes that are written at once to those that take some time.
        const bytes = someBytes(1 + name * 100_000);
        for (let i = 0; ; i++) {
          const content = `${round}/${name}/${i}`;
          const file = new File([bytes, content], 'a.bin');
          try {
            const { message } = await client.ok('messages.send_message', { chat_id, content, file });
            answered.set(content, message as Message);
          } catch {
            return;
          }
        }
      };
      const writers = Array.from({ length: 6 }, (_, name) => writer(name));
      const goal = answered.size + 20;
      while (answered.size < goal) await Bun.sleep(3);
      await running.kill('SIGKILL');
      await Promise.all(writers);
      running = await spawnServer(env);
    }

    const client = new Client(running.url, ada.token, ada.userId);
    const server = await attach(running.url, env);
    const found: Message[] = [];
    for (let after_id = 0, more = true; more; ) {
      const page = await client.ok('messages.get_messages', { chat_id, after_id, limit: 200 });
      found.push(...(page.messages as Message[]));
      after_id = found.at(-1)?.message_id ?? 0;
      more = page.has_more;
    }
    for (const { message_id, file } of answered.values()) {
      expect(found.find((m) => m.message_id === message_id)?.file?.sha256).toBe(file?.sha256 ?? 'a hash');
    }
    for (const { file } of found) {
      const bytes = await (await fetchAs(client, file?.url ?? '')).bytes();
      expect({ size: bytes.length, sha256: sha256(bytes) }).toEqual({
        size: file?.size ?? 0,
        sha256: file?.sha256 ?? '',
      });
    }
    await sweep(server, Date.now() + day);
    await keeps(server, { rows: found.length, blobs: found.length });
    for (const { message_id } of found) await client.ok('messages.delete_message', { message_id });
    await sweep(server, Date.now());
    await keeps(server, nothing);
    await server.stop();
    await running.kill('SIGTERM');
  });
});
