import { describe, expect, test } from 'bun:test';
import { listOperations, type NamedOperation } from '@parley/contract';
import { type Answer, type Asked, judge } from './verdict.ts';

const rowNamed = (name: string): NamedOperation => {
  const row = listOperations().find((one) => one.name === name);
  if (!row) throw new Error(`there is no operation ${name}`);
  return row;
};

const json = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'r1' };

function answer(status: number, body: unknown, headers: Record<string, string> = json): Answer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers: new Headers(headers), text, bytes: Buffer.byteLength(text) };
}

const post: Asked = { method: 'POST', address: 'x', damage: undefined };
const get: Asked = { ...post, method: 'GET' };

/** Returns the complaint about a response, or undefined if there is none. */
function complaintOf(name: string, given: Answer, asked = post): string | undefined {
  try {
    judge(rowNamed(name), asked, given);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const error = (code: string, more: object = {}) => ({
  success: false,
  error: { code, message: 'Why.', details: [], request_id: 'r1', ...more },
});

describe('an answer to a call', () => {
  const row = 'chats.leave';
  const left = { success: true, chat_id: 1 };
  const fine = answer(200, left);
  const refused = answer(404, error('not_found'));

  test('is fine where it is what the row has', () => {
    expect(complaintOf(row, fine)).toBeUndefined();
    expect(complaintOf(row, refused)).toBeUndefined();
    expect(complaintOf(row, answer(422, error('validation_failed', { details: [{ field: 'a', message: 'b' }] })))).toBe(
      undefined,
    );
  });

  test.each([
    ['a fault of the server', answer(500, error('internal')), '500 internal: Why. is not documented here'],
    ['a server that is away', answer(503, error('unavailable')), 'is not documented here'],
    ['a limit that is not set', answer(429, error('rate_limited')), 'is not documented here'],
    ['a code that the row does not have', answer(410, error('cursor_expired')), 'is not documented here'],
    ['a code that nobody has', answer(404, error('lost')), '404 lost: Why. is not documented here'],
    ['a status of another code', answer(400, error('not_found')), 'not_found has the status 400'],
    ['no request id', answer(200, left, { 'content-type': json['content-type'] }), 'no X-Request-Id'],
    ['another type', answer(200, left, { ...json, 'content-type': 'text/html' }), 'the answer is text/html'],
    ['no JSON', answer(200, 'fine'), 'the answer is no JSON: fine'],
    ['a success that is none', answer(200, { ...left, success: false }), 'a 200 has success: false'],
    ['a refusal that is called a success', answer(404, { ...error('not_found'), success: true }), 'a 404 has success'],
    ['more than its schema', answer(200, { ...left, user_id: 1 }), 'the answer has more than its schema'],
    ['an error without a message', answer(404, error('not_found', { message: '' })), 'not_found has no message'],
    ['the id of another request', answer(404, error('not_found', { request_id: 'r2' })), 'names another request'],
    ['more in its error', answer(404, error('not_found', { stack: 'at' })), 'the error has more in it'],
    ['more beside its error', answer(404, { ...error('not_found'), hint: 'x' }), 'the error has more in it'],
    ['no details', answer(404, error('not_found', { details: undefined })), 'the details are malformed'],
    ['odd details', answer(404, error('not_found', { details: [{ field: 'a' }] })), 'the details are malformed'],
    [
      'too many details',
      answer(404, error('not_found', { details: Array(21).fill({ field: 'a', message: 'b' }) })),
      'the details are malformed',
    ],
    ['an error that is too long', answer(404, error('not_found', { message: 'x'.repeat(20_000) })), 'the error has 2'],
    ['an error of the runtime', answer(431, ''), 'the answer is no JSON'],
  ])('is found out where it has %s', (_, given, complaint) => {
    expect(complaintOf(row, given)).toContain(complaint);
  });

  test('lacks nothing that its schema has', () => {
    expect(complaintOf('messages.send_message', fine)).toContain('the answer does not conform');
  });

  test('may be another one where what was asked was wrong', () => {
    const wrongMethod = answer(405, error('method_not_allowed'));
    expect(complaintOf(row, wrongMethod)).toContain('is not documented here');
    expect(complaintOf(row, wrongMethod, { ...post, damage: { wrong: 'method', method: 'PUT' } })).toBeUndefined();
    const unknown = answer(404, error('unknown_action'));
    expect(complaintOf(row, unknown)).toContain('is not documented here');
    expect(complaintOf(row, unknown, { ...post, damage: { wrong: 'address', address: 'y' } })).toBeUndefined();
    const runtime = answer(431, '', {});
    expect(complaintOf(row, runtime, { ...post, address: 'x'.repeat(9_000) })).toBeUndefined();
  });

  test('to a HEAD or a preflight has a status of its own', () => {
    const of = (method: string): Asked => ({ ...post, method });
    expect(complaintOf(row, answer(405, '', json), of('HEAD'))).toBeUndefined();
    expect(complaintOf(row, answer(200, '', json), of('HEAD'))).toBe('a HEAD is answered with 200');
    expect(complaintOf(row, answer(204, '', {}), of('OPTIONS'))).toBeUndefined();
    expect(complaintOf(row, answer(200, '', {}), of('OPTIONS'))).toBe('a preflight is answered with 200');
  });
});

describe('a list of events', () => {
  const list = (event: string, data: object) =>
    answer(200, {
      success: true,
      events: [{ event_id: 1, event, timestamp: '2026-01-01T00:00:00.000Z', data }],
      next: 1,
      has_more: false,
    });
  const left = { chat_id: 1, user_id: 2, actor_id: 3 };

  test('has the events of the table, each with its own data', () => {
    expect(complaintOf('events.list', list('user_left', left), get)).toBeUndefined();
    expect(complaintOf('events.list', list('user_slept', left), get)).toBeDefined();
    expect(complaintOf('events.list', list('user_left', {}), get)).toContain('the answer does not conform');
    expect(complaintOf('events.list', list('user_left', { ...left, mood: 'sad' }), get)).toContain(
      'more than its schema',
    );
  });
});

describe('a file', () => {
  const file = (status: number, text: string, headers: Record<string, string>) =>
    complaintOf('files.download', answer(status, text, { 'x-request-id': 'r1', ...headers }), get);

  test('has as many bytes as are told', () => {
    expect(file(200, 'abc', { 'content-length': '3' })).toBeUndefined();
    expect(file(200, 'abc', { 'content-length': '4' })).toBe('a 200 of 4 bytes has 3');
    expect(file(304, '', {})).toBeUndefined();
    expect(file(304, 'abc', {})).toBe('a 304 of 3 bytes has 3');
    expect(file(206, 'abc', { 'content-range': 'bytes 0-2/9' })).toBeUndefined();
    expect(file(206, 'abc', { 'content-range': 'bytes 0-3/9' })).toBe('bytes 0-3/9 has 3');
    expect(file(206, 'abc', {})).toBe('null has 3');
  });

  test('is no other status', () => {
    expect(file(500, 'abc', {})).toContain('the answer is');
  });
});

describe('a stream', () => {
  const type = 'text/event-stream; charset=utf-8';
  const stream = (text: string, contentType = type) =>
    complaintOf('events.stream', answer(200, text, { 'x-request-id': 'r1', 'content-type': contentType }), get);

  test('has lines of its own kind, of which the last may be on its way', () => {
    expect(stream('retry: 1000\n: hello\n\nid: 7\nevent: new_message\ndata: {"a":1}\n\nda')).toBeUndefined();
    expect(stream('id: x\n\n')).toBe('the stream has the line id: x');
    expect(stream('data: a fault\n\n')).toBe('the stream has the line data: a fault');
    expect(stream('<html>\n')).toBe('the stream has the line <html>');
  });

  test('is of its type', () => {
    expect(stream('', 'text/event-stream')).toBe('the stream is of another type');
  });
});
