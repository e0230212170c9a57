import { describe, expect, test } from 'bun:test';
import type { ChatId, MessageId, UserId } from '@parley/contract';
import fc from 'fast-check';
import { freeze, messageEventFormat, renderMessageEvent } from '../../domain/event.ts';
import type { Mentions } from '../../domain/mentions.ts';
import { messageJson } from '../../domain/message.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { receiverFor } from '../support/receiver.ts';
import { startServer } from '../support/server.ts';

describe('the event of a message', () => {
  const content = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom('","reply_to":7,"file":null', '\\","reply_to":', '\u2028"}', '{"message_id":1}'),
  );

  const mentions = fc.record(
    {
      mentions: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
      mentions_all: fc.constant(true),
      thread_id: fc.nat(),
    },
    { requiredKeys: [] },
  );

  test('is rendered from its message as it would have been frozen', () => {
    fc.assert(
      fc.property(content, mentions, fc.option(fc.nat()), fc.nat(), (text, mentioned, replyTo, at) => {
        const ids = { message_id: 5 as MessageId, chat_id: 2 as ChatId, user_id: 3 as UserId };
        const said = { ...ids, content: text, ...(mentioned as Mentions & { thread_id?: MessageId }) };
        const reply = replyTo === null ? {} : { reply_to: replyTo as MessageId };
        const json = messageJson({ ...said, reply_to: replyTo as MessageId | null, file: null }, at);
        expect(JSON.parse(json)).toMatchObject({ ...said, reply_to: replyTo, file: null });
        const frozen = freeze({ event: 'new_message', data: { ...said, ...reply } }, at);
        expect(renderMessageEvent(messageEventFormat, json)).toBe(frozen);
      }),
    );
  });

  test('is not rendered in a format that this version does not know', () => {
    expect(() => renderMessageEvent(2, '{}')).toThrow('unknown format 2');
    expect(() => renderMessageEvent(1, '{"message_id":1}')).toThrow('another form');
  });
});

onBothEngines('a text that is stored once', (engine) => {
  const receiver = receiverFor();
  const texts = ['plain', 'say "hi" \\ \u2028 ,"reply_to":1,"file":null 🎉', 'x'.repeat(16_000)];

  test('is the same in the log, to a webhook and in a replay, before and after its message is edited or deleted', async () => {
    const env = await freshEnvironment(engine);
    let server = await startServer(env);
    const { ada } = await users(server, 'ada');
    const chat_id = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group.chat_id;
    const endpoint = receiver().endpoint();
    const { webhook } = await ada.ok('webhooks.register', {
      url: endpoint.url,
      events: ['new_message'],
      secret: 'a secret',
    });
    const from = await eventTip(ada);
    const ids: number[] = [];
    for (const content of texts) {
      const reply = ids[0] === undefined ? {} : { reply_to: ids[0] };
      ids.push((await ada.ok('messages.send_message', { chat_id, content, ...reply })).message.message_id);
    }
    const sent = await eventsAfter(ada, from);
    await endpoint.arrived(texts.length);
    const bodies = endpoint.arrivals.map(({ body }) => body);

    await ada.ok('messages.edit_message', { message_id: ids[0] ?? 0, content: 'edited' });
    await ada.ok('messages.edit_message', { message_id: ids[0] ?? 0, content: 'edited again' });
    await ada.ok('messages.delete_message', { message_id: ids[1] ?? 0 });
    expect((await eventsAfter(ada, from)).slice(0, texts.length)).toEqual(sent);

    // Another process reads from the database, and not from the memory of this one.
    await server.stop();
    server = await startServer(env);
    const again = new Client(server.url, ada.token, ada.userId);
    expect((await eventsAfter(again, from)).slice(0, texts.length)).toEqual(sent);
    await again.ok('webhooks.replay', { webhook_id: webhook.webhook_id, from_event_id: from + 1 });
    await endpoint.arrived(2 * texts.length);
    expect(endpoint.arrivals.slice(texts.length).map(({ body }) => body)).toEqual(bodies);
    await server.stop();
  });

  test('is in neither the event nor its message twice, and a deletion leaves it in the event alone', async () => {
    const server = await startServer(await freshEnvironment(engine));
    const { ada } = await users(server, 'ada');
    const chat_id = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group.chat_id;
    const { message } = await ada.ok('messages.send_message', { chat_id, content: 'once and only once' });
    const find = (table: string, column: string) =>
      server.engine.all<{ found: string }>(
        `SELECT ${column} AS found FROM ${table} WHERE ${column} LIKE '%only once%'`,
      );
    expect([(await find('messages', 'json')).length, (await find('events', 'body')).length]).toEqual([1, 0]);
    await ada.ok('messages.delete_message', { message_id: message.message_id });
    expect([(await find('messages', 'json')).length, (await find('events', 'body')).length]).toEqual([0, 1]);
    await server.stop();
  });
});
