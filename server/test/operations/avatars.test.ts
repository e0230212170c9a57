import { beforeAll, describe, expect, test } from 'bun:test';
import { addBot } from '../../auth/administer.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { bitPng, type Color, fileOf, picture, png, pngOf, quarters, scanBomb, withExif } from '../support/pictures.ts';
import { serverFor, standingStill, startServer } from '../support/server.ts';
import { complaint, expectRefusal } from '../support/wire.ts';

const red: Color = [220, 20, 20];
const green: Color = [20, 220, 20];
const blue: Color = [20, 20, 220];
const near = (found: Color | undefined, expected: Color | undefined) =>
  found?.every((value, i) => Math.abs(value - (expected?.[i] ?? -99)) < 40) ?? false;

const secret = 'taken at 51.5007 N';

onAnyEngine('avatars', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
  });
  const fetchAs = (client: Client, url: string | null, headers: Record<string, string> = {}) =>
    fetch(url ?? '', { headers: { authorization: `Bearer ${client.token}`, ...headers } });
  const avatarUrl = async (client: Client) => (await client.ok('users.me', {})).user.avatar_url;
  const stored = async () => {
    const count = (sql: string) => server().engine.get<{ total: number }>(sql);
    const files = await count('SELECT count(*) AS total FROM files');
    const bytes = await count('SELECT CAST(COALESCE(sum(file_bytes), 0) AS bigint) AS total FROM owner_use');
    return { files: files?.total, bytes: bytes?.total };
  };

  describe('are set', () => {
    test('in two sizes, which others fetch and keep until the picture changes', async () => {
      const { user } = await ada.ok('users.set_avatar', { file: picture(40, 40) });
      expect(user.avatar_url).toStartWith(`${server().url}/api/users.php?action=avatar&user_id=${ada.userId}&version=`);
      expect((await bob.ok('users.get', { user_id: ada.userId })).user).toEqual(user);
      for (const size of [64, 256]) {
        const response = await fetchAs(bob, `${user.avatar_url}&size=${size}`);
        expect(response.status).toBe(200);
        expect(response.headers.get('content-type')).toBe('image/webp');
        expect(response.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
        expect(response.headers.get('content-security-policy')).toContain('sandbox');
        const etag = response.headers.get('etag') ?? '';
        expect(await new Bun.Image(await response.bytes()).metadata()).toMatchObject({ width: size, height: size });
        expect((await fetchAs(bob, `${user.avatar_url}&size=${size}`, { 'if-none-match': etag })).status).toBe(304);
      }
      const other = (await ada.ok('users.set_avatar', { file: picture(40, 40) })).user.avatar_url;
      expect(other).not.toBe(user.avatar_url);
      // The old URL shows the new picture, and nobody keeps it.
      const late = await fetchAs(bob, user.avatar_url);
      expect(late.headers.get('cache-control')).toBe('private, no-cache');
    });

    test('from the middle of a picture', async () => {
      const wide = png(300, 100, (x) => (x < 100 ? green : x < 200 ? red : blue));
      const tall = png(90, 270, (_, y) => (y < 90 ? green : y < 180 ? red : blue));
      for (const bytes of [wide, tall]) {
        const { user } = await ada.ok('users.set_avatar', { file: fileOf(bytes, 'a.png') });
        const seen = await quarters(await (await fetchAs(bob, user.avatar_url)).bytes());
        for (const color of seen) expect({ color, isRed: near(color, red) }).toEqual({ color, isRed: true });
      }
    });

    test('upright and without metadata', async () => {
      const sides = png(200, 200, (x) => (x < 100 ? red : blue));
      const jpeg = withExif(await new Bun.Image(sides).jpeg({ quality: 95 }).buffer(), 6, secret);
      const { user } = await ada.ok('users.set_avatar', { file: fileOf(jpeg, 'a.jpg') });
      const shown = Buffer.from(await (await fetchAs(bob, user.avatar_url)).bytes());
      // Turned clockwise by a quarter: the left half is on top.
      const [topLeft, topRight, bottomLeft, bottomRight] = await quarters(shown);
      for (const color of [topLeft, topRight]) expect(near(color, red)).toBe(true);
      for (const color of [bottomLeft, bottomRight]) expect(near(color, blue)).toBe(true);
      expect(shown.includes('51.5007')).toBe(false);
      expect(shown.includes('EXIF')).toBe(false);
    });

    test('from JPEG, PNG, WebP and GIF, of which the first picture counts', async () => {
      const base = png(50, 50, () => red);
      const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
      const frame = gif.subarray(19, -1);
      const animated = Buffer.concat([gif.subarray(0, -1), frame, frame, gif.subarray(-1)]);
      const pictures = [
        base,
        await new Bun.Image(base).jpeg().buffer(),
        await new Bun.Image(base).webp().buffer(),
        gif,
      ];
      for (const bytes of [...pictures, animated]) {
        const { user } = await ada.ok('users.set_avatar', { file: fileOf(bytes, 'picture') });
        expect((await fetchAs(bob, user.avatar_url)).status).toBe(200);
      }
    });

    test('from bytes without a form', async () => {
      const url = `${server().url}/api/users/set_avatar`;
      const headers = { authorization: `Bearer ${ada.token}`, 'content-type': 'image/png' };
      const set = (query: string, body: Uint8Array<ArrayBuffer>) =>
        fetch(url + query, { method: 'POST', headers, body });
      const before = await avatarUrl(ada);
      const response = await set('?name=a.png', await picture().bytes());
      expect(response.status).toBe(200);
      expect(await avatarUrl(ada)).not.toBe(before);
      expect((await set('', await picture().bytes())).status).toBe(422);
      expect((await set(`?name=a.png&user_id=${bob.userId}`, await picture().bytes())).status).toBe(404);
    });

    test('and leave neither a file nor its bytes in the quota', async () => {
      const before = await stored();
      await ada.ok('users.set_avatar', { file: picture(40, 40) });
      await ada.call('users.set_avatar', { file: fileOf(Buffer.from('no picture'), 'a.png') });
      expect(await stored()).toEqual(before);
    });

    test('for bots by their owners', async () => {
      const { name: ownerName } = (await ada.ok('users.me', {})).user;
      const name = `pictured${engine}`;
      const { user_id } = await addBot(server().tools, { name, ownerName });
      const bot = new Client(server().url, await server().token(name), user_id);
      const { user } = await ada.ok('users.set_avatar', { file: picture(), user_id });
      expect(user.user_id).toBe(user_id);
      expect(await avatarUrl(bot)).toBe(user.avatar_url);
      expect(await bob.refused('users.set_avatar', { file: picture(), user_id })).toBe('not_found');
      expect(await bob.refused('users.remove_avatar', { user_id })).toBe('not_found');
      expect(await bot.refused('users.set_avatar', { file: picture(), user_id: ada.userId })).toBe('not_found');
      await ada.ok('users.remove_avatar', { user_id });
      expect(await avatarUrl(bot)).toBeNull();
    });

    test('by one of several callers at once, whose picture is the one in both sizes', async () => {
      const { dan, eve } = await users(server(), 'dan', 'eve');
      await dan.ok('messages.create_group', { name: 'Group', participants: [eve.userId] });
      const tip = await eventTip(eve);
      const files = [red, green, blue].map((color) =>
        fileOf(
          png(20, 20, () => color),
          'a.png',
        ),
      );
      await Promise.all(files.map((file) => dan.ok('users.set_avatar', { file })));
      const url = await avatarUrl(dan);
      expect((await eventsAfter(eve, tip)).at(-1)?.data.avatar_url).toBe(url as string);
      const [large] = await quarters(await (await fetchAs(eve, `${url}&size=256`)).bytes());
      const [small] = await quarters(await (await fetchAs(eve, `${url}&size=64`)).bytes());
      expect(near(large, small)).toBe(true);
    });
  });

  test('are told of once for each change', async () => {
    const { dan, eve } = await users(server(), 'dan', 'eve');
    await dan.ok('messages.create_group', { name: 'Group', participants: [eve.userId] });
    const tip = await eventTip(eve);
    const bytes = await picture().bytes();
    const { user } = await dan.ok('users.set_avatar', { file: fileOf(bytes, 'a.png') });
    await dan.ok('users.set_avatar', { file: fileOf(bytes, 'again.png') });
    await dan.ok('users.remove_avatar', {});
    await dan.ok('users.remove_avatar', {});
    const told = await eventsAfter(eve, tip);
    expect(told.map(({ event, data }) => [event, data.avatar_url])).toEqual([
      ['user_updated', user.avatar_url],
      ['user_updated', null],
    ]);
    expect((await fetchAs(eve, user.avatar_url)).status).toBe(404);
  });

  test('are fetched with a token and in a known size only', async () => {
    const { user } = await ada.ok('users.set_avatar', { file: picture() });
    expect((await fetch(user.avatar_url ?? '')).status).toBe(401);
    for (const size of ['63', '0', '512', 'x', '']) {
      expect((await fetchAs(bob, `${user.avatar_url}&size=${size}`)).status).toBe(422);
    }
    const none = { user_id: bob.userId } as never;
    expect(await ada.refused('users.avatar', none)).toBe('not_found');
  });

  test('refuse hostile pictures, which change nothing', async () => {
    const { user: before } = await bob.ok('users.set_avatar', { file: picture() });
    const square = png(64, 64, (x, y) => [x * 4, y * 4, (x * y) & 255]);
    const jpeg = await new Bun.Image(square).jpeg().buffer();
    const webp = await new Bun.Image(square).webp().buffer();
    const huge = Buffer.from(jpeg);
    const frame = huge.indexOf(Buffer.from([0xff, 0xc0]));
    huge.writeUInt16BE(65_500, frame + 5);
    huge.writeUInt16BE(65_500, frame + 7);
    const corpus: Record<string, Buffer> = {
      'pixels of 10 gigabytes': pngOf(50_000, 50_000, Buffer.alloc(10)),
      'pixels beyond any number': pngOf(0x7fffffff, 0x7fffffff, Buffer.alloc(10)),
      'no pixels': pngOf(0, 0, Buffer.alloc(10)),
      'more than it may have': pngOf(5_000, 5_000, Buffer.alloc(10)),
      'a JPEG of 4 gigapixels': huge,
      'too many scans': await scanBomb(),
      'a PNG without its end': square.subarray(0, 80),
      'a WebP without its end': webp.subarray(0, 40),
      'the head of a JPEG': jpeg.subarray(0, 20),
      'a line': png(1_000, 1, () => [1, 2, 3]),
      'a line of 24 million rows': bitPng(1, 24_000_000),
      text: Buffer.from('This is no picture.'),
      markup: Buffer.from(
        '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><script>alert(1)</script></svg>',
      ),
      'a name only': Buffer.from('GIF89a'),
    };
    for (const [name, bytes] of Object.entries(corpus)) {
      const answer = await bob.call('users.set_avatar', { file: fileOf(bytes, 'picture.png') });
      const refused = complaint(expectRefusal(answer, 'validation_failed'), 'file');
      expect({ name, refused }).toEqual({ name, refused: expect.stringMatching(/^(is|has) /) });
    }
    const large = Buffer.alloc(10 * 1_024 ** 2 + 1);
    square.copy(large);
    expect(await bob.refused('users.set_avatar', { file: fileOf(large, 'large.png') })).toBe('payload_too_large');
    expect(await bob.refused('users.set_avatar', { file: fileOf(Buffer.alloc(0), 'empty.png') })).toBe(
      'validation_failed',
    );
    expect(await bob.refused('users.set_avatar', {} as never)).toBe('validation_failed');
    expect((await bob.ok('users.me', {})).user).toEqual(before);
    expect((await fetchAs(ada, before.avatar_url)).status).toBe(200);
  });
});

onAnyEngine('an avatar', (engine) => {
  test('survives a restart, and a large picture costs more requests', async () => {
    const env = { ...(await freshEnvironment(engine)), PARLEY_RATE_LIMIT: '1/200' };
    const first = await startServer(env, standingStill());
    const { ada } = await users(first, 'ada');
    const { user } = await ada.ok('users.set_avatar', { file: picture() });
    const large = await new Bun.Image(await picture().bytes()).resize(4_000, 3_000).jpeg().buffer();
    const remaining = async (file: File) =>
      Number((await ada.call('users.set_avatar', { file })).headers.get('ratelimit-remaining'));
    const before = await remaining(picture());
    expect(before - (await remaining(fileOf(large, 'large.jpg')))).toBe(7);
    const url = (await ada.ok('users.me', {})).user.avatar_url ?? '';
    expect(url).not.toBe(user.avatar_url ?? '');
    const headers = { authorization: `Bearer ${ada.token}` };
    const shown = await (await fetch(url, { headers })).bytes();
    await first.stop();
    const second = await startServer(env);
    try {
      expect(await (await fetch(url.replace(first.url, second.url), { headers })).bytes()).toEqual(shown);
    } finally {
      await second.stop();
    }
  });
});
