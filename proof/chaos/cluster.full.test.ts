import { expect, test } from 'bun:test';
import { onCluster } from '../../server/test/support/on-cluster.ts';
import { cluster } from './faults/cluster.ts';
import { minMessages, runScenario } from './run.ts';

/** Draws both ways to end a node, and both to restart the database. */
const seed = 28;
const ms = 12_000;

/** Catches hangs, and nothing else. */
const maxMs = 300_000;

onCluster('three nodes that are killed and stopped, whose NATS and PostgreSQL go away and come back', () => {
  test(
    'lose nothing that they acknowledged, and tell every stream and every webhook everything, once and in order',
    async () => {
      const outOfTime = AbortSignal.timeout(maxMs - 20_000);
      const conditions = { engine: 'postgres', seed, ms, fsync: false, outOfTime, progress: () => {} } as const;
      const { broken, tally, evidence, readers } = await runScenario(cluster, {
        ...conditions,
        settings: { crashes: 2 },
      });
      expect(broken).toEqual([]);
      for (const happened of [
        'kills of a server',
        'stops of a server',
        'times that NATS was away',
        'restarts of PostgreSQL, in order',
        'restarts of PostgreSQL, by a crash',
      ]) {
        expect(tally.of(happened)).toBeGreaterThan(0);
      }
      expect(evidence.acknowledged.length).toBeGreaterThanOrEqual(minMessages);
      expect(evidence.streams.every(({ expected }) => expected.length > 0)).toBeTrue();
      expect(readers.some((reader) => reader.counts.connections > 1)).toBeTrue();
      expect(evidence.webhooks.every(({ log }) => log.length > 0)).toBeTrue();
    },
    maxMs,
  );
});
