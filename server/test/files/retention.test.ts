import { beforeAll, expect, test } from 'bun:test';
import type { Blobs } from '../../files/storage/blobs.ts';
import { openDisk } from '../../files/storage/disk.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { newGroup, statusOf, sweep, uploadText } from '../support/file-removal.ts';
import {
  Connection,
  filePart,
  formEnd,
  headOf,
  keeps,
  kept,
  openForm,
  sending,
  textPart,
  underWay,
  uploading,
} from '../support/files.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { expectRefusal } from '../support/wire.ts';

const hour = 3_600_000;

onAnyEngine('an unused file', (engine) => {
  const start = Date.now();
  let ahead = 0;
  const now = () => start + ahead;
  // Only the test removes files.
  const server = serverFor(engine, { PARLEY_UPLOAD_HOURS: '3' }, { now, fileSweepMs: 24 * hour });
  let blobs: Blobs;
  let ada: Client;
  let bob: Client;
  let chat_id: number;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
    chat_id = await newGroup(ada, bob);
    blobs = openDisk(server().env.PARLEY_DATA ?? '');
  });

  test('that was never sent is removed when it expires, and not before', async () => {
    const before = await kept(server());
    const { file_id, url } = await uploadText(ada, 'unsent');
    ahead += 3 * hour - 60_000;
    expect(await sweep(server(), blobs, now())).toBe(0);
    expect(await statusOf(ada, url)).toBe(200);
    ahead += 60_000;
    // It is invisible from then on, even if it is not removed yet.
    expect(await statusOf(ada, url)).toBe(404);
    expect(await ada.refused('files.get', { file_id })).toBe('not_found');
    expect(await ada.refused('messages.send_message', { chat_id, file_id })).toBe('validation_failed');
    expect(await sweep(server(), blobs, now())).toBe(1);
    await keeps(server(), before);
    expect(await sweep(server(), blobs, now())).toBe(0);
  });

  test('whose message was deleted is removed at once', async () => {
    const before = await kept(server());
    const { message } = await ada.ok('messages.send_message', { chat_id, file: new File(['x'], 'x.txt') });
    const { file_id } = await uploadText(ada, 'sent later');
    const later = await ada.ok('messages.send_message', { chat_id, file_id });
    expect(await sweep(server(), blobs, now() + 1_000 * hour)).toBe(0);
    for (const { message_id } of [message, later.message]) await bob.refused('messages.delete_message', { message_id });
    expect(await sweep(server(), blobs, now() + 1_000 * hour)).toBe(0);
    for (const { message_id } of [message, later.message]) await ada.ok('messages.delete_message', { message_id });
    expect(await sweep(server(), blobs, now())).toBe(2);
    await keeps(server(), before);
  });

  test('stays while another message uses it, however old it is', async () => {
    const { file_id, url } = await uploadText(ada, 'in two places');
    const other = await newGroup(ada, bob);
    const one = await ada.ok('messages.send_message', { chat_id, file_id });
    const two = await ada.ok('messages.send_message', { chat_id: other, file_id });
    await ada.ok('messages.delete_message', { message_id: one.message.message_id });
    ahead += 10_000 * hour;
    expect(await sweep(server(), blobs, now())).toBe(0);
    expect(await statusOf(bob, url)).toBe(200);
    await ada.ok('messages.delete_message', { message_id: two.message.message_id });
    expect(await sweep(server(), blobs, now())).toBe(1);
    expect(await statusOf(ada, url)).toBe(404);
  });

  test('stays if its message is edited or gets a reaction, and is removed once if a message is deleted twice', async () => {
    const { message } = await ada.ok('messages.send_message', { chat_id, content: 'x', file: new File(['x'], 'x') });
    const { message_id } = message;
    await ada.ok('messages.edit_message', { message_id, content: 'y' });
    await bob.ok('messages.add_reaction', { message_id, emoji: '👍' });
    ahead += 10 * hour;
    expect(await sweep(server(), blobs, now())).toBe(0);
    expect(await statusOf(bob, message.file?.url ?? '')).toBe(200);
    await ada.ok('messages.delete_message', { message_id });
    await ada.ok('messages.delete_message', { message_id });
    expect(await sweep(server(), blobs, now())).toBe(1);
  });

  test('that takes too long to upload is dropped: the rest is refused, and nothing is left', async () => {
    const before = await kept(server());
    const form = openForm(textPart('chat_id', chat_id), filePart('the beginning, '));
    const cases = [
      { path: sending, head: form, rest: `the end${formEnd}`, type: undefined },
      { path: uploading, head: Buffer.from('the beginning, '), rest: 'the end', type: 'text/plain' },
    ];
    for (const { path, head, rest, type } of cases) {
      const connection = await Connection.to(ada.url);
      await connection.write(headOf(ada, path, head.length + rest.length, type));
      await connection.write(head);
      await underWay(server());
      ahead += 3 * hour + 1;
      expect(await sweep(server(), blobs, now())).toBe(1);
      await connection.write(rest);
      expectRefusal(await connection.answer(), 'conflict');
      connection.hangUp();
      await keeps(server(), before);
    }
  });

  test('no longer counts against the limit', async () => {
    const { carl } = await users(server(), 'carl');
    const file = () => new File(['x'], 'a.txt');
    for (let made = 0; made < 200; made += 20) {
      await Promise.all(Array.from({ length: 20 }, () => carl.ok('files.upload', { file: file() })));
    }
    expect(await carl.refused('files.upload', { file: file() })).toBe('conflict');
    ahead += 3 * hour;
    await carl.ok('files.upload', { file: file() });
    expect(await sweep(server(), blobs, now())).toBe(200);
  });
});
