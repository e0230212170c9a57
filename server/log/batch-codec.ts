import type { ChatId, EventId, EventName } from '@parley/contract';
import type { LogBatch, LogEntry } from '../store/engine/engine.ts';

/** Characters in one message. By default NATS accepts a million bytes, and a character takes up to three. */
const maxChars = 250_000;

/** Stands for a batch with an event that is too large. The recipient reads the database instead. */
const unknownBatch = '';

/** Encodes a batch as one or more messages. Bodies are JSON on one line, so each event is a line. */
export function* encodeBatch({ after, last, events }: LogBatch): Generator<string> {
  let lines: string[] = [];
  let size = 0;
  let begin = after;
  let end = after;
  for (const { event_id, chat_id, event, created_at, body } of events) {
    const line = `${event_id} ${chat_id} ${event} ${created_at} ${body}`;
    if (line.length > maxChars) {
      yield unknownBatch;
      return;
    }
    if (size + line.length > maxChars) {
      yield [`${begin} ${end}`, ...lines].join('\n');
      lines = [];
      size = 0;
      begin = end;
    }
    lines.push(line);
    size += line.length;
    end = event_id;
  }
  yield [`${begin} ${last}`, ...lines].join('\n');
}

/** Returns undefined if the message only says that something was committed. */
export function decodeBatch(text: string): LogBatch | undefined {
  const [head = '', ...lines] = text.split('\n');
  const bounds = /^(\d+) (\d+)$/.exec(head);
  const events = lines.map(decodeLine);
  if (!bounds || events.includes(undefined)) return undefined;
  return { after: Number(bounds[1]), last: Number(bounds[2]), events: events as LogEntry[] };
}

function decodeLine(line: string): LogEntry | undefined {
  const match = /^(\d+) (-?\d+) (\w+) (\d+) (\{.*)$/s.exec(line);
  if (!match) return undefined;
  const [, id, chat, event, at, body = ''] = match;
  return {
    event_id: Number(id) as EventId,
    chat_id: Number(chat) as ChatId,
    event: event as EventName,
    created_at: Number(at),
    // A copy, because a slice would keep the whole message in memory for as long as one body is in a cache.
    body: Buffer.from(body).toString(),
    size: body.length,
  };
}
