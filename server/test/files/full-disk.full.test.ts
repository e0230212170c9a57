import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { changePasswordOf } from '../../auth/administer.ts';
import { openDisk } from '../../files/storage/disk.ts';
import { temporaryFolder } from '../support/cleanup.ts';
import { Client, type Failure } from '../support/client.ts';
import { freshEnvironment } from '../support/engines.ts';
import { filePart, formWith, keeps, nothing, post, sending, someBytes, textPart, uploading } from '../support/files.ts';
import { users } from '../support/people.ts';
import { describeUnless } from '../support/requirements.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { Visitor } from '../support/visitor.ts';
import { expectRefusal, request } from '../support/wire.ts';

const mebi = 1024 ** 2;
const key = 'a-key-of-a-file-0123';

describe('a disk', () => {
  const diskWith = (free: number, total: number) => openDisk(temporaryFolder(), async () => ({ free, total }));

  test('leaves 256 MiB free, or a twentieth of a small disk, but at least 32 MiB', async () => {
    const large = diskWith(1_000 * mebi, 100_000 * mebi);
    expect(await large.hasRoomFor(744 * mebi)).toBe(true);
    expect(await large.hasRoomFor(745 * mebi)).toBe(false);
    const small = diskWith(100 * mebi, 1_000 * mebi);
    expect(await small.hasRoomFor(50 * mebi)).toBe(true);
    expect(await small.hasRoomFor(51 * mebi)).toBe(false);
    const tiny = diskWith(40 * mebi, 100 * mebi);
    expect(await tiny.hasRoomFor(8 * mebi)).toBe(true);
    expect(await tiny.hasRoomFor(9 * mebi)).toBe(false);
  });

  test('that becomes full during an upload stores no more of it', async () => {
    let free = 100 * mebi;
    const disk = openDisk(temporaryFolder(), async () => ({ free, total: 1_000 * mebi }));
    const writer = await disk.append(key, 0);
    await writer.write(new Uint8Array(2 * mebi));
    free = 50 * mebi;
    const goOn = async () => {
      try {
        await writer.write(new Uint8Array(3 * mebi));
      } finally {
        await writer.close();
      }
    };
    await expect(goOn()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('full') });
  });
});

/** Mounts a file system of 64 MiB, if that is permitted. */
const folder = temporaryFolder();
const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder], { stderr: 'ignore' });
const isMounted = exitCode === 0;
describeUnless(isMounted ? undefined : 'Mounting a file system takes root.', 'a server on a full disk', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ ...(await freshEnvironment('sqlite')), PARLEY_DATA: folder });
  });
  afterAll(async () => {
    await server.stop();
    Bun.spawnSync(['umount', folder]);
  });

  test('refuses a file that does not fit, keeps nothing of it, and serves on', async () => {
    const { ada } = await users(server, 'ada');
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'Group', participants: [] })).group;
    const tooMuch = someBytes(70 * mebi);
    const form = formWith(textPart('chat_id', chat_id), filePart(tooMuch));
    for (const reply of [await post(ada, sending, form), await post(ada, uploading, tooMuch, 'text/plain')]) {
      expect(expectRefusal(reply, 'unavailable').message).toContain('full');
      await keeps(server, nothing);
      await ada.ok('messages.send_message', { chat_id, content: 'There is room for a word.' });
    }
    const announced = await request(`${server.url}/api/uploads`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ada.token}`,
        'tus-resumable': '1.0.0',
        'upload-length': String(tooMuch.length),
      },
    });
    expect(expectRefusal(announced, 'unavailable').message).toContain('full');
    await keeps(server, nothing);
    await ada.ok('messages.send_message', { chat_id, file: new File(['It fits.'], 'small.txt') });
    await keeps(server, { rows: 1, blobs: 1 });
  });

  test('refuses messages before the disk is full, and lets the administrator disable their sender', async () => {
    const { userId } = await server.user('chief', { admin: true });
    await changePasswordOf(server.tools, { userName: 'chief', password: 'a long password' });
    const root = new Client(server.url, await server.token('chief'), userId);
    const { eve } = await users(server, 'eve');
    const { chat_id } = (await eve.ok('messages.create_group', { name: 'Flood', participants: [] })).group;
    const spare = (await eve.ok('tokens.create', { name: 'spare' })).token.token_id;
    const flood = async (): Promise<Failure> => {
      for (;;) {
        const content = Buffer.from(crypto.getRandomValues(new Uint8Array(12_000))).toString('base64');
        const sent = await Promise.all(
          Array.from({ length: 20 }, () => eve.call('messages.send_message', { chat_id, content })),
        );
        const error = sent.find((one) => one.error)?.error;
        if (error) return error;
      }
    };
    expect(await flood()).toMatchObject({ code: 'unavailable', message: expect.stringContaining('almost full') });
    expect(await (await fetch(`${server.url}/readyz`)).text()).toContain('almost full');
    expect(
      (await new Visitor(server.url).post('/sign-in', { name: 'chief', password: 'a long password' })).status,
    ).toBe(303);
    await eve.ok('tokens.revoke', { token_id: spare });
    await root.ok('users.disable', { user_id: eve.userId });
    expect((await eve.call('users.me', {})).status).toBe(401);
  });
});
