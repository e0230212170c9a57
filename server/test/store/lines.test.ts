import { expect, test } from 'bun:test';
import type { ChatId, EventId } from '@parley/contract';
import { outcomeLines, type SendOutcome } from '../../store/chat/send.ts';
import { fromLines, type ProcedureResult, toLines } from '../../store/engine/sqlite/protocol.ts';
import type { EventRow } from '../../store/log/entry.ts';

const event = (id: number, of: Pick<EventRow, 'body' | 'format' | 'message'>): EventRow => ({
  event_id: id as EventId,
  chat_id: 1 as ChatId,
  event: 'new_message',
  created_at: 1_700_000_000_000,
  ...of,
});
const text = JSON.stringify({ content: 'two\nlines\r\n\u2028' });
const withBody = (id: number) => event(id, { body: text, format: null, message: null });
const ofMessage = (id: number) => event(id, { body: '', format: 1, message: text });

const results: Readonly<Record<string, ProcedureResult>> = {
  'without events': { rows: undefined, outcomes: ['7'] },
  'without outcomes': { rows: undefined, outcomes: [] },
  'whose messages are all refused': { rows: { after: 4, last: 6, events: [] }, outcomes: ['["access"]', '["file"]'] },
  'with both kinds of events': {
    rows: { after: 4, last: 7, events: [withBody(5), ofMessage(6), withBody(7)] },
    outcomes: [text, text, '[1]'],
  },
};

for (const [name, result] of Object.entries(results)) {
  test(`a result ${name} crosses as it is`, () => {
    expect(fromLines(toLines(result))).toEqual(result);
  });
}

test('a line too many or too few is noticed', () => {
  const lines = toLines({ rows: undefined, outcomes: ['one', 'two'] });
  expect(() => fromLines(`${lines}\nthree`)).toThrow('lines');
  expect(() => fromLines(lines.slice(0, lines.lastIndexOf('\n')))).toThrow('lines');
});

const outcomes: readonly SendOutcome[] = [
  { json: text },
  { refused: 'again' },
  { stored: { fingerprint: 'x', response: '{"message":{"content":"{\\n["}}\n' } },
];

for (const outcome of outcomes) {
  test(`the outcome ${Object.keys(outcome)} is one line`, () => {
    const line = outcomeLines.write(outcome);
    expect(line).not.toContain('\n');
    expect(outcomeLines.read(line)).toEqual(outcome);
  });
}
