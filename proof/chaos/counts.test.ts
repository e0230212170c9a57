import { expect, test } from 'bun:test';
import type { DeliveryCounts, Verdict } from '../harness/check.ts';
import type { Evidence } from '../harness/evidence.ts';
import { countsOf } from './counts.ts';

const hook: DeliveryCounts = {
  delivered: 10,
  repeats: 2,
  outOfOrder: 1,
  lost: 3,
  unknown: 0,
  altered: 0,
  badSignatures: 0,
  mislabelled: 0,
};
const acknowledged = [1, 2, 3, 4].map((message_id) => ({ message_id, chat_id: 1, content: '' }));
const evidence: Evidence = { acknowledged, changes: [], found: [], log: [], webhooks: [] };
const verdict: Verdict = { missing: 1, extra: 0, unlogged: 2, webhooks: { one: hook, two: hook }, broken: [] };

test('the counts of a run add up what is known of messages, webhooks and streams', () => {
  const streams = [{ outOfOrder: 1, gaps: 2, lost: 4 }];
  expect(countsOf(evidence, verdict, streams)).toEqual({
    acknowledged: 4,
    found: 3,
    delivered: 20,
    repeated: 4,
    outOfOrder: 2 + 1 + 2,
    lost: 1 + 2 + 6 + 4,
  });
});
