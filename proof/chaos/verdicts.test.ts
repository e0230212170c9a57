import { expect, test } from 'bun:test';
import type { Answer } from './evidence.ts';
import { cutOffBy, growth, isFault, lockedOut } from './verdicts.ts';

const send = (key: string, outcome: Answer['outcome']): Answer => ({
  operation: 'messages.send_message',
  outcome,
  detail: '',
  key,
});

test('a send that a stop cut off has not come to pass by the time the server has stopped', () => {
  const answers = [send('a', 200), send('b', 'broken: stopping'), send('c', 200), send('b', 200)];
  const ids = new Map([
    ['a', 1],
    ['c', 2],
    ['b', 3],
  ]);
  const stop = { from: 1, to: 3 };
  expect(cutOffBy([{ ...stop, lastMessageId: 2 }], answers, ids)).toEqual({ cutOff: 1, done: [] });
  expect(cutOffBy([{ ...stop, lastMessageId: 3 }], answers, ids)).toEqual({ cutOff: 1, done: [3] });
  expect(cutOffBy([{ from: 2, to: 4, lastMessageId: 3 }], answers, ids)).toEqual({ cutOff: 0, done: [] });
  expect(cutOffBy([{ ...stop, lastMessageId: 9 }], [send('x', 'broken: stopping')].concat(answers), new Map())).toEqual(
    {
      cutOff: 1,
      done: [],
    },
  );
});

test('junk is answered by what blames it, or by what passes, and by no fault', () => {
  for (const status of ['200', '400', '413', '431', '503', '505', 'no response']) expect(isFault(status)).toBeFalse();
  for (const status of ['500', '501', '502', '504']) expect(isFault(status)).toBeTrue();
});

test('what grows with every flood is a leak, and what the first one took is none', () => {
  expect(growth([300, 310, 305], 64)).toBeUndefined();
  expect(growth([300, 200, 364], 64)).toBeUndefined();
  expect(growth([300, 400, 500], 64)).toBe(200);
});

test('whoever got nothing done since the clock jumped is locked out', () => {
  const last = new Map([
    [1, 100],
    [2, 300],
  ]);
  expect(lockedOut([1, 2, 3], last, 200)).toEqual([1, 3]);
  expect(lockedOut([1, 2], last, 50)).toEqual([]);
});
