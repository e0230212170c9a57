import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ArchiveWriter } from '@parley/server/backup/archive-writer.ts';
import { type BackupDeps, backUp } from '@parley/server/backup/backup.ts';
import { idsAfter } from '@parley/server/backup/ids.ts';
import { readSettings } from '@parley/server/config.ts';
import { removeEnded } from '@parley/server/files/removal.ts';
import { openDisk } from '@parley/server/files/storage/disk.ts';
import { withSegments } from '@parley/server/files/storage/segments.ts';
import { newestVersion, schemaVersion } from '@parley/server/store/engine/migrate.ts';
import { withSnapshot } from '@parley/server/store/engine/open.ts';
import { findFile } from '@parley/server/store/files/files.ts';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { Client } from '@parley/server/test/support/client.ts';
import { type Environment, emptyEnvironment, onAnyEngine } from '@parley/server/test/support/engines.ts';
import { eventually } from '@parley/server/test/support/eventually.ts';
import { kept } from '@parley/server/test/support/files.ts';
import { picture } from '@parley/server/test/support/pictures.ts';
import { startServer } from '@parley/server/test/support/server.ts';
import { at, bytesOf, handmade, leftIn, newPath, otherEngine, restored, tablesAt } from './backups.ts';
import { failed, parley } from './parley.ts';

const newGroup = async (by: Client) =>
  (await by.ok('messages.create_group', { name: 'Group', participants: [] })).group.chat_id;

/** Sends a file and answers its message. */
const sendFile = async (by: Client, chat_id: number, text: string) =>
  (await by.ok('messages.send_message', { chat_id, content: text, file: new File([text], 'a.txt') })).message;

/** The one file whose bytes are these. */
function blobWith(env: Environment, text: string): string {
  const folder = join(env.PARLEY_DATA ?? '', 'files');
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && Bun.file(path).size === text.length) return path;
  }
  throw new Error(`no file says ${text}`);
}

/** Backs up what an environment names, within this process. */
async function written(env: Environment, parts: Partial<BackupDeps> = {}) {
  const settings = readSettings(env);
  const pieces: Uint8Array[] = [];
  const sink = async (bytes: Uint8Array) => void pieces.push(Buffer.from(bytes));
  const outcome = await backUp({
    withSnapshot: (work) => withSnapshot(settings, work),
    isKept: async () => true,
    files: { blobs: withSegments(openDisk(settings.folder)) },
    key: undefined,
    archive: new ArchiveWriter(sink, Date.now(), new AbortController().signal),
    beganAt: Date.now(),
    completeUpTo: async () => 0,
    progress: () => {},
    ...parts,
  });
  const path = newPath();
  writeFileSync(path, Buffer.concat(pieces));
  return { outcome, path };
}

onAnyEngine('files', (engine) => {
  test('that are deleted while the backup is made are missing from it, and their messages are there', async () => {
    const env = { ...(await emptyEnvironment(engine)), PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
    const server = await startServer(env);
    const ada = await server.user('ada');
    const chat_id = await newGroup(ada);
    const [gone, stays] = [await sendFile(ada, chat_id, 'to be deleted'), await sendFile(ada, chat_id, 'to stay')];
    const { outcome, path } = await written(env, {
      withSnapshot: async (work) => {
        const answer = await withSnapshot(readSettings(env), work);
        await ada.ok('messages.delete_message', { message_id: gone.message_id });
        while (await removeEnded(server.engine, openDisk(readSettings(env).folder), Date.now() + 1, () => {}));
        return answer;
      },
      isKept: async (fileId) => (await findFile(server.engine, fileId, Date.now())) !== undefined,
    });
    expect(outcome).toMatchObject({ removed: [gone.file?.file_id], lost: [], altered: [] });
    await server.stop();

    const { PARLEY_SECRET_KEY } = env;
    await using again = await restored(path, otherEngine(engine), { PARLEY_SECRET_KEY });
    const ada2 = at(again.server, ada);
    const { messages } = await ada2.ok('messages.get_messages', { chat_id });
    expect(messages.map(({ content }) => content)).toEqual(['to be deleted', 'to stay']);
    expect((await bytesOf(ada2, gone.file?.file_id ?? 0)).status).toBe(404);
    expect(Buffer.from((await bytesOf(ada2, stays.file?.file_id ?? 0)).bytes).toString()).toBe('to stay');
    expect(await kept(again.server)).toEqual({ rows: 1, blobs: 1 });
  });

  test('that are images keep their dimensions, and get another thumbnail; avatars are there', async () => {
    const env = await emptyEnvironment(engine);
    const server = await startServer(env);
    const ada = await server.user('ada');
    const chat_id = await newGroup(ada);
    const { message } = await ada.ok('messages.send_message', { chat_id, file: picture(90, 60) });
    const { user } = await ada.ok('users.set_avatar', { file: picture() });
    const seen = async (by: Client, url: string | null | undefined) => {
      const moved = (url ?? '').replace(server.url, by.url);
      const response = await fetch(moved, { headers: { authorization: `Bearer ${by.token}` } });
      return { status: response.status, bytes: await response.bytes() };
    };
    const before = [await seen(ada, message.file?.thumbnail_url), await seen(ada, user.avatar_url)];
    expect(before.map(({ status }) => status)).toEqual([200, 200]);
    const path = newPath();
    expect((await parley(['backup', path], env)).code).toBe(0);
    await server.stop();

    await using again = await restored(path, otherEngine(engine));
    const ada2 = at(again.server, ada);
    const { file } = (await ada2.ok('messages.get_messages', { chat_id })).messages[0] ?? {};
    expect(file).toMatchObject({ width: 90, height: 60 });
    expect(await kept(again.server)).toEqual({ rows: 1, blobs: 1 });
    expect([await seen(ada2, file?.thumbnail_url), await seen(ada2, user.avatar_url)]).toEqual(before);
    expect(await kept(again.server)).toEqual({ rows: 1, blobs: 2 });
  });

  test('that are several in one message stay with it', async () => {
    const env = await emptyEnvironment(engine);
    const server = await startServer(env);
    const [ada, bob] = [await server.user('ada'), await server.user('bob')];
    const chat_id = await newGroup(ada);
    await ada.ok('chats.add_participants', { chat_id, participants: [bob.userId] });
    const file_ids: number[] = [];
    for (const text of ['one', 'two']) {
      file_ids.push((await ada.ok('files.upload', { file: new File([text], 'a.txt') })).file.file_id);
    }
    const { message } = await ada.ok('messages.send_message', { chat_id, file_ids });
    const path = newPath();
    expect((await parley(['backup', path], env)).code).toBe(0);
    await server.stop();

    await using again = await restored(path, otherEngine(engine));
    const bob2 = at(again.server, bob);
    const { messages } = await bob2.ok('messages.get_messages', { chat_id });
    expect(messages[0]?.files?.map((file) => file.file_id)).toEqual(file_ids);
    expect(Buffer.from((await bytesOf(bob2, file_ids[1] ?? 0)).bytes).toString()).toBe('two');
    await at(again.server, ada).ok('messages.delete_message', { message_id: message.message_id });
    await eventually('both files are removed', async () => (await kept(again.server)).rows === 0 || undefined);
  });

  test('that are lost or damaged in the storage are listed, and do not stop the backup', async () => {
    const env = await emptyEnvironment(engine);
    const server = await startServer(env);
    const ada = await server.user('ada');
    const chat_id = await newGroup(ada);
    const texts = ['lost', 'damaged', 'sound as ever'];
    const ids: number[] = [];
    for (const text of texts) ids.push((await sendFile(ada, chat_id, text)).file?.file_id ?? 0);
    rmSync(blobWith(env, 'lost'));
    writeFileSync(blobWith(env, 'damaged'), 'DAMAGED');
    // An upload in progress is not part of the backup, so the restore leaves no trace of it.
    const upload = { method: 'POST', headers: { ...tus(ada), 'upload-length': '100' } };
    expect((await fetch(`${server.url}/api/uploads`, upload)).status).toBe(201);
    const path = newPath();
    const { code, stderr } = await parley(['backup', path], env);
    expect({ code, lines: stderr.trim().split('\n') }).toEqual({
      code: 0,
      lines: [
        `Not included, because missing from the storage: 1 file (${ids[0]}).`,
        `Included, but damaged in the storage: 1 file (${ids[1]}).`,
      ],
    });
    await server.stop();
    await using again = await restored(path, engine);
    const ada2 = at(again.server, ada);
    const found = await Promise.all(ids.map((id) => bytesOf(ada2, id)));
    expect(found.map(({ status }) => status)).toEqual([404, 200, 200]);
    expect(found.slice(1).map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['DAMAGED', 'sound as ever']);
    expect(await kept(again.server)).toEqual({ rows: 2, blobs: 2 });
  });
});

const tus = (by: Client) => ({ authorization: `Bearer ${by.token}`, 'tus-resumable': '1.0.0' });

test('a file that cannot be read ends the backup, which is not to pass for one without it', async () => {
  const env = await emptyEnvironment('sqlite');
  const server = await startServer(env);
  const ada = await server.user('ada');
  const { file } = await sendFile(ada, await newGroup(ada), 'precious');
  const blob = blobWith(env, 'precious');
  const path = newPath();
  const refused = failed(1, `File ${file?.file_id} cannot be read from the storage (`);
  renameSync(blob, `${blob}-aside`);
  // A folder has a size, but its bytes cannot be read.
  mkdirSync(blob);
  expect(await parley(['backup', path], env)).toEqual(refused);
  rmdirSync(blob);
  symlinkSync(basename(blob), blob);
  expect(await parley(['backup', path], env)).toEqual(refused);
  expect(readdirSync(dirname(path))).toEqual([]);
  await server.stop();
});

onAnyEngine('a backup of an older Parley', (engine) => {
  const schema = 2;
  const page = 'tables/users/000000.json';
  const columns = {
    user_id: 'int',
    name: 'text',
    name_key: 'text',
    display_name: 'text',
    search_key: 'text',
    is_admin: 'int',
    password_hash: 'text',
    created_at: 'int',
    disabled_at: 'int',
  };
  const ada = [7, 'ada', 'ada', 'Ada', 'ada ada', 1, null, 1, null];
  const rows = { [page]: JSON.stringify([ada]) };
  const others = async () => (await tablesAt(schema)).tables.filter(({ name }) => name !== 'users');

  test('is restored with the schema of then, and brought up to date', async () => {
    const tables = [{ name: 'users', columns, rows: 1 }, ...(await others())];
    const path = await handmade({ schema, tables, last_ids: { users: 40 } }, rows);
    const since = Date.now();
    await using again = await restored(path, engine);
    expect(await schemaVersion(again.server.engine)).toBe(newestVersion);
    const client = new Client(again.server.url, await again.server.token('ada'), 7);
    expect((await client.ok('users.me', {})).user).toMatchObject({ user_id: 7, kind: 'person', is_admin: true });
    // A newer version may have used ids of these kinds after the backup was made.
    const { file } = await sendFile(client, await newGroup(client), 'a file');
    for (const id of [(await again.server.user('bob')).userId, file?.file_id]) {
      expect(id).toBeGreaterThan(idsAfter(0, since, since));
      expect(id).toBeLessThan(idsAfter(0, since, Date.now()) + 10);
    }
  });

  test('is refused where it does not fit its schema, or not all of it is there', async () => {
    const env = await emptyEnvironment(engine);
    const all = await others();
    const refuse = async (
      tables: readonly object[],
      line: string,
      besides: Readonly<Record<string, string>> = rows,
    ) => {
      const path = await handmade({ schema, tables: [...tables, ...all] }, besides);
      expect(await parley(['restore', path], env)).toEqual(failed(1, line));
      expect(await leftIn(env)).toEqual([]);
    };
    const users = { name: 'users', columns, rows: 1 };
    const foreign = { name: 'pg_class', columns: { relname: 'text' }, rows: 0 };
    const ours = { name: 'schema_versions', columns: { version: 'int', applied_at: 'int' }, rows: 0 };
    await refuse([{ ...users, columns: { ...columns, shoe_size: 'int' } }], 'users is not one of schema version 2');
    for (const other of [foreign, ours, users]) await refuse([users, other], 'is not one of schema version 2');
    await refuse([{ ...users, rows: 2 }], 'it has 1 rows of users instead of 2');
    await refuse([], 'the table users of schema version 2 is not in it');
    await refuse([users], 'tables/usages/000000.json is not in its manifest', {
      ...rows,
      'tables/usages/000000.json': '[]',
    });
    const noRows = [JSON.stringify({ length: 1, 0: ada }), '[{}]', JSON.stringify([ada.slice(1)])];
    for (const wrong of [...noRows, JSON.stringify([['7', ...ada.slice(1)]])])
      await refuse([users], 'invalid rows', { [page]: wrong });
  });
});

test('files in a bucket stay there, which backup and restore say', async () => {
  const env = await emptyEnvironment('sqlite');
  const server = await startServer(env);
  const ada = await server.user('ada');
  await sendFile(ada, await newGroup(ada), 'a file');
  const path = newPath();
  const S3_URL = 'http://KEY:SECRET@127.0.0.1:9/files?region=here';
  const { code, stderr } = await parley(['backup', path], { ...env, S3_URL });
  await server.stop();
  const line = 'Not included: 1 file in the bucket files at http://127.0.0.1:9. Back up the bucket too.\n';
  expect({ code, stderr }).toEqual({ code: 0, stderr: line });
  const target = { ...(await emptyEnvironment('sqlite')), PARLEY_DATA: join(temporaryFolder(), 'new') };
  const outcome = await parley(['restore', path], target);
  expect(outcome.stderr).toContain('Not in the backup: 1 file in the bucket files at http://127.0.0.1:9.');
  expect(outcome.code).toBe(0);
});
