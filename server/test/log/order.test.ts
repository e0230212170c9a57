import { expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onBothEngines } from '../support/engines.ts';
import { followEvents, followMessages, rising } from '../support/following.ts';
import { serverFor } from '../support/server.ts';

onBothEngines('readers beside concurrent writers', (engine) => {
  const server = serverFor(engine);

  test('see every event and every message exactly once, in order', async () => {
    const writers = await Promise.all(Array.from({ length: 8 }, (_, i) => server().user(`writer${i}`)));
    const reader = await server().user('reader');
    const { group } = await reader.ok('messages.create_group', {
      name: 'Busy',
      participants: writers.map((w) => w.userId),
    });
    const { next } = await reader.ok('events.list', { after: 0 });
    let writing = true;
    const sent: number[] = [];
    const write = async (writer: Client) => {
      for (let i = 0; i < 15; i++) {
        const { message } = await writer.ok('messages.send_message', {
          chat_id: group.chat_id,
          content: `number ${i}`,
        });
        sent.push(message.message_id);
        if (i % 5 === 4) {
          await writer.ok('messages.edit_message', { message_id: message.message_id, content: `edited ${i}` });
        }
      }
    };
    const readers = [
      followEvents(reader, next, () => !writing),
      followMessages(reader, group.chat_id, () => !writing),
    ] as const;
    await Promise.all(writers.map(write));
    writing = false;
    const [events, messages] = await Promise.all(readers);

    expect(rising(messages)).toBeTrue();
    expect(messages).toEqual(sent.sort((a, b) => a - b));
    expect(rising(events)).toBeTrue();
    expect(events).toHaveLength(8 * 15 + 8 * 3);
  });
});
