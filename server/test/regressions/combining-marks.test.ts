import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { words } from '../../domain/words.ts';
import { eventually } from '../support/eventually.ts';
import { serverFor } from '../support/server.ts';

/** Legal content of 16 KB. Normalizing sorts marks by their class, and here every one of the second half must move. */
const pile = '\u0301'.repeat(4_090) + '\u0316'.repeat(4_090);

/** The runtime sorts marks in time that grows with the square of their number. So many are sorted at once at most. */
const few = 32;

describe('of text of nothing but combining marks', () => {
  const { normalize } = String.prototype;
  let most = 0;
  beforeEach(() => {
    most = 0;
    // How many marks the runtime is given cannot be seen otherwise.
    String.prototype.normalize = function (this: string, form?: string) {
      for (const [marks] of this.matchAll(/\p{M}+/gu)) most = Math.max(most, marks.length);
      return normalize.call(this, form);
    };
  });
  afterEach(() => {
    String.prototype.normalize = normalize;
  });

  test('only a few marks are normalized to cut it into words', () => {
    words(`e${pile}`);
    expect(most).toBeWithin(1, few);
  });

  const server = serverFor('sqlite');

  test('only a few marks are normalized to keep it as a message, find it and name somebody', async () => {
    const ada = await server().user('ada');
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group;
    const { message } = await ada.ok('messages.send_message', { chat_id, content: `word ${pile}` });
    await eventually('it is found', async () => {
      const { messages } = await ada.ok('messages.search_messages', { query: 'word' });
      return messages.length > 0 || undefined;
    });
    await ada.ok('messages.edit_message', { message_id: message.message_id, content: `other ${pile}` });
    await ada.call('messages.search_messages', { query: pile.slice(-500) });
    await ada.call('messages.create_group', { name: pile.slice(-100), participants: [] });
    expect(most).toBeWithin(1, few);
  });
});
