import { databaseFile } from '../../../server/store/data-folder/folder.ts';
import { Child } from '../../harness/child.ts';
import { between, stream } from '../../harness/random.ts';
import { pause, waitUntil } from '../../harness/wait.ts';
import { onSqliteOnly, type Scenario } from '../scenario.ts';

/** The times that the lock is held, in turn. The server waits 5 s for it. */
const holdMs = [
  [200, 2_000],
  [5_500, 9_000],
] as const;

export const locked: Scenario<'locks' | 'longest'> = {
  summary: 'another process holds the write lock of the SQLite file, for less and for longer than the server waits',
  seconds: 30,
  settings: {
    locks: { summary: 'times that the lock is held', fallback: 6 },
    longest: { summary: 'milliseconds after which it is released once a page was read', fallback: 9_000 },
  },
  inapplicable: onSqliteOnly,
  disturb: async ({ seed, environments, calls, tally }, { locks, longest }, end) => {
    const random = stream(seed, 'locks');
    const file = databaseFile(environments[0]?.PARLEY_DATA ?? '');
    for (let i = 0; i < locks && !end.aborted; i++) {
      await pause(1_000 + 1_000 * random(), end);
      const ms = Math.min(longest, between(random, holdMs[i % holdMs.length] ?? holdMs[0]));
      await using holder = new Child('proof/chaos/helpers/lock-holder.ts', { input: { file } });
      await holder.line();
      const from = calls.answers.length;
      const began = performance.now();
      const meanwhile = () => calls.answers.slice(from);
      const pages = () =>
        meanwhile().filter(({ operation, outcome }) => operation === 'messages.get_messages' && outcome === 200).length;
      await pause(ms, end);
      await waitUntil(() => pages() > 0, { end });
      const heldMs = Math.round(performance.now() - began);
      await holder.kill('SIGTERM');
      tally.count('times that the lock was held');
      tally.count('milliseconds that it was held', heldMs);
      tally.count('meanwhile, pages read', pages());
      tally.count('meanwhile, calls asked to come again', meanwhile().filter(({ outcome }) => outcome === 503).length);
      if (pages() === 0) tally.breach(`no page was read while the lock was held for ${heldMs} ms`);
    }
  },
};
