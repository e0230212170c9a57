import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Attempted, type Health, healthy, judge, type Verdict } from '../../webhooks/health.ts';
import type { Outcome } from '../../webhooks/outcome.ts';
import { retryPolicy, waitAfterRefusal, waitWhileDown } from '../../webhooks/retry-policy.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** In the middle of the jitter. */
const even = () => 0.5;
const now = 1_800_000_000_000;

const responded = (status: number, retryAfterMs?: number): Outcome => ({
  kind: 'responded',
  status,
  retryAfterMs,
  body: '',
  ms: 5,
});
const unreached = (failure: (Outcome & { kind: 'unreached' })['failure']): Outcome => ({
  kind: 'unreached',
  failure,
  message: `known as ${failure}`,
  ms: 5,
});

const chatA = 1;
const chatB = 2;

/** Never tried before, in the first chat, unless it is known otherwise. */
const entry = (known: Partial<Attempted['delivery']> = {}): Attempted['delivery'] => ({
  refusals: 0,
  chatId: chatA,
  lastAt: 0,
  ...known,
});

const health = (known: Partial<Health> = {}): Health => ({ ...healthy, ...known });
const downBy = (down_cause: 'transport' | 'responses', known: Partial<Health> = {}): Health =>
  health({ down_since: now - minute, down_cause, probes: 1, hold_until: now - 1, foundDownAt: now - minute, ...known });

/** It has just been found to be down; whatever was under way then comes in late. */
const justDown = (down_cause: 'transport' | 'responses'): Health =>
  downBy(down_cause, { down_since: now, probes: 0, hold_until: now + 5 * second, foundDownAt: now });

describe('the retry policy', () => {
  test('tries a refused event again after the ten times of the design', () => {
    const waits = Array.from({ length: 11 }, (_, i) => waitAfterRefusal(i + 1, even));
    expect(waits).toEqual([
      5 * second,
      30 * second,
      2 * minute,
      10 * minute,
      30 * minute,
      1 * hour,
      3 * hour,
      6 * hour,
      12 * hour,
      24 * hour,
      undefined,
    ]);
  });

  test('lengthens or shortens each of them by a fifth at most', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (refusals, random) => {
          const middle = waitAfterRefusal(refusals, even) ?? 0;
          const wait = waitAfterRefusal(refusals, () => random) ?? 0;
          expect(wait).toBeGreaterThanOrEqual(middle * 0.8);
          expect(wait).toBeLessThanOrEqual(middle * 1.2);
          expect(wait).toBeInteger();
        },
      ),
    );
    expect(waitAfterRefusal(1, () => 0)).toBe(4 * second);
    expect(waitAfterRefusal(1, () => 0.999_999)).toBe(6 * second);
  });

  test('probes an endpoint that is down after 5 s, 30 s, 2 min, and every 5 min from then on', () => {
    expect([0, 1, 2, 3, 4, 5, 1_000].map(waitWhileDown)).toEqual([
      5 * second,
      30 * second,
      2 * minute,
      5 * minute,
      5 * minute,
      5 * minute,
      5 * minute,
    ]);
  });

  test('gives an endpoint up after five days, and takes five refusals over two chats for an outage', () => {
    expect(retryPolicy.disableAfter).toBe(5 * day);
    expect(retryPolicy.downAfter).toEqual({ failures: 5, chats: 2 });
    expect(retryPolicy.maxRetryAfter).toBe(hour);
  });
});

interface Transition {
  readonly when: string;
  readonly health: Health;
  readonly entry?: Partial<Attempted['delivery']>;
  readonly outcome: Outcome;
  /** Only what is named here is looked at. */
  readonly becomes: Readonly<Record<string, unknown>> & { readonly health?: Partial<Health> };
}

const up = { down_since: null, down_cause: null, probes: 0, hold_until: null };
const fourInB = { failuresInRow: 4, failedChats: new Set([chatB]) };

const transitions: readonly Transition[] = [
  {
    when: 'a first attempt gets the response 200',
    health: health(),
    outcome: responded(200),
    becomes: { state: 'delivered', refusals: 0, nextAt: null, health: { ...up, lastSuccessAt: now } },
  },
  {
    when: 'a response is 299, the last that is a success',
    health: health(),
    outcome: responded(299),
    becomes: { state: 'delivered' },
  },
  {
    when: 'a success comes from an endpoint that was down',
    health: downBy('transport', { probes: 7 }),
    outcome: responded(204),
    becomes: { state: 'delivered', health: { ...up, failuresInRow: 0, lastSuccessAt: now } },
  },
  {
    when: 'a success comes after four refusals in a row',
    health: health(fourInB),
    outcome: responded(200),
    becomes: { health: { failuresInRow: 0, failedChats: new Set() } },
  },
  {
    when: 'a success has a Retry-After',
    health: health(),
    outcome: responded(200, hour),
    becomes: { state: 'delivered', health: { hold_until: null } },
  },
  {
    when: 'an event is refused for the first time',
    health: health(),
    outcome: responded(400),
    becomes: {
      state: 'retrying',
      refusals: 1,
      nextAt: now + 5 * second,
      health: { ...up, failuresInRow: 1, failedChats: new Set([chatA]) },
    },
  },
  {
    when: 'a response is a redirect',
    health: health(),
    outcome: responded(302),
    becomes: { state: 'retrying', refusals: 1, nextAt: now + 5 * second },
  },
  {
    when: 'an event is refused for the tenth time',
    health: health(),
    entry: { refusals: 9 },
    outcome: responded(500),
    becomes: { state: 'retrying', refusals: 10, nextAt: now + 24 * hour },
  },
  {
    when: 'an event is refused once more after that',
    health: health(),
    entry: { refusals: 10 },
    outcome: responded(500),
    becomes: { state: 'failed', refusals: 11, nextAt: null, health: up },
  },
  {
    when: 'the fifth refusal in a row is in the same chat as the others',
    health: health({ failuresInRow: 4, failedChats: new Set([chatA]) }),
    outcome: responded(500),
    becomes: { state: 'retrying', refusals: 1, health: { ...up, failuresInRow: 5 } },
  },
  {
    when: 'the fourth refusal in a row is in a second chat',
    health: health({ failuresInRow: 3, failedChats: new Set([chatB]) }),
    outcome: responded(500),
    becomes: { refusals: 1, health: up },
  },
  {
    when: 'the fifth refusal in a row is in a second chat',
    health: health(fourInB),
    entry: { refusals: 3 },
    outcome: responded(500),
    becomes: {
      state: 'retrying',
      refusals: 3,
      nextAt: now + 5 * second,
      health: { down_since: now, down_cause: 'responses', probes: 0, hold_until: now + 5 * second },
    },
  },
  {
    when: 'an event that has one refusal left meets the fifth refusal in a row',
    health: health(fourInB),
    entry: { refusals: 10 },
    outcome: responded(500),
    becomes: { state: 'retrying', refusals: 10 },
  },
  {
    when: 'an endpoint that is down by its responses refuses a probe',
    health: downBy('responses'),
    outcome: responded(500),
    becomes: {
      state: 'retrying',
      refusals: 0,
      health: { down_since: now - minute, down_cause: 'responses', probes: 2, hold_until: now + 2 * minute },
    },
  },
  ...(['transport', 'responses'] as const).map(
    (cause): Transition => ({
      when: `a request fails that was under way when the endpoint went down by ${cause}: it is no probe`,
      health: justDown(cause),
      outcome: cause === 'transport' ? unreached('refused') : responded(500),
      becomes: {
        state: 'retrying',
        refusals: 0,
        nextAt: now + 5 * second,
        health: { down_since: now, down_cause: cause, probes: 0, hold_until: now + 5 * second },
      },
    }),
  ),
  {
    when: 'a request succeeds that was under way when the endpoint went down',
    health: justDown('transport'),
    outcome: responded(200),
    becomes: { state: 'delivered', health: up },
  },
  {
    when: 'an endpoint that could not be reached refuses a probe',
    health: downBy('transport'),
    outcome: responded(500),
    becomes: { state: 'retrying', refusals: 1, nextAt: now + 5 * second, health: { ...up, failuresInRow: 1 } },
  },
  ...(['refused', 'dns', 'tls', 'timeout', 'blocked_address', 'unreachable', 'other'] as const).map(
    (failure): Transition => ({
      when: `a healthy endpoint cannot be reached: ${failure}`,
      health: health(),
      outcome: unreached(failure),
      becomes: {
        state: 'retrying',
        refusals: 0,
        nextAt: now + 5 * second,
        health: { down_since: now, down_cause: 'transport', probes: 0, hold_until: now + 5 * second },
      },
    }),
  ),
  {
    when: 'a connection breaks off that may have been closed while it was kept open',
    health: health(),
    outcome: unreached('reset'),
    becomes: { state: 'retrying', refusals: 0, nextAt: null, health: { ...up, lostConnection: true } },
  },
  {
    when: 'a connection breaks off right after another did',
    health: health({ lostConnection: true }),
    outcome: unreached('reset'),
    becomes: { nextAt: now + 5 * second, health: { down_since: now, down_cause: 'transport', lostConnection: false } },
  },
  {
    when: 'a connection breaks off while the endpoint is down',
    health: downBy('transport'),
    outcome: unreached('reset'),
    becomes: { health: { down_since: now - minute, probes: 2, hold_until: now + 2 * minute } },
  },
  {
    when: 'a refusal comes after a connection that broke off',
    health: health({ lostConnection: true }),
    outcome: responded(500),
    becomes: { refusals: 1, health: { ...up, lostConnection: false } },
  },
  {
    when: 'an event cannot be delivered although others passed since it was last tried',
    health: health({ lastSuccessAt: now - second }),
    entry: { refusals: 2, lastAt: now - minute },
    outcome: unreached('timeout'),
    becomes: { state: 'retrying', refusals: 3, nextAt: now + 2 * minute, health: { down_since: now } },
  },
  {
    when: 'that has happened eleven times',
    health: health({ lastSuccessAt: now - second }),
    entry: { refusals: 10, lastAt: now - minute },
    outcome: unreached('timeout'),
    becomes: { state: 'failed', refusals: 11 },
  },
  {
    when: 'an event cannot be delivered and nothing has passed since it was last tried',
    health: health({ lastSuccessAt: now - hour }),
    entry: { refusals: 10, lastAt: now - minute },
    outcome: unreached('timeout'),
    becomes: { state: 'retrying', refusals: 10 },
  },
  {
    when: 'an endpoint has been unreachable for a little less than five days',
    health: downBy('transport', { down_since: now - 5 * day + 1, probes: 1_000 }),
    outcome: unreached('refused'),
    becomes: { state: 'retrying', disable: undefined, health: { hold_until: now + 5 * minute } },
  },
  {
    when: 'an endpoint has been unreachable for five days',
    health: downBy('transport', { down_since: now - 5 * day, probes: 1_000 }),
    outcome: unreached('refused'),
    becomes: { state: 'retrying', disable: 'unreachable' },
  },
  {
    when: 'an endpoint has refused everything for five days',
    health: downBy('responses', { down_since: now - 5 * day }),
    outcome: responded(500),
    becomes: { state: 'retrying', disable: 'unreachable' },
  },
  {
    when: 'the response is 410',
    health: health(),
    entry: { refusals: 4 },
    outcome: responded(410),
    becomes: { state: 'retrying', refusals: 4, nextAt: null, disable: 'gone' },
  },
  {
    when: 'the response is 410 with a Retry-After',
    health: health(),
    outcome: responded(410, minute),
    becomes: { disable: 'gone', health: { hold_until: null } },
  },
  ...[429, 503].map(
    (status): Transition => ({
      when: `the response is ${status} with a Retry-After`,
      health: health(),
      outcome: responded(status, 10 * minute),
      becomes: {
        state: 'retrying',
        refusals: 0,
        nextAt: now + 10 * minute,
        health: { hold_until: now + 10 * minute, down_since: null },
      },
    }),
  ),
  ...[400, 500, 502, 301].map(
    (status): Transition => ({
      when: `the response is ${status} with a Retry-After, which means nothing there`,
      health: health(),
      outcome: responded(status, 10 * minute),
      becomes: { state: 'retrying', refusals: 1, nextAt: now + 5 * second, health: { hold_until: null } },
    }),
  ),
  {
    when: 'the response is 429 without a Retry-After',
    health: health(),
    outcome: responded(429),
    becomes: { refusals: 1, nextAt: now + 5 * second, health: { hold_until: null } },
  },
  {
    when: 'a Retry-After asks for a day',
    health: health(),
    outcome: responded(503, day),
    becomes: { nextAt: now + hour, health: { hold_until: now + hour } },
  },
  {
    when: 'a Retry-After asks for no time at all',
    health: health(),
    outcome: responded(503, 0),
    becomes: { nextAt: now + second, health: { hold_until: now + second } },
  },
  {
    when: 'an event is put off again although others passed since',
    health: health({ lastSuccessAt: now - second }),
    entry: { refusals: 1, lastAt: now - minute },
    outcome: responded(429, 10 * second),
    becomes: { state: 'retrying', refusals: 1, nextAt: now + 10 * second },
  },
  {
    when: 'an event is put off again and nothing has passed since it was last tried',
    health: health(),
    entry: { refusals: 1, lastAt: now - minute },
    outcome: responded(429, 10 * second),
    becomes: { state: 'retrying', refusals: 2, nextAt: now + 30 * second, health: { hold_until: now + 10 * second } },
  },
  {
    when: 'an event is put off for ever and ever',
    health: health(),
    entry: { refusals: 10, lastAt: now - minute },
    outcome: responded(503, 10 * second),
    becomes: { state: 'failed', refusals: 11, nextAt: null, health: { hold_until: now + 10 * second } },
  },
  {
    when: 'an endpoint that is down by its responses asks for less time than it is left alone anyway',
    health: downBy('responses'),
    outcome: responded(503, second),
    becomes: { refusals: 0, health: { hold_until: now + 2 * minute, probes: 2 } },
  },
  {
    when: 'an endpoint that is down by its responses asks for more time',
    health: downBy('responses'),
    outcome: responded(503, 30 * minute),
    becomes: { nextAt: now + 30 * minute, health: { hold_until: now + 30 * minute, down_since: now - minute } },
  },
];

/** Frozen, so that a change of the input throws. */
const frozen = (known: Health): Health => Object.freeze({ ...known, failedChats: new Set(known.failedChats) });

describe('what becomes of a delivery and of its endpoint when', () => {
  for (const { when, health, entry: known, outcome, becomes } of transitions) {
    test(when, () => {
      const verdict = judge(frozen(health), {
        delivery: entry(known),
        outcome,
        startedAt: now - outcome.ms,
        now,
        random: even,
      });
      const { health: healthAfter, ...rest } = becomes;
      for (const [name, value] of Object.entries(rest)) {
        expect<unknown>({ [name]: verdict[name as keyof Verdict] }).toEqual({ [name]: value });
      }
      for (const [name, value] of Object.entries(healthAfter ?? {})) {
        expect<unknown>({ [name]: verdict.health[name as keyof Health] }).toEqual({ [name]: value });
      }
    });
  }
});

const failures = ['refused', 'dns', 'tls', 'timeout', 'reset', 'blocked_address', 'unreachable', 'other'] as const;
const anyUnreached = fc.constantFrom(...failures).map(unreached);
const anyRetryAfter = fc.option(fc.integer({ min: 0, max: 3 * day }), { nil: undefined });
const anyAnswer = fc
  .tuple(fc.oneof(fc.integer({ min: 200, max: 599 }), fc.constantFrom(200, 410, 429, 500, 503)), anyRetryAfter)
  .map(([status, retryAfterMs]) => responded(status, retryAfterMs));
const anyOutcome = fc.oneof(anyUnreached, anyAnswer);

interface Step {
  readonly outcome: Outcome;
  readonly chatId: number;
  readonly random: number;
  readonly later: number;
}
const stepsOf = (outcome: fc.Arbitrary<Outcome>, chats = 4) =>
  fc.array(
    fc.record({
      outcome,
      chatId: fc.integer({ min: 1, max: chats }),
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      later: fc.integer({ min: 0, max: 12 * hour }),
    }),
    { minLength: 1, maxLength: 60 },
  );

interface Judged extends Step {
  readonly before: Health;
  readonly startedAt: number;
  readonly entry: Attempted['delivery'];
  readonly at: number;
  readonly verdict: Verdict;
}

/** The life of an endpoint with one event waiting in each chat; one that is settled gives way to the next. */
function live(steps: readonly Step[]): Judged[] {
  const entries = new Map<number, Attempted['delivery']>();
  let state = frozen(healthy);
  let at = now;
  return steps.map((step) => {
    at += step.later;
    const tried = entries.get(step.chatId) ?? entry({ chatId: step.chatId });
    const { outcome, random } = step;
    const startedAt = at - Math.min(step.later, outcome.ms);
    const verdict = judge(state, { delivery: tried, outcome, startedAt, now: at, random: () => random });
    const judged = { ...step, before: state, startedAt, entry: tried, at, verdict };
    state = frozen(verdict.health);
    if (verdict.state === 'retrying') entries.set(step.chatId, { ...tried, refusals: verdict.refusals, lastAt: at });
    else entries.delete(step.chatId);
    return judged;
  });
}

const holds = (outcome: fc.Arbitrary<Outcome>, check: (judged: Judged) => void, chats?: number) =>
  fc.assert(
    fc.property(stepsOf(outcome, chats), (steps) => live(steps).forEach(check)),
    { numRuns: 200 },
  );

describe('whatever an endpoint does,', () => {
  test('a 2xx and nothing else delivers, and then the endpoint is as good as new', () => {
    holds(anyOutcome, ({ outcome, verdict, at }) => {
      const isSuccess = outcome.kind === 'responded' && outcome.status < 300;
      expect(verdict.state === 'delivered').toBe(isSuccess);
      if (isSuccess) expect(verdict.health).toEqual({ ...healthy, lastSuccessAt: at });
    });
  });

  test('an event fails at its eleventh refusal and not before, and counts one refusal at most for an attempt', () => {
    holds(anyOutcome, ({ verdict, entry }) => {
      expect([0, 1]).toContain(verdict.refusals - entry.refusals);
      if (verdict.state === 'failed') expect(verdict.refusals).toBe(11);
      if (verdict.state === 'retrying') expect(verdict.refusals).toBeLessThan(11);
    });
  });

  test('nothing fails and nothing is counted while it cannot be reached at all', () => {
    holds(anyUnreached, ({ verdict }) => {
      expect(verdict.state).toBe('retrying');
      expect(verdict.refusals).toBe(0);
    });
  });

  test('refusals in a single chat never make it down', () => {
    const refusal = fc.integer({ min: 400, max: 599 }).map((status) => responded(status));
    holds(refusal, ({ verdict }) => expect(verdict.health.down_since).toBeNull(), 1);
  });

  test('it is disabled by 410 or after five days down, and by nothing else', () => {
    holds(anyOutcome, ({ outcome, verdict, at }) => {
      const isGone = outcome.kind === 'responded' && outcome.status === 410;
      const { down_since } = verdict.health;
      const wasDownLong = down_since !== null && at - down_since >= 5 * day;
      expect(verdict.disable).toBe(isGone ? 'gone' : wasDownLong ? 'unreachable' : undefined);
    });
  });

  test('it is left alone for an hour at most, and an event waits for a bit more than a day at most', () => {
    holds(anyOutcome, ({ verdict, at }) => {
      const { hold_until } = verdict.health;
      if (hold_until !== null) expect(hold_until).toBeLessThanOrEqual(at + hour);
      if (verdict.nextAt !== null) expect(verdict.nextAt).toBeGreaterThan(at);
      if (verdict.nextAt !== null) expect(verdict.nextAt).toBeLessThanOrEqual(at + 1.2 * day);
    });
  });

  test('it is held while it is down, and down_since stays until a response ends it', () => {
    holds(anyOutcome, ({ before, startedAt, verdict, at }) => {
      const { down_since, down_cause, hold_until, probes } = verdict.health;
      expect(down_since === null).toBe(down_cause === null);
      if (down_since === null) return expect(probes).toBe(0);
      expect(down_since).toBe(before.down_since ?? at);
      if (verdict.disable === 'gone') return;
      const wasUnderWay = before.down_since !== null && startedAt <= before.foundDownAt;
      expect(hold_until).toBeGreaterThanOrEqual(wasUnderWay ? (before.hold_until ?? 0) : at + 5 * second);
    });
  });
});
