import { expect, test } from 'bun:test';
import { freshEnvironment, onBothEngines } from '../../server/test/support/engines.ts';
import type { ActName } from './acts.ts';
import { judge } from './report.ts';
import { temporaryRows } from './rows.ts';
import { type Progress, soak } from './run.ts';

const sendsPerSecond = 250;
const minutes = 0.05;

/** Catches hangs, and nothing else. */
const maxMs = 300_000;

/** Returns the acts that have not been done so far. */
const undone = (done: Progress['acts']) => (Object.keys(done) as ActName[]).filter((name) => done[name] === 0);

const unmeasured = (watch: Progress['watch']) =>
  [...watch.figures].filter(([, samples]) => samples.length === 0).map(([name]) => name);

onBothEngines('a short soak', (engine) => {
  test.skipIf(process.platform !== 'linux')(
    'does all that people do, loses nothing, measures everything, and says that it is too short to judge',
    async () => {
      const env = await freshEnvironment(engine);
      // How much of its log PostgreSQL keeps is up to its operator.
      const unknown = engine === 'sqlite' ? 0 : 1;
      const isEnough = ({ acts, heard, watch }: Progress) =>
        undone(acts).length === 0 && heard > 0 && unmeasured(watch).length === unknown;
      const stop = AbortSignal.timeout(maxMs / 2);
      const result = await soak({ env, minutes, isEnough, sendsPerSecond, seed: 1, stop, print: () => {} });
      const { acts, counts, deliveries, broken, watch } = result;
      expect(broken).toEqual([]);
      expect(undone(acts)).toEqual([]);
      expect(counts.heard).toBeGreaterThan(0);
      for (const { delivered, lost, outOfOrder } of Object.values(deliveries)) {
        expect(delivered).toBeGreaterThan(0);
        expect({ lost, outOfOrder }).toEqual({ lost: 0, outOfOrder: 0 });
      }
      expect(unmeasured(watch)).toEqual(engine === 'sqlite' ? [] : ['write-ahead log']);
      expect([...watch.rows.keys()]).toEqual(Object.keys(temporaryRows) as never);
      expect(judge(result).every(({ verdict }) => verdict === 'unknown')).toBeTrue();
    },
    maxMs,
  );
});
