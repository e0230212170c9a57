import { expect } from 'bun:test';
import type { Client } from './client.ts';

/** Follows the event log from `after` until `done` returns true and the log is read to its end. */
export async function followEvents(reader: Client, after: number, done: () => boolean): Promise<number[]> {
  const seen: number[] = [];
  for (let cursor = after; ; ) {
    const finished = done();
    const page = await reader.ok('events.list', { after: cursor, limit: 7 });
    if (page.has_more) expect(page.events).not.toBeEmpty();
    seen.push(...page.events.map((e) => e.event_id));
    cursor = page.next;
    if (finished && !page.has_more) return seen;
  }
}

/** Pages through a chat with `after_id` in the same way. */
export async function followMessages(reader: Client, chatId: number, done: () => boolean): Promise<number[]> {
  const seen: number[] = [];
  for (;;) {
    const finished = done();
    const page = await reader.ok('messages.get_messages', { chat_id: chatId, after_id: seen.at(-1) ?? 0, limit: 7 });
    seen.push(...page.messages.map((m) => m.message_id));
    if (finished && !page.has_more) return seen;
  }
}

export const rising = (ids: readonly number[]) => ids.every((id, i) => i === 0 || id > (ids[i - 1] ?? 0));
