import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { removeEnded } from '@parley/server/files/removal.ts';
import { parseS3Url } from '@parley/server/files/storage/s3-url.ts';
import { withSegments } from '@parley/server/files/storage/segments.ts';
import type { Client } from '@parley/server/test/support/client.ts';
import { emptyEnvironment } from '@parley/server/test/support/engines.ts';
import { sha256, someBytes } from '@parley/server/test/support/files.ts';
import { startServer, type TestServer } from '@parley/server/test/support/server.ts';
import { freshPlace, onS3, openPlace } from '@parley/server/test/support/storages.ts';
import { S3Client } from 'bun';
import { at, backedUp, bytesOf, newPath, otherEngine, restored } from './backups.ts';
import { failed, parley, said } from './parley.ts';

const newGroup = async (by: Client) =>
  (await by.ok('messages.create_group', { name: 'Group', participants: [] })).group.chat_id;

/** How many objects a bucket has. */
async function objectsIn(url: string): Promise<number> {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = parseS3Url(url);
  return (await S3Client.list({}, { endpoint, bucket, region, accessKeyId, secretAccessKey })).contents?.length ?? 0;
}

/** A backup of a server that keeps files on its disk, with one in it. */
async function withFile() {
  const env = await emptyEnvironment('sqlite');
  const server = await startServer(env);
  const ada = await server.user('ada');
  // It is large, so a part of it arrives before the end is found missing.
  const file = new File([crypto.getRandomValues(someBytes(600_000))], 'a.bin');
  const { message } = await ada.ok('messages.send_message', { chat_id: await newGroup(ada), content: 'Moved', file });
  const { file_id: fileId = 0, sha256: expected = '' } = message.file ?? {};
  const path = await backedUp(env);
  await server.stop();
  const hashAt = async (server: TestServer) => sha256((await bytesOf(at(server, ada), fileId)).bytes);
  return { path, message, expected, ada, hashAt };
}

onS3('files that are restored where there is a bucket', () => {
  test('go into it, stay there from then on, and are not there where the backup is damaged', async () => {
    const { path, expected, hashAt } = await withFile();
    const S3_URL = await freshPlace('s3');
    const cut = { ...(await emptyEnvironment('sqlite')), S3_URL };
    const bytes = readFileSync(path).subarray(0, -10);
    expect(await parley(['restore', '-'], cut, bytes)).toEqual(failed(1, 'damaged or truncated'));
    expect(await objectsIn(S3_URL)).toBe(0);

    const moved = await restored(path, 'sqlite', { S3_URL });
    expect(await hashAt(moved.server)).toBe(expected);
    expect(await objectsIn(S3_URL)).toBe(1);
    const second = newPath();
    expect((await parley(['backup', second], moved.server.env)).stderr).toStartWith('Not included: 1 file in ');
    await moved.server.stop();
    await using again = await restored(second, otherEngine('sqlite'), { S3_URL });
    expect(await hashAt(again.server)).toBe(expected);
  });

  test('leave those alone that another server has there', async () => {
    const { path, message, expected, ada, hashAt } = await withFile();
    const S3_URL = await freshPlace('s3');
    await using live = await restored(path, 'sqlite', { S3_URL });
    const cut = { ...(await emptyEnvironment('sqlite')), S3_URL };
    const bytes = readFileSync(path).subarray(0, -10);
    expect(await parley(['restore', '-'], cut, bytes)).toEqual(failed(1, 'damaged or truncated'));
    expect(await hashAt(live.server)).toBe(expected);
    expect(await objectsIn(S3_URL)).toBe(1);

    await using trial = await restored(path, 'sqlite', { S3_URL });
    expect(await hashAt(trial.server)).toBe(expected);
    await at(trial.server, ada).ok('messages.delete_message', { message_id: message.message_id });
    await sweep(trial.server, S3_URL, Date.now() + 1);
    expect(await objectsIn(S3_URL)).toBe(1);
    expect(await hashAt(live.server)).toBe(expected);
  });
});

async function sweep(server: TestServer, place: string, now: number): Promise<void> {
  while (await removeEnded(server.engine, withSegments(openPlace(place)), now, () => {}));
}

onS3('uploads that were not sent when a server with a bucket was backed up', () => {
  test('belong to that server: the restored one does not remove them', async () => {
    const S3_URL = await freshPlace('s3');
    const env = { ...(await emptyEnvironment('sqlite')), S3_URL };
    const live = await startServer(env);
    const ada = await live.user('ada');
    const chat_id = await newGroup(ada);
    const body = 'precious'.repeat(100);
    const headers = { authorization: `Bearer ${ada.token}`, 'tus-resumable': '1.0.0' };
    const begin = async () => {
      const asked = {
        ...headers,
        'upload-length': String(body.length),
        'upload-metadata': `filename ${btoa('a.txt')}`,
      };
      const made = await fetch(`${live.url}/api/uploads`, { method: 'POST', headers: asked });
      return new URL(made.headers.get('location') ?? '', live.url);
    };
    const complete = async (upload: URL) => {
      const type = { 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' };
      expect((await fetch(upload, { method: 'PATCH', headers: { ...headers, ...type }, body })).status).toBe(204);
    };
    const [whole, begun] = [await begin(), await begin()];
    await complete(whole);
    const path = newPath();
    await said(['backup', path], env);
    await complete(begun);
    const ids = await live.engine.all<{ file_id: number }>('SELECT file_id FROM files ORDER BY file_id');
    expect(ids.length).toBe(2);
    for (const { file_id } of ids) await ada.ok('messages.send_message', { chat_id, content: 'Sent', file_id });

    await using trial = await restored(path, 'sqlite', { S3_URL });
    await sweep(trial.server, S3_URL, Date.now() + 365 * 86_400_000);
    const found = await Promise.all(ids.map(({ file_id }) => bytesOf(ada, file_id)));
    expect(found.map(({ status, bytes }) => [status, bytes.length])).toEqual(ids.map(() => [200, body.length]));
    await live.stop();
  });
});
