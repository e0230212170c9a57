import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeEnded } from '../../files/removal.ts';
import { withSegments } from '../../files/storage/segments.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { users } from '../support/people.ts';
import { bitPng, fileOf, png, pngOf, scanBomb, withExif } from '../support/pictures.ts';
import { serverFor, standingStill, startServer, type TestServer } from '../support/server.ts';
import { freshPlace, onBothStorages, openPlace, type StorageName } from '../support/storages.ts';
import { upload } from '../support/tus.ts';
import { expectRefusal } from '../support/wire.ts';

const noise = (width: number, height: number) =>
  png(width, height, (x, y) => [(x * 7) & 255, (y * 5) & 255, (x ^ y) & 255]);

const fetchAs = (client: Client, url: string | undefined, headers: Record<string, string> = {}) =>
  fetch(url ?? '', { headers: { authorization: `Bearer ${client.token}`, ...headers } });

const thumbnailSize = async (server: TestServer, file_id: number) =>
  (
    await server.engine.get<{ thumbnail_size: number | null }>('SELECT thumbnail_size FROM files WHERE file_id = $1', [
      file_id,
    ])
  )?.thumbnail_size;

onAnyEngine('images', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let stranger: Client;
  let chat_id: number;
  beforeAll(async () => {
    ({ ada, bob, stranger } = await users(server(), 'ada', 'bob', 'stranger'));
    chat_id = (await ada.ok('messages.create_group', { name: 'Group', participants: [bob.userId] })).group.chat_id;
  });
  const uploaded = async (bytes: Uint8Array, name = 'image') =>
    (await ada.ok('files.upload', { file: fileOf(bytes, name) })).file;

  test('have dimensions and a thumbnail, in the message and in its event', async () => {
    const { message } = await ada.ok('messages.send_message', { chat_id, file: fileOf(noise(900, 600), 'a.png') });
    const { file } = message;
    expect(file).toMatchObject({ width: 900, height: 600, mime_type: 'image/png' });
    expect(file?.thumbnail_url).toBe(file?.url.replace('action=download', 'action=thumbnail'));
    const { messages } = await bob.ok('messages.get_messages', { chat_id, limit: 1 });
    expect(messages[0]?.file).toEqual(file);
    const { events } = await bob.ok('events.list', { chat_id, limit: 200, events: ['new_message'] });
    expect(events.at(-1)?.data.file).toEqual(file);
    expect((await bob.ok('files.get', { file_id: file?.file_id ?? 0 })).file).toEqual(file as never);
    // Sent again by its id, it is the same.
    const again = await ada.ok('messages.send_message', { chat_id, file_id: file?.file_id ?? 0 });
    expect(again.message.file).toEqual(file);
    const response = await fetchAs(bob, file?.thumbnail_url);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/webp');
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    const bytes = await response.bytes();
    expect(await new Bun.Image(bytes).metadata()).toEqual({ width: 400, height: 267, format: 'webp' });
    expect(bytes.length).toBeLessThan(file?.size ?? 0);
  });

  test('are never enlarged, and are upright and without metadata', async () => {
    const secret = 'taken at 51.5007 N';
    const jpeg = withExif(await new Bun.Image(noise(60, 30)).jpeg().buffer(), 6, secret);
    const file = await uploaded(jpeg, 'a.jpg');
    expect(file).toMatchObject({ width: 30, height: 60 });
    const shown = Buffer.from(await (await fetchAs(ada, file.thumbnail_url)).bytes());
    expect(await new Bun.Image(shown).metadata()).toMatchObject({ width: 30, height: 60 });
    expect(shown.includes('51.5007')).toBe(false);
  });

  test('are known by their bytes, also after much metadata', async () => {
    const jpeg = await new Bun.Image(noise(70, 50)).jpeg().buffer();
    const segment = Buffer.alloc(60_004, 65);
    segment.set([0xff, 0xe2, 60_002 >> 8, 60_002 & 255]);
    const late = Buffer.concat([jpeg.subarray(0, 2), segment, segment, segment, jpeg.subarray(2)]);
    expect(await uploaded(late, 'photo.txt')).toMatchObject({ width: 70, height: 50, mime_type: 'image/jpeg' });
    const text = await uploaded(Buffer.from('no image'), 'a.png');
    for (const field of ['width', 'height', 'thumbnail_url']) expect(text).not.toHaveProperty(field);
    expect(await ada.refused('files.thumbnail', { file_id: text.file_id } as never)).toBe('not_found');
  });

  test('have them after a resumable upload too', async () => {
    const { fileId } = await upload(ada, noise(40, 20));
    expect((await ada.ok('files.get', { file_id: fileId })).file).toMatchObject({ width: 40, height: 20 });
  });

  test('show their thumbnail to those who may fetch the file, and to nobody else', async () => {
    const { message } = await ada.ok('messages.send_message', { chat_id, file: fileOf(noise(50, 50), 'a.png') });
    const { thumbnail_url, file_id = 0 } = message.file ?? {};
    expect((await fetchAs(bob, thumbnail_url)).status).toBe(200);
    expect((await fetchAs(stranger, thumbnail_url)).status).toBe(404);
    expect((await fetch(thumbnail_url ?? '')).status).toBe(401);
    const { link } = await bob.ok('files.get', { file_id });
    const linked = link.url.replace('action=download', 'action=thumbnail');
    expect((await fetch(linked)).status).toBe(200);
    expect(
      (await fetch(linked.replace(/signature=(.)/, (_, first) => `signature=${first === '_' ? '-' : '_'}`))).status,
    ).toBe(401);
    await ada.ok('chats.remove_participant', { chat_id, user_id: bob.userId });
    expect((await fetchAs(bob, thumbnail_url)).status).toBe(404);
    expect((await fetch(linked)).status).toBe(404);
    await ada.ok('chats.add_participants', { chat_id, participants: [bob.userId] });
  });

  test('have one thumbnail, however many ask for it at once', async () => {
    const { file_id, thumbnail_url } = await uploaded(noise(800, 800));
    expect(await thumbnailSize(server(), file_id)).toBeNull();
    const answers = await Promise.all(Array.from({ length: 8 }, () => fetchAs(ada, thumbnail_url)));
    const bodies = await Promise.all(answers.map((answer) => answer.bytes()));
    for (const body of bodies) expect(body).toEqual(bodies[0] as (typeof bodies)[number]);
    expect(await thumbnailSize(server(), file_id)).toBe(bodies[0]?.length);
    const [first] = answers;
    const headers = { 'if-none-match': first?.headers.get('etag') ?? '' };
    expect((await fetchAs(ada, thumbnail_url, headers)).status).toBe(304);
    const part = await fetchAs(ada, thumbnail_url, { range: 'bytes=0-3' });
    expect({ status: part.status, text: await part.text() }).toEqual({ status: 206, text: 'RIFF' });
  });

  test('that are hostile are files like any other', async () => {
    const square = noise(64, 64);
    const jpeg = await new Bun.Image(square).jpeg().buffer();
    const huge = Buffer.from(jpeg);
    const frame = huge.indexOf(Buffer.from([0xff, 0xc0]));
    huge.writeUInt16BE(65_500, frame + 5);
    huge.writeUInt16BE(65_500, frame + 7);
    const corpus: Record<string, Buffer> = {
      'pixels of 10 gigabytes': pngOf(50_000, 50_000, Buffer.alloc(10)),
      'pixels beyond any number': pngOf(0x7fffffff, 0x7fffffff, Buffer.alloc(10)),
      'no pixels': pngOf(0, 0, Buffer.alloc(10)),
      'pixels that are not there': pngOf(3_000, 3_000, Buffer.alloc(10)),
      'a JPEG of 4 gigapixels': huge,
      'too many scans': await scanBomb(),
      'a line of 2 million rows': bitPng(1, 1_999_999),
      'a line of 24 million rows': bitPng(1, 24_000_000),
      'a line of 2 million columns': bitPng(1_999_999, 1),
      'a long strip': bitPng(700, 33_000),
      'a PNG without its end': square.subarray(0, 80),
      'a PNG with noise in it': Buffer.concat([square.subarray(0, 60), Buffer.alloc(500, 0xa5), square.subarray(60)]),
      'the head of a JPEG': jpeg.subarray(0, 20),
      'the head of a GIF': Buffer.from('GIF89a\xff\xff\xff\xff\0\0\0', 'latin1'),
      'the head of a WebP': Buffer.from(
        'RIFF\xff\xff\xff\x7fWEBPVP8X\x0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff',
        'latin1',
      ),
      markup: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
    };
    for (const [name, bytes] of Object.entries(corpus)) {
      const file = await uploaded(bytes, 'image.png');
      for (let i = 0; i < 2; i++) {
        const refused = await ada.refused('files.thumbnail', { file_id: file.file_id } as never);
        expect({ name, refused }).toEqual({ name, refused: 'not_found' });
      }
      const whole = await fetchAs(ada, file.url);
      expect(Buffer.from(await whole.bytes()).equals(bytes)).toBe(true);
      await ada.ok('messages.send_message', { chat_id, file_id: file.file_id });
    }
    expect((await fetchAs(ada, (await uploaded(square)).thumbnail_url)).status).toBe(200);
  });
});

describe('a large image', () => {
  test('has dimensions, and no thumbnail if it is too long or too narrow', async () => {
    const server = await startServer(await freshEnvironment('sqlite'));
    try {
      const { ada } = await users(server, 'ada');
      for (const [width, height, hasThumbnail] of [
        [4, 200, true],
        [4, 201, false],
        [201, 4, false],
        [660, 32_768, true],
        [660, 32_769, false],
      ] as const) {
        const { file } = await ada.ok('files.upload', { file: fileOf(bitPng(width, height), 'a.png') });
        expect(file).toMatchObject({ width, height });
        expect({ width, height, hasThumbnail: file.thumbnail_url !== undefined }).toEqual({
          width,
          height,
          hasThumbnail,
        });
        if (hasThumbnail) continue;
        const answer = await ada.call('files.thumbnail', { file_id: file.file_id } as never);
        expect(expectRefusal(answer, 'not_found').message).toContain('too long or too narrow');
      }
    } finally {
      await server.stop();
    }
  });

  test('costs its maker nothing when strangers fetch its thumbnail by link', async () => {
    const limits = { PARLEY_RATE_LIMIT: '1/200', PARLEY_OWNER_RATE_LIMIT: '1/100' };
    const server = await startServer({ ...(await freshEnvironment('sqlite')), ...limits }, standingStill());
    try {
      const { ada } = await users(server, 'ada');
      const { file } = await ada.ok('files.upload', { file: fileOf(bitPng(2_000, 1_000), 'a.png') });
      const { link } = await ada.ok('files.get', { file_id: file.file_id });
      const linked = await fetch(link.url.replace('action=download', 'action=thumbnail'));
      expect([linked.status, linked.headers.get('ratelimit-remaining')]).toEqual([200, `${200 - 6}`]);
      expect((await ada.call('users.me', {})).headers.get('ratelimit-remaining')).toBe(`${100 - 3}`);
    } finally {
      await server.stop();
    }
  });

  test.each([
    ['a small picture', noise(40, 30), 1],
    ['a PNG of 2 million pixels in a few bytes', bitPng(2_000, 1_000), 5],
    ['a PNG of many bytes', pngOf(9, 9, Buffer.alloc(2_500_000)), 7],
  ])('is charged by what it costs to decode: %s', async (_, bytes, cost) => {
    const env = { ...(await freshEnvironment('sqlite')), PARLEY_RATE_LIMIT: '1/200' };
    const server = await startServer(env, standingStill());
    try {
      const { ada } = await users(server, 'ada');
      const { file } = await ada.ok('files.upload', { file: fileOf(bytes, 'a.png') });
      const remaining = async () => Number((await fetchAs(ada, file.thumbnail_url)).headers.get('ratelimit-remaining'));
      const before = Number((await ada.call('users.me', {})).headers.get('ratelimit-remaining'));
      const [first, second] = [await remaining(), await remaining()];
      expect([before - first, first - second]).toEqual([1 + cost, 1]);
    } finally {
      await server.stop();
    }
  });

  test('costs more requests until its thumbnail is made', async () => {
    const env = { ...(await freshEnvironment('sqlite')), PARLEY_RATE_LIMIT: '1/200' };
    const server = await startServer(env, standingStill());
    try {
      const { ada } = await users(server, 'ada');
      const large = await new Bun.Image(noise(40, 30)).resize(4_000, 3_000).jpeg().buffer();
      const { file } = await ada.ok('files.upload', { file: fileOf(large, 'large.jpg') });
      const remaining = async () => Number((await fetchAs(ada, file.thumbnail_url)).headers.get('ratelimit-remaining'));
      const [first, second, third] = [await remaining(), await remaining(), await remaining()];
      expect([200 - first, first - second, second - third]).toEqual([8, 1, 1]);
    } finally {
      await server.stop();
    }
  });
});

onBothStorages('thumbnails', (storage: StorageName) => {
  let server: TestServer;
  let place: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    place = await freshPlace(storage);
    const fresh = await freshEnvironment('sqlite');
    env = storage === 's3' ? { ...fresh, S3_URL: place } : fresh;
    if (storage === 'disk') place = fresh.PARLEY_DATA ?? '';
    server = await startServer(env);
  });
  afterAll(() => server.stop());
  const blobs = () => withSegments(openPlace(place));

  test('are stored beside their file, survive a restart, and are removed with it', async () => {
    const { ada } = await users(server, 'ada');
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'Group', participants: [] })).group;
    const { message } = await ada.ok('messages.send_message', { chat_id, file: fileOf(noise(500, 500), 'a.png') });
    const { file_id = 0, thumbnail_url = '' } = message.file ?? {};
    const shown = await (await fetchAs(ada, thumbnail_url)).bytes();
    const row = await server.engine.get<{ key: string }>('SELECT key FROM files WHERE file_id = $1', [file_id]);
    const thumbnail = `${row?.key}-t`;
    expect(await blobs().sizeOf(thumbnail)).toBe(shown.length);
    const { url } = server;
    await server.stop();
    server = await startServer(env);
    const moved = thumbnail_url.replace(url, server.url);
    expect(await (await fetchAs(ada, moved)).bytes()).toEqual(shown);
    // A stored thumbnail whose size was not recorded is made again.
    await server.engine.run('UPDATE files SET thumbnail_size = NULL WHERE file_id = $1', [file_id]);
    expect(await (await fetchAs(ada, moved)).bytes()).toEqual(shown);
    expect(await thumbnailSize(server, file_id)).toBe(shown.length);
    const again = new Client(server.url, ada.token, ada.userId);
    await again.ok('messages.delete_message', { message_id: message.message_id });
    await removeEnded(server.engine, blobs(), Date.now() + 1, () => {});
    expect(await blobs().sizeOf(thumbnail)).toBe(0);
    expect(await blobs().sizeOf(row?.key ?? '')).toBe(0);
    if (storage === 'disk') expect(readdirSync(join(place, 'files', 'incoming'))).toEqual([]);
  });
});
