import type { ChatId, EventId, EventName } from '@parley/contract';
import type { Committed, LogEntry } from '../store/engine.ts';

/** Characters in one text at most: NATS takes a million bytes unless it is told otherwise, and a character has up to three. */
const mostText = 250_000;

/** In place of a stretch that is too large to be told: whoever hears it reads the log. */
const unknownStretch = '';

/** A stretch of the log as one or more texts. Bodies are JSON on one line, so each event is a line. */
export function* stretchTexts({ after, last, events }: Committed): Generator<string> {
  let lines: string[] = [];
  let size = 0;
  let begin = after;
  let end = after;
  for (const { event_id, chat_id, event, body } of events) {
    const line = `${event_id} ${chat_id} ${event} ${body}`;
    if (line.length > mostText) {
      yield unknownStretch;
      return;
    }
    if (size + line.length > mostText) {
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

/** Undefined: it says only that something was committed. */
export function parseStretch(text: string): Committed | undefined {
  const [head = '', ...lines] = text.split('\n');
  const bounds = /^(\d+) (\d+)$/.exec(head);
  const events = lines.map(parseLine);
  if (!bounds || events.includes(undefined)) return undefined;
  return { after: Number(bounds[1]), last: Number(bounds[2]), events: events as LogEntry[] };
}

function parseLine(line: string): LogEntry | undefined {
  const match = /^(\d+) (-?\d+) (\w+) (\{.*)$/s.exec(line);
  if (!match) return undefined;
  const [, id, place, event, body = ''] = match;
  return { event_id: Number(id) as EventId, chat_id: Number(place) as ChatId, event: event as EventName, body };
}
