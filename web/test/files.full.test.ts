import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { png } from '@parley/server/test/support/pictures.ts';
import { describeUnless, require } from '@parley/server/test/support/requirements.ts';
import type { Locator, Page } from 'playwright-core';
import { desk, groupWith, phone, violationsOn } from './acts.ts';
import { hostileFileNames } from './hostile.ts';
import { chats, composer, log, networkAddress, scene, write } from './scene.ts';
import { becomes, until } from './support.ts';

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

/** Half a second of a moving square, recorded by the browser. */
async function film(page: Page): Promise<Buffer> {
  const bytes = await page.evaluate(async () => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [160, 90];
    const pen = canvas.getContext('2d');
    const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: 'video/webm' });
    const parts: Blob[] = [];
    recorder.ondataavailable = ({ data }) => parts.push(data);
    const stopped = new Promise((resolve) => {
      recorder.onstop = resolve;
    });
    recorder.start();
    for (let i = 0; i < 10; i++) {
      pen?.fillRect(i * 10, 20, 30, 30);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    recorder.stop();
    await stopped;
    return [...new Uint8Array(await new Blob(parts).arrayBuffer())];
  });
  return Buffer.from(bytes);
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

/** Returns whether a store of the browser has something. */
const stored = (page: Page, store: string) =>
  page.evaluate(
    (name) =>
      new Promise<boolean>((resolve) => {
        const opening = indexedDB.open(`parley-${document.getElementById('app')?.dataset.userId}`);
        opening.onsuccess = () => {
          const counting = opening.result.transaction(name).objectStore(name).count();
          counting.onsuccess = () => {
            opening.result.close();
            resolve(counting.result > 0);
          };
        };
      }),
    store,
  );

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
  const stage = scene({ address });
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
    await becomes(() => message.getByText('dropped.txt').count(), 0);
    const image = message.getByRole('img', { name: 'picture.png' });
    await until('the picture is loaded', () => image.evaluate((img) => (img as HTMLImageElement).naturalWidth > 0));
    expect(await image.getAttribute('src')).toContain('thumbnail');
    expect(await image.evaluate((img) => [img.clientWidth, img.clientHeight])).toEqual([360, 180]);
    await becomes(() => tray(ada).count(), 0);
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
    await becomes(() => tray(ada).count(), 0);
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
  // Browsers write every refusal to the console.
  afterEach(() => stage.expectNoFaults(/status of 409/));

  test('a message with files is in the list at once, and is sent from another chat and after a reload', async () => {
    const [chatId, otherId] = [await groupWith(stage, 'Waiting'), await groupWith(stage, 'Elsewhere')];
    const ada = await stage.open('ada', `/chats/${chatId}`, desk);
    await composer(ada).waitFor();
    const go = (chat: string) => chats(ada).getByRole('link', { name: chat }).click();
    const message = (words: string) => log(ada).locator('.message', { hasText: words });
    /** Holds the uploads up until the returned function is called. */
    const hold = async () => {
      const gate = Promise.withResolvers<void>();
      await ada.route('**/api/uploads', async (route) => {
        await gate.promise;
        await route.continue().catch(() => {});
      });
      return async () => {
        await ada.unroute('**/api/uploads');
        gate.resolve();
      };
    };
    let release = await hold();
    await attach(ada, [text('slow.txt'), text('other.txt'), text('unwanted.txt'), text('never.txt')]);
    await tray(ada).getByRole('progressbar', { name: 'Upload of slow.txt' }).waitFor();
    await tray(ada).getByRole('button', { name: 'Cancel never.txt' }).click();
    await composer(ada).fill('with files');
    await composer(ada).press('Enter');
    await message('with files').getByText('Uploading…').waitFor();
    expect([await tray(ada).count(), await composer(ada).inputValue()]).toEqual([0, '']);
    await message('with files').getByRole('progressbar', { name: 'Upload of slow.txt' }).waitFor();
    expect(await violationsOn(ada)).toEqual([]);
    await message('with files').getByRole('button', { name: 'Cancel unwanted.txt' }).click();
    await until('the focus is in the composer', () => composer(ada).evaluate((at) => at === document.activeElement));
    // The next keys belong to the next message, which does not wait.
    await ada.keyboard.type('only text');
    await ada.keyboard.press('Enter');
    await message('only text').locator('time').first().waitFor();
    await ada.keyboard.type('the next one');
    await go('Elsewhere');
    await ada.getByRole('heading', { name: 'Elsewhere', level: 1 }).waitFor();
    await release();
    const sent = async () =>
      (await stage.person('bob').ok('messages.get_messages', { chat_id: chatId })).messages.map(
        ({ content, file, files }) => [content, ...(files ?? (file ? [file] : [])).map(({ name }) => name)],
      );
    await until('it is sent', async () => (await sent()).length === 2);
    await becomes(() => sent(), [['only text'], ['with files', 'slow.txt', 'other.txt']]);
    await go('Waiting');
    await becomes(() => composer(ada).inputValue(), 'the next one');

    release = await hold();
    await attach(ada, [text('again.txt', 'x'.repeat(1_000_000))]);
    await ada.keyboard.press('Enter');
    await message('the next one').getByText('Uploading…').waitFor();
    await until('its bytes are stored', () => stored(ada, 'bytes'));
    await ada.goto(`${stage.url()}/chats/${otherId}`);
    await release();
    await until('it is sent too', async () => (await sent()).length === 3);
    expect((await sent())[2]).toEqual(['the next one', 'again.txt']);
  });

  test('a file that fails is told at its message, which is sent without it or put back', async () => {
    const chatId = await groupWith(stage, 'Failing');
    const ada = await stage.open('ada', `/chats/${chatId}`, phone);
    await composer(ada).waitFor();
    let hasRoom = true;
    await ada.route('**/api/uploads', (route) => {
      if (hasRoom) return route.continue();
      const error = { code: 'conflict', message: 'There is no room.' };
      return route.fulfill({ status: 409, json: { success: false, error } });
    });
    const message = (words: string) => log(ada).locator('.message', { hasText: words });
    const sendWith = async (words: string, names: readonly string[]) => {
      hasRoom = false;
      await composer(ada).fill(words);
      // Both at once: the message is sent before its uploads are refused.
      await ada.evaluate((files) => {
        const transfer = new DataTransfer();
        for (const name of files) transfer.items.add(new File(['bytes'], name));
        const field = document.querySelector('.composer textarea');
        field?.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData: transfer }));
        field?.closest('form')?.requestSubmit();
      }, names);
      await message(words).getByText('You have no room for more files here.').first().waitFor();
    };
    await sendWith('a caption', ['a.txt']);
    await message('a caption').getByText('This message is not sent, because a file was not uploaded.').waitFor();
    expect(await violationsOn(ada)).toEqual([]);
    await message('a caption').getByRole('button', { name: 'Remove a.txt' }).click();
    await message('a caption').locator('time').first().waitFor();

    await sendWith('to put back', ['b.txt']);
    await message('to put back').getByRole('button', { name: 'Edit' }).click();
    await tray(ada).getByRole('button', { name: 'Remove b.txt' }).waitFor();
    await becomes(() => composer(ada).inputValue(), 'to put back');
    await message('to put back').waitFor({ state: 'detached' });
    await tray(ada).getByRole('button', { name: 'Remove b.txt' }).click();

    await sendWith('to try again', ['c.txt']);
    // A reload changes nothing about it.
    await ada.reload();
    hasRoom = true;
    await message('to try again').getByRole('button', { name: 'Try again' }).click();
    await message('to try again')
      .getByRole('link', { name: /c\.txt/ })
      .waitFor();
  });

  test('a refused file says why, and keeps the message until it is removed', async () => {
    const chatId = await groupWith(stage, 'Refused');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await composer(ada).waitFor();
    await attach(ada, [text('empty.txt', ''), text('full.txt')]);
    await tray(ada).getByText('This file is empty.').waitFor();
    await uploaded(ada, 1);
    await becomes(() => ada.getByRole('button', { name: 'Send' }).isDisabled(), true);
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
    const author = box.getByText(/^Ada Lovelace, /);
    expect(await author.evaluate((line) => line.scrollWidth <= line.clientWidth)).toBe(true);
    await bob.keyboard.press('ArrowRight');
    await box.getByRole('img', { name: 'number-2.png' }).waitFor();
    await bob.keyboard.press('ArrowRight');
    await bob.keyboard.press('ArrowLeft');
    await bob.keyboard.press('ArrowLeft');
    await box.getByRole('img', { name: 'number-0.png' }).waitFor();
    await becomes(() => box.getByRole('button', { name: 'Previous picture' }).isDisabled(), true);
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
    await becomes(() => log(ada).locator('.message').count(), 2);
    const player = log(ada).locator('audio[aria-label="voice.wav"]');
    await until('it can be played', () => player.evaluate((audio) => (audio as HTMLAudioElement).duration > 0.2));
  });

  test('videos have a player that plays', async () => {
    const chatId = await groupWith(stage, 'Video');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await composer(ada).waitFor();
    await attach(ada, [{ name: 'clip.webm', mimeType: 'video/webm', buffer: await film(ada) }]);
    await uploaded(ada, 1);
    await write(ada, 'a film');
    const player = log(ada).locator('.message[data-message] video[aria-label="clip.webm"]');
    await until('its size is known', () =>
      player.evaluate((video) => (video as HTMLVideoElement).videoWidth === 160).catch(() => false),
    );
    await player.evaluate((video) => {
      (video as HTMLVideoElement).muted = true;
      return (video as HTMLVideoElement).play();
    });
    await until('it plays', () => player.evaluate((video) => (video as HTMLVideoElement).currentTime > 0));
    // What a browser cannot play is a file.
    await attach(ada, [{ name: 'broken.webm', mimeType: 'video/webm', buffer: Buffer.from('not a film') }]);
    await uploaded(ada, 1);
    await write(ada, 'no film');
    await log(ada)
      .locator('.message[data-message]')
      .getByRole('link', { name: /broken\.webm/ })
      .waitFor();
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

  test('breaks no rule of accessibility and fits the screen', async () => {
    const chatId = await groupWith(stage, 'Look');
    const page = await stage.open('ada', `/chats/${chatId}`, { bypassCSP: true });
    await composer(page).waitFor();
    const long = `${'a-very-long-name-'.repeat(12)}.txt`;
    await attach(page, [picture(800, 500), picture(500, 800, 'tall.png'), sound('voice.wav'), text(long)]);
    await uploaded(page, 4);
    await write(page, 'all kinds');
    await log(page).locator('.message[data-message] audio').waitFor();
    await attach(page, [text('empty.txt', ''), text(long), picture(800, 500)]);
    await uploaded(page, 2);
    const faults: string[] = [];
    const check = async (state: string, shown: Locator) => {
      for (const [width, height] of [
        [1280, 800],
        [390, 844],
        [320, 568],
      ] as const) {
        await page.setViewportSize({ width, height });
        await shown.waitFor();
        for (const fault of await violationsOn(page)) faults.push(`${state}, ${width} wide: ${fault}`);
      }
    };
    await check('the tray', tray(page));
    // By key: the list may still move under a pointer while the pictures load.
    await log(page).getByRole('link', { name: 'tall.png' }).press('Enter');
    await check('a picture', page.getByRole('dialog', { name: 'View picture' }).getByRole('img'));
    expect(faults).toEqual([]);
  });
});
