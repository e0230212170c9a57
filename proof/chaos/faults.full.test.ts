import { describe, expect, test } from 'bun:test';
import { noteSkipped } from '../../server/test/support/requirements.ts';
import { clock } from './faults/clock.ts';
import { diskFull } from './faults/disk-full.ts';
import { floods } from './faults/floods.ts';
import { killReceiver } from './faults/kill-receiver.ts';
import { killServer } from './faults/kill-server.ts';
import { locked } from './faults/locked.ts';
import { sigterm } from './faults/sigterm.ts';
import { slowClients } from './faults/slow-clients.ts';
import { webhooks } from './faults/webhooks.ts';
import { minMessages, type RunResult, runScenario } from './run.ts';
import type { Scenario } from './scenario.ts';

const seed = 7;

/** Catches hangs, and nothing else. */
const maxMs = 300_000;

/**
 * Runs a fault on SQLite for a short time. PostgreSQL and NATS have theirs in `cluster.full.test.ts`; `receiver-faults` takes
 * longer than a test may. All run concurrently: most of a run is waiting.
 */
function short<S extends string>(
  name: string,
  scenario: Scenario<S>,
  ms: number,
  settings: Readonly<Record<S, number>>,
  happened: (result: RunResult) => number,
): void {
  const why = scenario.inapplicable?.('sqlite');
  if (why !== undefined) noteSkipped(name, why);
  test.concurrent.skipIf(why !== undefined)(
    name,
    async () => {
      const outOfTime = AbortSignal.timeout(maxMs - 20_000);
      const conditions = { engine: 'sqlite', seed, ms, fsync: false, outOfTime, progress: () => {} } as const;
      const result = await runScenario(scenario, { ...conditions, settings });
      expect(result.broken).toEqual([]);
      expect(result.evidence.acknowledged.length).toBeGreaterThanOrEqual(minMessages);
      expect(result.evidence.webhooks.every(({ log }) => log.length > 0)).toBeTrue();
      expect(happened(result)).toBeGreaterThan(0);
    },
    maxMs,
  );
}

const count =
  (what: string) =>
  ({ tally }: RunResult): number =>
    tally.of(what);

describe('nothing that was acknowledged is lost, and everything is told once and in order', () => {
  short('when the server is killed', killServer, 1_500, { kills: 2 }, count('kills of a server'));
  short('when the endpoint of a webhook is killed', killReceiver, 1_500, { kills: 2 }, count('kills of an endpoint'));
  short('when the server is asked to stop', sigterm, 1_000, { stops: 4 }, count('stops of a server'));
  short(
    'when the disk is full',
    diskFull,
    1_000,
    { times: 1, full: 700 },
    count('meanwhile, calls asked to come again'),
  );
  short(
    'when another process holds the lock of the database',
    locked,
    1_000,
    { locks: 1, longest: 1_500 },
    count('milliseconds that it was held'),
  );
  short(
    'when the server is killed while an endpoint flaps and another one is dead',
    webhooks,
    1_000,
    { messages: 200, chats: 2, kills: 1 },
    count('kills of a server'),
  );
  short('when the clock jumps', clock, 1_000, { jumps: 2 }, count('jumps of the clock back'));
  short('beside slow clients', slowClients, 2_000, { clients: 400 }, count('slow clients'));
  // How much a server keeps of a flood says something only if one is as long as the other, which takes a longer run.
  const anyNumber = 100_000;
  short('beside floods of junk', floods, 1_600, { connections: 6, kept: anyNumber }, count('pieces of junk'));
});
