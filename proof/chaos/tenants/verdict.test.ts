import { expect, test } from 'bun:test';
import { quantile } from './ordinary.ts';
import { breaches, type Phase } from './verdict.ts';

const all = { tried: 10, admitted: 10 };
const calm: Phase = {
  meP50: 1,
  meP99: 10,
  lagP50: 2,
  lagP99: 20,
  uploads: all,
  streams: all,
  calls: all,
  disableMs: 300,
};
const judge = (during: Partial<Phase>, without: Partial<Phase> = {}) =>
  breaches({ without: { ...calm, ...without }, during: { ...calm, ...during } });

test('short times pass, however much longer than without the attack', () => {
  expect(judge({ meP99: 50, lagP99: 100 }, { meP99: 1, lagP99: 1 })).toEqual([]);
});

test('long times pass if they are at most three times as long as without the attack', () => {
  expect(judge({ meP99: 90, lagP99: 150 }, { meP99: 30, lagP99: 50 })).toEqual([]);
});

test('longer times fail, and so do figures that are missing', () => {
  expect(judge({ meP99: 51, lagP99: 101 })).toEqual([
    'The p99 of users.me is 51 ms; at most 50 ms is allowed.',
    'The p99 of the webhook lag is 101 ms; at most 100 ms is allowed.',
  ]);
  expect(judge({ lagP99: Number.NaN })).toHaveLength(1);
});

test('every refusal fails, and so does an administrator who cannot act', () => {
  const some = { tried: 10, admitted: 9 };
  const none = { tried: 0, admitted: 0 };
  expect(judge({ uploads: some, streams: none, calls: some, disableMs: undefined })).toEqual([
    '9 of 10 calls and sends succeeded.',
    '9 of 10 uploads succeeded.',
    '0 of 0 streams succeeded.',
    'The administrator could not sign in and disable the attacker.',
  ]);
});

test('a quantile is a value of the list, in any order', () => {
  const values = Array.from({ length: 200 }, (_, i) => 200 - i);
  expect([quantile(values, 0.5), quantile(values, 0.99)]).toEqual([101, 199]);
  expect(quantile([], 0.99)).toBeNaN();
});
