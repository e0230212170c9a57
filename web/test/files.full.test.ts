import { afterEach, describe, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { png } from '@parley/server/test/support/pictures.ts';
import { describeUnless, require } from '@parley/server/test/support/requirements.ts';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { hostileFileNames } from './hostile.ts';
import { composer, log, networkAddress, scene, write } from './scene.ts';
import { until } from './support.ts';

type Scene = ReturnType<typeof scene>;

const groupWith = async ({ person }: Scene, name: string) =>
  (await person('ada').ok('messages.create_group', { name, participants: [person('bob').userId] })).group.chat_id;

const picture = (width: number, height: number, name = 'picture.png') => ({
  name,
  mimeType: 'image/png',
  buffer: png(width, height, (x, y) => [(x * 255) / width, (y * 255) / height, 160]),
});
const text = (name: string, content = 'The plan') => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(content),
});

/** A quarter of a second of silence. */
function sound(name: string) {
  const samples = 2_000;
  const bytes = Buffer.alloc(44 + samples);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + samples, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(8_000, 24);
  bytes.writeUInt32LE(8_000, 28);
  bytes.writeUInt16LE(1, 32);
  bytes.writeUInt16LE(8, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(samples, 40);
  bytes.fill(128, 44);
  return { name, mimeType: 'audio/wav', buffer: bytes };
}

type Sample = { readonly name: string; readonly mimeType: string; readonly buffer: Buffer };

async function attach(page: Page, files: readonly Sample[]): Promise<void> {
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await (await choosing).setFiles([...files]);
}

const tray = (page: Page) => page.getByRole('list', { name: 'Attached files' });
const uploaded = (page: Page, count: number) =>
  until('the files are uploaded', async () => (await tray(page).getByText('Uploaded').count()) === count);
const send = (page: Page) => page.getByRole('button', { name: 'Send' }).click();

/** Gives files to the page as a drop or a paste does. */
const hand = (page: Page, how: 'drop' | 'paste', name: string) =>
  page.evaluate(
    ({ how, name }) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([`by ${how}`], name));
      const target = document.querySelector('.composer textarea');
      const options = { bubbles: true, cancelable: true };
      target?.dispatchEvent(
        how === 'drop'
          ? new DragEvent('drop', { ...options, dataTransfer: transfer })
          : new ClipboardEvent('paste', { ...options, clipboardData: transfer }),
      );
    },
    { how, name },
  );

function attachments(address?: string): void {
  const stage = scene(address);
  afterEach(() => stage.expectNoFaults());

  test('several files are picked, dropped and pasted, and arrive in one message', async () => {
    const chatId = await groupWith(stage, 'Files');
    const [ada, bob] = [await stage.open('ada', `/chats/${chatId}`), await stage.open('bob', `/chats/${chatId}`)];
    await attach(ada, [text('picked.txt'), picture(800, 400)]);
    await hand(ada, 'drop', 'dropped.txt');
    await hand(ada, 'paste', 'pasted.txt');
    await uploaded(ada, 4);
    await tray(ada).getByRole('button', { name: 'Remove dropped.txt' }).click();
    await write(ada, 'have a look');
    const message = log(bob).locator('.message', { hasText: 'have a look' });
    await message.getByRole('link', { name: /picked\.txt 8 bytes/ }).waitFor();
    await message.getByRole('link', { name: /pasted\.txt/ }).waitFor();
    expect(await message.getByText('dropped.txt').count()).toBe(0);
    const image = message.getByRole('img', { name: 'picture.png' });
    await until('the picture is loaded', () => image.evaluate((img) => (img as HTMLImageElement).naturalWidth > 0));
    expect(await image.getAttribute('src')).toContain('thumbnail');
    expect(await image.evaluate((img) => [img.clientWidth, img.clientHeight])).toEqual([360, 180]);
    expect(await tray(ada).count()).toBe(0);
  });

  test('an upload goes on after a cut, and what is uploaded survives a reload', async () => {
    const chatId = await groupWith(stage, 'Cut');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await composer(ada).waitFor();
    let pieces = 0;
    await ada.route('**/api/uploads/**', (route) => {
      const isCut = route.request().method() === 'PATCH' && ++pieces % 2 === 0;
      return isCut ? route.abort() : route.continue();
    });
    await attach(ada, [text('large.txt', 'x'.repeat(1_500_000))]);
    await uploaded(ada, 1);
    expect(pieces).toBeGreaterThan(6);
    await ada.unroute('**/api/uploads/**');
    await ada.reload();
    await uploaded(ada, 1);
    await ada.route('**/api/messages**', (route) => route.abort());
    await send(ada);
    await log(ada).locator('.message.unsent', { hasText: 'large.txt' }).waitFor();
    await ada.reload();
    await log(ada).locator('.message.unsent', { hasText: 'large.txt' }).waitFor();
    expect(await tray(ada).count()).toBe(0);
    await ada.unroute('**/api/messages**');
    const link = log(ada).getByRole('link', { name: /large\.txt 1\.4 MB/ });
    await link.waitFor();
    await until('it is sent once', async () => (await log(ada).locator('.message').count()) === 1);
  });
}

inChromium('attachments', () => attachments());

const networkMissing = require(networkAddress !== undefined, 'a network address', 'a network interface');
inChromium('attachments over plain HTTP in a local network', () =>
  describeUnless(networkMissing, 'at an address of this machine', () => attachments(networkAddress)),
);

inChromium('files in the client', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  test('a message waits for its files, and an upload can be cancelled', async () => {
    const chatId = await groupWith(stage, 'Waiting');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await composer(ada).waitFor();
    const gate = Promise.withResolvers<void>();
    await ada.route('**/api/uploads', async (route) => {
      await gate.promise;
      await route.continue();
    });
    await attach(ada, [text('slow.txt'), text('other.txt'), text('unwanted.txt')]);
    await tray(ada).getByRole('progressbar', { name: 'Upload of slow.txt' }).waitFor();
    await tray(ada).getByRole('button', { name: 'Cancel unwanted.txt' }).click();
    await composer(ada).fill('with files');
    await composer(ada).press('Enter');
    await ada.getByText('Your message is sent when its files are uploaded.').waitFor();
    expect(await composer(ada).inputValue()).toBe('with files');
    gate.resolve();
    const message = log(ada).locator('.message', { hasText: 'with files' });
    await message.getByRole('link', { name: /other\.txt/ }).waitFor();
    expect(await message.getByRole('link', { name: /\.txt/ }).count()).toBe(2);
    expect(await composer(ada).inputValue()).toBe('');
  });

  test('a refused file says why, and keeps the message until it is removed', async () => {
    const chatId = await groupWith(stage, 'Refused');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await composer(ada).waitFor();
    await attach(ada, [text('empty.txt', ''), text('full.txt')]);
    await tray(ada).getByText('This file is empty.').waitFor();
    await uploaded(ada, 1);
    expect(await ada.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await tray(ada).getByRole('button', { name: 'Remove empty.txt' }).click();
    await send(ada);
    await log(ada)
      .getByRole('link', { name: /full\.txt/ })
      .waitFor();
  });

  test('pictures have their place before they load, and fill the screen on demand, by keyboard too', async () => {
    const chatId = await groupWith(stage, 'Pictures');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await composer(ada).waitFor();
    for (const [i, [width, height]] of [
      [400, 300],
      [60, 900],
      [900, 60],
    ].entries()) {
      await attach(ada, [picture(width as number, height as number, `number-${i}.png`)]);
      await uploaded(ada, 1);
      await send(ada);
      await log(ada)
        .locator('.message[data-message]')
        .getByRole('img', { name: `number-${i}.png` })
        .waitFor();
    }
    // The pictures come later than everything else.
    const gate = Promise.withResolvers<void>();
    const bob = await stage.open('bob');
    await bob.evaluate(() => {
      Object.assign(window, { shift: 0 });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          (window as unknown as { shift: number }).shift += (entry as unknown as { value: number }).value;
        }
      }).observe({ type: 'layout-shift' });
    });
    await bob.route('**/api/files**', async (route) => {
      await gate.promise;
      await route.continue();
    });
    await bob
      .getByRole('navigation', { name: 'Chats' })
      .getByRole('link', { name: /Pictures/ })
      .click();
    const images = log(bob).locator('.picture img');
    await until('all are shown', async () => (await images.count()) === 3);
    const places = () => images.evaluateAll((all) => all.map((image) => JSON.stringify(image.getBoundingClientRect())));
    const before = await places();
    await bob.evaluate(() => Object.assign(window, { shift: 0 }));
    gate.resolve();
    await until('all are loaded', () =>
      images.evaluateAll((all) => all.every((image) => (image as HTMLImageElement).naturalWidth > 0)),
    );
    expect(await places()).toEqual(before);
    expect(await bob.evaluate(() => (window as unknown as { shift: number }).shift)).toBeLessThanOrEqual(0.05);

    await log(bob).getByRole('link', { name: 'number-1.png' }).press('Enter');
    const box = bob.getByRole('dialog', { name: 'View picture' });
    await box.getByRole('img', { name: 'number-1.png' }).waitFor();
    await bob.keyboard.press('ArrowRight');
    await box.getByRole('img', { name: 'number-2.png' }).waitFor();
    await bob.keyboard.press('ArrowRight');
    await bob.keyboard.press('ArrowLeft');
    await bob.keyboard.press('ArrowLeft');
    await box.getByRole('img', { name: 'number-0.png' }).waitFor();
    expect(await box.getByRole('button', { name: 'Previous picture' }).isDisabled()).toBe(true);
    await bob.keyboard.press('Escape');
    await until('it is closed', async () => (await box.count()) === 0);
    const focused = await bob.evaluate(() => document.activeElement?.querySelector('img')?.getAttribute('alt'));
    expect(focused).toBe('number-1.png');
  });

  test('sounds have a player, and more than ten files become two messages', async () => {
    const chatId = await groupWith(stage, 'Many');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await composer(ada).waitFor();
    await attach(ada, [sound('voice.wav'), ...Array.from({ length: 11 }, (_, i) => text(`file-${i}.txt`))]);
    await uploaded(ada, 12);
    await write(ada, 'many files');
    await log(ada).locator('.message[data-message]', { hasText: 'file-10.txt' }).waitFor();
    expect(await log(ada).locator('.message').count()).toBe(2);
    const player = log(ada).locator('audio[aria-label="voice.wav"]');
    await until('it can be played', () => player.evaluate((audio) => (audio as HTMLAudioElement).duration > 0.2));
  });

  test('hostile names of files change nothing and run nothing', async () => {
    const chatId = await groupWith(stage, 'Trap');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await composer(ada).waitFor();
    const elsewhere: string[] = [];
    ada.on('request', (request) => {
      if (!/^(?:blob:|data:)/.test(request.url()) && !request.url().startsWith(stage.url())) {
        elsewhere.push(request.url());
      }
    });
    const strange = () =>
      ada.evaluate(() => {
        const found: string[] = [];
        if ('broken' in window) found.push('code has run');
        if (document.querySelectorAll('main').length !== 1) found.push('something broke out');
        for (const name of document.querySelectorAll('.file-name')) {
          if (name.children.length > 0) found.push(name.outerHTML);
        }
        return found;
      });
    for (let i = 0; i < hostileFileNames.length; i += 10) {
      const names = hostileFileNames.slice(i, i + 10);
      await attach(
        ada,
        names.map((name, j) => (j === 0 ? picture(20, 20, name) : text(name))),
      );
      await uploaded(ada, names.length);
      expect(await strange()).toEqual([]);
      await send(ada);
      await until('it is sent', async () => {
        const shown = await log(ada).locator('.message[data-message]').last().locator('.file-link, .picture').count();
        return (await tray(ada).count()) === 0 && shown === names.length;
      });
      expect(await strange()).toEqual([]);
    }
    expect(elsewhere).toEqual([]);
  });

  describe('breaks no rule of accessibility and fits the screen', () => {
    const screens = [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
      { width: 320, height: 568 },
    ];
    test.each(screens)('at %o', async (viewport) => {
      const chatId = await groupWith(stage, 'Look');
      const page = await stage.open('ada', `/chats/${chatId}`, { viewport, bypassCSP: true });
      await composer(page).waitFor();
      const long = `${'a-very-long-name-'.repeat(12)}.txt`;
      await attach(page, [picture(800, 500), picture(500, 800, 'tall.png'), sound('voice.wav'), text(long)]);
      await uploaded(page, 4);
      await write(page, 'all kinds');
      await log(page).locator('.message[data-message] audio').waitFor();
      await attach(page, [text('empty.txt', ''), text(long), picture(800, 500)]);
      await uploaded(page, 2);
      await page.addScriptTag({ content: axe.source });
      const faults: string[] = [];
      const check = async (state: string) => {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
          for (const { id, nodes } of violations) {
            faults.push(`${state}, ${colorScheme}: ${id} ${nodes.map((node) => node.html).join(' ')}`);
          }
        }
        if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) faults.push(`${state}: wide`);
      };
      await check('the tray');
      // By key: the list may still move under a pointer while the pictures load.
      await log(page).getByRole('link', { name: 'tall.png' }).press('Enter');
      await page.getByRole('dialog', { name: 'View picture' }).getByRole('img').waitFor();
      await check('a picture');
      expect(faults).toEqual([]);
    });
  });
});
