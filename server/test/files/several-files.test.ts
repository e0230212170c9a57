import { beforeAll, describe, expect, test } from 'bun:test';
import { removeEnded } from '../../files/removal.ts';
import { openDisk } from '../../files/storage/disk.ts';
import { withSegments } from '../../files/storage/segments.ts';
import { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { kept } from '../support/files.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { picture } from '../support/pictures.ts';
import { serverFor } from '../support/server.ts';
import { complaint, expectRefusal } from '../support/wire.ts';

onAnyEngine('several files in one message', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let stranger: Client;
  let chat_id: number;
  beforeAll(async () => {
    ({ ada, bob, stranger } = await users(server(), 'ada', 'bob', 'stranger'));
    chat_id = (await ada.ok('messages.create_group', { name: 'Group', participants: [bob.userId] })).group.chat_id;
  });
  const uploaded = async (by: Client, ...texts: string[]) => {
    const files = [];
    for (const text of texts) files.push((await by.ok('files.upload', { file: new File([text], `${text}.txt`) })).file);
    return files;
  };
  const idsOf = (files: readonly { file_id: number }[]) => files.map(({ file_id }) => file_id);
  const fetched = async (by: Client, url: string) => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${by.token}` } });
    return response.status === 200 ? response.text() : response.status;
  };
  const sweep = () =>
    removeEnded(server().engine, withSegments(openDisk(server().env.PARLEY_DATA ?? '')), Date.now() + 1, () => {});

  test('are in the message and its event, in the order that was given', async () => {
    const image = (await ada.ok('files.upload', { file: picture(9, 9) })).file;
    const [one, two] = await uploaded(ada, 'one', 'two');
    const files = [two, image, one].flatMap((file) => file ?? []);
    const tip = await eventTip(bob);
    const { message } = await ada.ok('messages.send_message', { chat_id, content: 'Look', file_ids: idsOf(files) });
    expect(message).toMatchObject({ content: 'Look', file: two as never, files });
    const { messages } = await bob.ok('messages.get_messages', { chat_id, limit: 1 });
    expect(messages).toEqual([message]);
    expect((await bob.ok('messages.get_message', { message_id: message.message_id })).message).toEqual(message);
    const [event] = await eventsAfter(bob, tip);
    expect(event?.data).toMatchObject({ message_id: message.message_id, file: two as never, files });
    expect(Object.keys(event?.data ?? {})).toEqual(['message_id', 'chat_id', 'user_id', 'content', 'file', 'files']);
    const edited = (await ada.ok('messages.edit_message', { message_id: message.message_id, content: '' })).message;
    expect(edited).toMatchObject({ content: '', file: two as never, files });
  });

  test('that are one are sent like a single file', async () => {
    const [file] = await uploaded(ada, 'alone');
    const ids = [file?.file_id ?? 0, file?.file_id ?? 0];
    const { message } = await ada.ok('messages.send_message', { chat_id, file_ids: ids });
    expect(message.file).toEqual(file as never);
    expect(message).not.toHaveProperty('files');
  });

  test('are fetched by the participants of the chat, each of them, and by nobody else', async () => {
    const files = await uploaded(ada, 'first', 'second', 'third');
    expect(await fetched(bob, files[2]?.url ?? '')).toBe(404);
    await ada.ok('messages.send_message', { chat_id, file_ids: idsOf(files) });
    for (const [i, text] of ['first', 'second', 'third'].entries()) {
      expect(await fetched(bob, files[i]?.url ?? '')).toBe(text);
      expect(await fetched(stranger, files[i]?.url ?? '')).toBe(404);
    }
    await ada.ok('chats.remove_participant', { chat_id, user_id: bob.userId });
    for (const { url } of files) expect(await fetched(bob, url)).toBe(404);
    await ada.ok('chats.add_participants', { chat_id, participants: [bob.userId] });
  });

  test('are removed with the message, unless another one has them', async () => {
    await sweep();
    const before = await kept(server());
    const used = () =>
      server()
        .engine.get<{ total: number }>('SELECT file_bytes AS total FROM owner_use WHERE owner_id = $1', [ada.userId])
        .then((row) => row?.total);
    const bytes = await used();
    const files = await uploaded(ada, 'a1', 'b2', 'c3');
    const [first = 0, second = 0, third = 0] = idsOf(files);
    const send = async (file_ids: number[]) =>
      (await ada.ok('messages.send_message', { chat_id, file_ids })).message.message_id;
    const messages = [await send([first, second, third]), await send([third, first])];
    const deleted = await ada.ok('messages.delete_message', { message_id: messages[0] ?? 0 });
    expect(deleted.message).toMatchObject({ content: '', file: null });
    expect(deleted.message).not.toHaveProperty('files');
    await sweep();
    expect(await fetched(bob, files[1]?.url ?? '')).toBe(404);
    for (const i of [0, 2]) expect(await fetched(bob, files[i]?.url ?? '')).toBe(['a1', 'b2', 'c3'][i] ?? '');
    expect(await kept(server())).toEqual({ rows: before.rows + 2, blobs: before.blobs + 2 });
    await ada.ok('messages.delete_message', { message_id: messages[1] ?? 0 });
    await sweep();
    expect(await kept(server())).toEqual(before);
    expect(await used()).toBe(bytes);
    const rows = await server().engine.all('SELECT * FROM message_files WHERE file_id IN ($1, $2, $3)', [
      ...[first, second, third],
    ]);
    expect(rows).toEqual([]);
  });

  test('are not removed while a message has them, however old they are', async () => {
    const files = await uploaded(ada, 'kept one', 'kept two');
    await ada.ok('messages.send_message', { chat_id, file_ids: idsOf(files) });
    const later = Date.now() + 90 * 86_400_000;
    await removeEnded(server().engine, withSegments(openDisk(server().env.PARLEY_DATA ?? '')), later, () => {});
    expect(await fetched(bob, files[1]?.url ?? '')).toBe('kept two');
  });

  describe('are refused', () => {
    test('if one is not a file of the sender', async () => {
      const [own] = await uploaded(ada, 'own');
      const [other] = await uploaded(bob, 'of bob');
      for (const wrong of [other?.file_id ?? 0, 999_999]) {
        for (const file_ids of [[own?.file_id ?? 0, wrong], [wrong, own?.file_id ?? 0], [wrong]]) {
          const answer = await ada.call('messages.send_message', { chat_id, content: 'x', file_ids });
          expect(complaint(expectRefusal(answer, 'validation_failed'), 'file_ids')).toContain('not files');
        }
      }
      // What was refused is still unsent.
      expect(await fetched(bob, own?.url ?? '')).toBe(404);
    });

    test('if there are none, too many, or another file beside them', async () => {
      const [own] = await uploaded(ada, 'mine');
      const file_id = own?.file_id ?? 0;
      const refusals = [
        { file_ids: [] },
        { file_ids: Array.from({ length: 11 }, (_, i) => file_id + i) },
        { file_ids: [file_id], file_id },
        { file_ids: [0] },
        { file_ids: 'x' as never },
      ];
      for (const input of refusals) {
        expect(await ada.refused('messages.send_message', { chat_id, ...input })).toBe('validation_failed');
      }
      const both = { chat_id, file: new File(['x'], 'x.txt'), file_ids: [file_id] };
      expect(await ada.refused('messages.send_message', both)).toBe('validation_failed');
    });

    test('to a token that may not read files, and in a chat where one may not send', async () => {
      const files = await uploaded(ada, 's1', 's2');
      const { name } = (await ada.ok('users.me', {})).user;
      const modest = new Client(server().url, await server().token(name, ['messages:write']), ada.userId);
      const input = { chat_id, file_ids: idsOf(files) };
      expect(await modest.refused('messages.send_message', input)).toBe('insufficient_scope');
      const { channel } = await bob.ok('messages.create_channel', { name: 'C', participants: [ada.userId] });
      expect(await ada.refused('messages.send_message', { ...input, chat_id: channel.chat_id })).toBe('forbidden');
    });
  });

  test('are sent once under one Idempotency-Key, also by ten calls at once', async () => {
    const files = await uploaded(ada, 'k1', 'k2');
    const input = { chat_id, file_ids: idsOf(files) };
    const headers = { 'idempotency-key': 'several' };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ada.call('messages.send_message', input, headers)),
    );
    expect(new Set(answers.map(({ body }) => body.message.message_id)).size).toBe(1);
    for (const { body } of answers) expect(body.message.files).toEqual(files);
    const other = await ada.call('messages.send_message', { ...input, file_ids: idsOf(files).reverse() }, headers);
    expectRefusal(other, 'idempotency_conflict');
  });

  test('are taken from forms as repeated fields', async () => {
    const files = await uploaded(ada, 'f1', 'f2');
    const form = new URLSearchParams({ chat_id: String(chat_id) });
    for (const id of idsOf(files)) form.append('file_ids[]', String(id));
    const response = await fetch(`${server().url}/api/messages/send_message`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}` },
      body: form,
    });
    const { message } = (await response.json()) as { message: { files: unknown } };
    expect(message.files).toEqual(files);
  });
});
