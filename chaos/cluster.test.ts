import { expect, test } from 'bun:test';
import { onCluster } from '../server/test/support/on-cluster.ts';
import { runCluster } from './cluster/run.ts';
import { drawSchedule } from './cluster/schedule.ts';

/** Draws both ways to end a node, and both to restart the database. */
const seed = 28;
const ms = 12_000;

/** A busy machine may be many times slower. */
const mostMs = 240_000;

onCluster('three nodes that are killed and stopped, whose NATS and PostgreSQL go away and come back', () => {
  test(
    'lose nothing that they acknowledged, and tell every stream and every webhook everything, once and in order',
    async () => {
      const outOfTime = AbortSignal.timeout(mostMs - 20_000);
      const schedule = drawSchedule({ ms, nodes: 3, crashes: 2 }, seed);
      const result = await runCluster({ seed, schedule, ms, fsync: false, outOfTime, progress: () => {} });
      const { broken, counts, evidence, readers } = result;
      expect(broken).toEqual([]);
      for (const happened of [counts.kills, counts.stops, counts.natsStops]) expect(happened).toBeGreaterThan(0);
      for (const happened of [counts.fastRestarts, counts.immediateRestarts]) expect(happened).toBeGreaterThan(0);
      expect(evidence.acknowledged.length).toBeGreaterThan(100);
      expect(evidence.streams.every(({ expected }) => expected.length > 0)).toBeTrue();
      expect(readers.some((reader) => reader.counts.connections > 1)).toBeTrue();
      expect(evidence.told.every(({ log }) => log.length > 0)).toBeTrue();
    },
    mostMs,
  );
});
