import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { FileInfo } from '@parley/contract';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { inChromium, visitors } from '../support/chromium.ts';
import type { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { serverFor } from '../support/server.ts';
import { signedIn } from '../support/visitor.ts';

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** A second of silence. */
function sound(): Buffer<ArrayBuffer> {
  const rate = 8_000;
  const head = Buffer.alloc(44);
  head.write('RIFF');
  head.writeUInt32LE(36 + rate, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(rate, 40);
  return Buffer.concat([head, Buffer.alloc(rate, 128)]);
}

/** Records a short video of two colours in the browser. */
async function film(page: Page): Promise<Buffer<ArrayBuffer>> {
  const bytes = await page.evaluate(async () => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [64, 48];
    const drawing = canvas.getContext('2d');
    const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: 'video/webm' });
    const parts: Blob[] = [];
    recorder.ondataavailable = ({ data }) => parts.push(data);
    const stopped = new Promise((resolve) => {
      recorder.onstop = resolve;
    });
    recorder.start();
    for (const colour of ['red', 'blue', 'red', 'blue', 'red', 'blue']) {
      if (drawing) drawing.fillStyle = colour;
      drawing?.fillRect(0, 0, canvas.width, canvas.height);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    recorder.stop();
    await stopped;
    return [...new Uint8Array(await new Blob(parts).arrayBuffer())];
  });
  return Buffer.from(bytes);
}

/** Returns the text of the page that the browser shows for a file. */
const seen = (page: Page) =>
  page.evaluate(() => {
    const image = document.querySelector('img');
    const player = document.querySelector('video');
    return {
      text: document.body.innerText,
      imageWidth: image?.naturalWidth ?? 0,
      filmWidth: player?.videoWidth ?? 0,
      isPlayable: (player?.readyState ?? 0) >= HTMLMediaElement.HAVE_CURRENT_DATA,
    };
  });

type Seen = Awaited<ReturnType<typeof seen>>;

/** Our pages have no scripts. This one stands for a page with scripts. */
const withScripts = { bypassCSP: true };

const becomes = (page: Page, what: string, isSo: (now: Seen) => boolean): Promise<true> =>
  eventually(what, async () => isSo(await seen(page)) || undefined);

inChromium('a file in a browser', () => {
  const server = serverFor('sqlite');
  const visit = visitors();
  let ada: Client;
  let bob: Client;
  let chat_id: number;
  let filmed: Buffer<ArrayBuffer>;
  beforeAll(async () => {
    ada = await server().user('ada');
    bob = await server().user('bob');
    chat_id = (await ada.ok('messages.create_direct', { user_id: bob.userId })).chat.chat_id;
    filmed = await film(await visit());
  });

  /** Sends a file from Ada to Bob. */
  async function sent(content: BlobPart, name: string): Promise<{ file: FileInfo; message_id: number }> {
    const { file } = await ada.ok('files.upload', { name, file: new File([content], 'sent') });
    const { message } = await ada.ok('messages.send_message', { chat_id, file_id: file.file_id });
    return { file, message_id: message.message_id };
  }

  const linkTo = async ({ file_id }: FileInfo) => (await bob.ok('files.get', { file_id })).link.url;
  const sentLink = async (content: BlobPart, name: string) => linkTo((await sent(content, name)).file);

  /** Opens one of our pages, signed in as Bob. */
  async function bobAtHome(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await visit(options);
    const value = (await signedIn(server(), bob)).session ?? '';
    await page.context().addCookies([{ name: 'parley_session', value, url: server().url }]);
    await page.goto(`${server().url}/password`);
    return page;
  }

  describe('opened by a link', () => {
    /** Collects the console messages, where the browser reports a policy that blocks too much. */
    async function open(address: string): Promise<{ page: Page; complaints: string[] }> {
      const page = await visit();
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      await page.goto(address);
      return { page, complaints };
    }

    test('is a picture', async () => {
      const { page, complaints } = await open(await sentLink(picture, 'picture.png'));
      await becomes(page, 'the picture is shown', ({ imageWidth }) => imageWidth === 1);
      expect(complaints).toEqual([]);
    });

    test('is a video that plays', async () => {
      const { page, complaints } = await open(await sentLink(filmed, 'film.webm'));
      await becomes(page, 'the film is shown', ({ filmWidth, isPlayable }) => filmWidth === 64 && isPlayable);
      expect(complaints).toEqual([]);
    });

    test('is a sound that plays', async () => {
      const { page, complaints } = await open(await sentLink(sound(), 'sound.wav'));
      await becomes(page, 'the sound is there', ({ isPlayable }) => isPlayable);
      expect(complaints).toEqual([]);
    });

    test('is text, whatever it contains', async () => {
      const text = '<script>document.title = "ran"</script> Grüße 👋';
      const { page } = await open(await sentLink(text, 'picture.png'));
      await becomes(page, 'the text is shown', (now) => now.text === text);
      expect(await page.title()).not.toBe('ran');
    });
  });

  describe('that could run code is saved', () => {
    const script = 'document.title = "ran"';
    const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>${script}</script></svg>`;
    const dangerous: [string, string][] = [
      ['page.html', `<script>${script}</script>`],
      ['picture.svg', svg],
      ['data.xml', `<?xml version="1.0"?>${svg}`],
      ['paper.pdf', '%PDF-1.7\n'],
      ['program.js', script],
    ];
    test.each(dangerous)('%s', async (name, content) => {
      const page = await bobAtHome();
      const here = page.url();
      const download = page.waitForEvent('download');
      const link = await sentLink(content, name);
      await page.evaluate((address) => location.assign(address), link);
      expect((await download).suggestedFilename()).toBe(name);
      expect(await Bun.file(await (await download).path()).text()).toBe(content);
      expect(page.url()).toBe(here);
      expect(await page.title()).not.toBe('ran');
    });
  });

  test.each(['تقرير نهائي.pdf', '報告書.pdf', 'naïve 👋.pdf', "it's; 100%25 = 1, 2.pdf"])(
    'is saved under its name: %s',
    async (name) => {
      const page = await visit();
      const download = page.waitForEvent('download');
      const link = await sentLink('%PDF-1.7\n', name);
      await page.evaluate((address) => location.assign(address), link);
      expect((await download).suggestedFilename()).toBe(name);
    },
  );

  describe('on a page of ours', () => {
    test('is downloaded with the cookie', async () => {
      const page = await bobAtHome(withScripts);
      const { file } = await sent('for Bob', 'a.txt');
      const got = await page.evaluate(async (address) => {
        const whole = await fetch(address);
        const part = await fetch(address, { headers: { range: 'bytes=4-' } });
        return [await whole.text(), part.status, part.headers.get('content-range'), await part.text()];
      }, file.url);
      expect(got).toEqual(['for Bob', 206, 'bytes 4-6/7', 'Bob']);
    });

    test('is shown as a picture', async () => {
      const page = await bobAtHome();
      expect(await show(page, (await sent(picture, 'picture.png')).file.url)).toBe('shown');
    });

    test('opens as a video that plays', async () => {
      const page = await bobAtHome();
      const { file } = await sent(filmed, 'film.webm');
      const opened = page.waitForURL(file.url);
      await page.evaluate((address) => location.assign(address), file.url);
      await opened;
      await becomes(page, 'the film is shown', ({ filmWidth, isPlayable }) => filmWidth === 64 && isPlayable);
    });

    test('is revalidated each time: it is not sent twice, nor after access has ended', async () => {
      const page = await bobAtHome(withScripts);
      const { file, message_id } = await sent('for a while', 'a.txt');
      const get = () =>
        page.evaluate(async (address) => {
          const transferred = new Promise<number>((resolve) => {
            const observer = new PerformanceObserver((list) => {
              const [timing] = list.getEntriesByName(address) as PerformanceResourceTiming[];
              if (timing) resolve(timing.transferSize);
            });
            observer.observe({ type: 'resource' });
          });
          const response = await fetch(address);
          const text = await response.text();
          // Browsers count 300 bytes for the head of any response.
          return { status: response.status, text: response.ok ? text : '', sentBytes: (await transferred) - 300 };
        }, file.url);
      expect(await get()).toEqual({ status: 200, text: 'for a while', sentBytes: 11 });
      expect(await get()).toEqual({ status: 200, text: 'for a while', sentBytes: 0 });
      await ada.ok('messages.delete_message', { message_id });
      expect(await get()).toMatchObject({ status: 404, text: '' });
    });

    test('cannot be loaded as a script or a style', async () => {
      const page = await bobAtHome(withScripts);
      const script = (await sent('document.title = "ran"', 'program.js')).file.url;
      const style = (await sent('h1 { color: rgb(1, 2, 3) }', 'style.css')).file.url;
      const outcomes = await page.evaluate(
        async (addresses) => {
          const include = (element: HTMLElement) =>
            new Promise<string>((resolve) => {
              element.onload = () => resolve('included');
              element.onerror = () => resolve('refused');
              document.head.append(element);
            });
          const program = Object.assign(document.createElement('script'), { src: addresses.script });
          const sheet = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: addresses.style });
          return [await include(program), await include(sheet)];
        },
        { script, style },
      );
      expect(outcomes).toEqual(['refused', 'refused']);
      expect(await page.title()).not.toBe('ran');
    });
  });

  describe('on a page of another site', () => {
    let elsewhere: ReturnType<typeof Bun.serve>;
    beforeAll(() => {
      const headers = { 'content-type': 'text/html' };
      elsewhere = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: () => new Response('<!doctype html><title>Elsewhere</title>', { headers }),
      });
    });
    afterAll(() => elsewhere.stop(true));

    // `localhost` is another site than 127.0.0.1; another port of 127.0.0.1 is the same site, where cookies go along.
    for (const host of ['localhost', '127.0.0.1']) {
      test(`at ${host} cannot be read with the cookie of its visitor`, async () => {
        const page = await bobAtHome();
        const { file } = await sent(picture, 'picture.png');
        const link = await linkTo(file);
        await page.goto(`http://${host}:${elsewhere.port}/`);
        expect(await show(page, file.url)).toBe('refused');
        expect(await show(page, link)).toBe('shown');
      });
    }

    test('is read with a token, in ranges, with its headers', async () => {
      const page = await visit();
      const { file } = await sent('0123456789', 'digits.txt');
      await page.goto(`http://localhost:${elsewhere.port}/`);
      const got = await page.evaluate(
        async ({ url, token }) => {
          const headers = { authorization: `Bearer ${token}` };
          const part = await fetch(url, { headers: { ...headers, range: 'bytes=2-4', 'if-range': '"none"' } });
          const rest = await fetch(url, { headers: { ...headers, range: 'bytes=7-' } });
          const names = ['content-range', 'content-disposition', 'accept-ranges', 'etag'];
          return [await part.text(), await rest.text(), ...names.map((name) => rest.headers.get(name))];
        },
        { url: file.url, token: bob.token },
      );
      expect(got).toEqual([
        '0123456789',
        '789',
        'bytes 7-9/10',
        'inline; filename=digits.txt',
        'bytes',
        `"${file.sha256}"`,
      ]);
    });
  });

  /** Adds an image to a page. */
  const show = (page: Page, address: string): Promise<'shown' | 'refused'> =>
    page.evaluate(
      (src) =>
        new Promise((resolve) => {
          const image = document.createElement('img');
          image.onload = () => resolve('shown');
          image.onerror = () => resolve('refused');
          image.src = src;
          document.body.append(image);
        }),
      address,
    );
});
