import { expect, test } from 'bun:test';
import { type Block, SseParser } from './sse.ts';

function parse(...parts: (string | Uint8Array)[]): Block[] {
  const blocks: Block[] = [];
  const parser = new SseParser((block) => blocks.push(block));
  for (const part of parts) parser.push(typeof part === 'string' ? Buffer.from(part) : part);
  return blocks;
}

const block = (id: string | undefined, event: string, data: string | undefined): Block => ({ id, event, data });

test('takes blocks apart, whatever the line breaks are and wherever the bytes are cut', () => {
  const text = 'id: 7\nevent: new_message\ndata: {"a":"ä\u2028"}\n\nid: 8\r\nevent:x\r\ndata: 1\r\n\r\n';
  const expected = [block('7', 'new_message', '{"a":"ä\u2028"}'), block('8', 'x', '1')];
  expect(parse(text)).toEqual(expected);
  expect(parse(...[...Buffer.from(text)].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
});

test('tells a block that only moves the cursor from one without an id', () => {
  expect(parse('retry: 2000\nid: 5\n\n', ': still here\n\n', 'event: message_read\ndata: {}\n\n')).toEqual([
    block('5', '', undefined),
    block(undefined, 'message_read', '{}'),
  ]);
});

test('drops what has no end', () => {
  expect(parse('id: 1\ndata: whole\n\nid: 2\ndata: half\n')).toEqual([block('1', '', 'whole')]);
});
