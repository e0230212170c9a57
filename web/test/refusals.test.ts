import { expect, test } from 'bun:test';
import { text } from '../text/text.ts';
import { delayText, refusalText } from '../ui/refusals.ts';

const { refusals, delays } = text.message;
const message = 'content: must have at most 16384 bytes';

test.each([
  [{ code: 'forbidden', message }, refusals.notAllowed],
  [{ code: 'not_found', message }, refusals.removed],
  [{ code: 'validation_failed', field: 'content', message }, refusals.tooLong],
  [{ code: 'validation_failed', field: 'file_ids', message }, refusals.fileGone],
  [{ code: 'validation_failed', field: 'reply_to', message }, refusals.replyGone],
  [{ code: 'payload_too_large', message }, refusals.tooLong],
  [{ code: 'conflict', message }, refusals.quota],
  // What the client knows nothing about is said in the words of the server.
  [{ code: 'validation_failed', field: 'other', message }, refusals.other(message)],
  [{ code: 'idempotency_conflict', message }, refusals.other(message)],
] as const)('%p is told in a sentence with a next step', (refusal, words) => expect(refusalText(refusal)).toBe(words));

test('messages that wait say why', () => {
  expect(delayText({ code: 'rate_limited', message })).toBe(delays.rate_limited);
  const full = 'The disk of the server is almost full.';
  expect(delayText({ code: 'unavailable', message: full })).toStartWith(full);
});
