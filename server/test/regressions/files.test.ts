import { beforeAll, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { removeEnded } from '../../files/removal.ts';
import { openDisk } from '../../files/storage/disk.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { Connection, headOf, keeps, kept, uploading } from '../support/files.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { expectRefusal, request } from '../support/wire.ts';

const mostAtOnce = 20;

onAnyEngine('files', (engine) => {
  // Only the tests remove files.
  const server = serverFor(engine, {}, { fileSweepMs: 3_600_000 });
  let ada: Client;
  let chat_id: number;
  beforeAll(async () => {
    ada = await server().user('ada');
    ({ chat_id } = (await ada.ok('messages.create_group', { name: 'Group', participants: [] })).group);
  });

  const upload = async (text: string) =>
    (await ada.ok('files.upload', { file: new File([text], 'a.txt') })).file.file_id;

  test('of one user come in by so many at once, and the next one later', async () => {
    const before = await kept(server());
    const open: Connection[] = [];
    for (let i = 0; i < mostAtOnce; i++) {
      const connection = await Connection.to(ada.url);
      await connection.write(`${headOf(ada, uploading, 10, 'text/plain')}begun`);
      open.push(connection);
      await keeps(server(), { rows: before.rows + i + 1, blobs: before.blobs + i + 1 });
    }
    const refused = await ada.call('files.upload', { file: new File(['one more'], 'a.txt') });
    expect(expectRefusal(refused, 'unavailable').message).toContain('Too many files');
    expect(refused.headers.get('retry-after')).toBe('1');
    // Other users need not wait.
    const { bob } = await users(server(), 'bob');
    await bob.ok('files.upload', { file: new File(['of another'], 'a.txt') });
    for (const connection of open) connection.hangUp();
    await eventually('there is room again', async () => {
      const { status } = await ada.call('files.upload', { file: new File(['one more'], 'a.txt') });
      return status === 200 || undefined;
    });
  });

  test('that cannot be removed do not keep others from being removed, and are tried again', async () => {
    const folder = join(server().env.PARLEY_DATA ?? '', 'files');
    const pathOf = async (file_id: number) => {
      const row = await server().engine.get<{ key: string }>('SELECT key FROM files WHERE file_id = $1', [file_id]);
      const key = row?.key ?? '';
      return join(folder, key.slice(0, 2), key);
    };
    const ids = [await upload('one'), await upload('two'), await upload('three')];
    const [stuck = '', ...others] = await Promise.all(ids.map(pathOf));
    // A folder cannot be removed like a file.
    unlinkSync(stuck);
    mkdirSync(join(stuck, 'in the way'), { recursive: true });
    const later = Date.now() + 48 * 3_600_000;
    const blobs = openDisk(server().env.PARLEY_DATA ?? '');
    await expect(removeEnded(server().engine, blobs, later, () => {})).rejects.toThrow('could not be removed');
    for (const path of others) expect(readdirSync(join(path, '..'))).not.toContain(path.split('/').at(-1) ?? '');
    rmdirSync(join(stuck, 'in the way'));
    rmdirSync(stuck);
    expect(await removeEnded(server().engine, blobs, later, () => {})).toBe(false);
    await removeEnded(server().engine, blobs, later + 3_600_000, () => {});
    for (const file_id of ids) {
      const row = await server().engine.get('SELECT file_id FROM files WHERE file_id = $1', [file_id]);
      expect(row).toBeUndefined();
    }
  });

  test('whose folder is away for a while are not forgotten', async () => {
    const folder = join(server().env.PARLEY_DATA ?? '', 'files');
    const { message } = await ada.ok('messages.send_message', { chat_id, file: new File(['kept'], 'a.txt') });
    await ada.ok('messages.delete_message', { message_id: message.message_id });
    renameSync(folder, `${folder}-away`);
    const blobs = openDisk(server().env.PARLEY_DATA ?? '');
    rmdirSync(join(folder, 'incoming'));
    rmdirSync(folder);
    const now = Date.now() + 60_000;
    await expect(removeEnded(server().engine, blobs, now, () => {})).rejects.toThrow('could not be removed');
    renameSync(`${folder}-away`, folder);
    await removeEnded(server().engine, blobs, now + 3_600_000, () => {});
    const { file_id = 0 } = message.file ?? {};
    expect(await server().engine.get('SELECT file_id FROM files WHERE file_id = $1', [file_id])).toBeUndefined();
    await eventually('its bytes are gone', async () => {
      const { rows, blobs: kept_ } = await kept(server());
      return rows === kept_ || undefined;
    });
  });

  test('announced with a length that is none are refused', async () => {
    for (const length of ['1e+21', '-1', '1.5', ' ', 'abc', '0x10']) {
      const reply = await request(`${ada.url}/api/uploads`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ada.token}`, 'tus-resumable': '1.0.0', 'upload-length': length },
      });
      expectRefusal(reply, 'invalid_request');
    }
  });

  test('behind a boundary that is none are refused', async () => {
    const part = 'Content-Disposition: form-data; name="chat_id"\r\n\r\n1';
    const reply = await request(`${ada.url}/api/messages.php?action=send_message`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'multipart/form-data; boundary=b' },
      body: `--b-\r\n${part}\r\n--b--\r\n`,
    });
    expect(expectRefusal(reply, 'invalid_request').message).toContain('boundary');
  });
});
