import { expect, test } from 'bun:test';
import { freshEnvironment, onBothEngines } from '../server/test/support/engines.ts';
import { type ActName, acts } from './acts.ts';
import { kept } from './kept.ts';
import { judge } from './report.ts';
import { soak } from './run.ts';

/** So that even what is rare happens: one sign-in for 1,000 messages. */
const sendsPerSecond = 250;
const minutes = 0.1;

/** A busy machine may be many times slower. */
const mostMs = 180_000;

onBothEngines('a short soak', (engine) => {
  test.skipIf(process.platform !== 'linux')(
    'does all that people do, loses nothing, measures everything, and says that it is too short to judge',
    async () => {
      const env = await freshEnvironment(engine);
      const lines: string[] = [];
      const stop = AbortSignal.timeout(mostMs / 2);
      const result = await soak({ env, minutes, sendsPerSecond, seed: 1, stop, tell: (line) => lines.push(line) });
      const { acts: done, counts, told, broken, watch } = result;
      expect(broken).toEqual([]);
      const never = (Object.keys(acts) as ActName[]).filter((name) => done[name] === 0);
      expect(never).toEqual([]);
      expect(counts.heard).toBeGreaterThan(0);
      for (const { delivered, lost, outOfOrder } of Object.values(told)) {
        expect(delivered).toBeGreaterThan(0);
        expect({ lost, outOfOrder }).toEqual({ lost: 0, outOfOrder: 0 });
      }
      const unmeasured = [...watch.figures].filter(([, samples]) => samples.length === 0).map(([name]) => name);
      // How much of its log PostgreSQL keeps is up to its operator.
      expect(unmeasured).toEqual(engine === 'sqlite' ? [] : ['write-ahead log']);
      expect([...watch.kept.keys()]).toEqual(Object.keys(kept) as never);
      expect(judge(result).every(({ verdict }) => verdict === 'unknown')).toBeTrue();
    },
    mostMs,
  );
});
