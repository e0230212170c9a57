import { databaseFile } from '../../../server/store/folder.ts';
import { Assistant } from '../frame/assistant.ts';
import { onSqliteOnly } from '../frame/engines.ts';
import type { Trial } from '../frame/trial.ts';
import { hangMs } from '../hang.ts';
import { pause } from '../pause.ts';
import { stream } from '../random.ts';

/** How long others hold the lock, one after the other: the server itself waits for it for 5 s. */
const holds = [
  { least: 200, most: 2_000 },
  { least: 5_500, most: 9_000 },
] as const;

export const locked: Trial<'locks' | 'longest'> = {
  summary: 'another process holds the write lock of the SQLite file, for less and for longer than the server waits',
  seconds: 30,
  settings: {
    locks: { summary: 'times that the lock is held', fallback: 6 },
    longest: { summary: 'milliseconds after which it is let go once a page was read', fallback: 9_000 },
  },
  inapplicable: onSqliteOnly,
  wreak: async ({ seed, environments, calls, tally }, { locks, longest }, end) => {
    const random = stream(seed, 'locks');
    const file = databaseFile(environments[0]?.PARLEY_DATA ?? '');
    for (let i = 0; i < locks && !end.aborted; i++) {
      await pause(1_000 + 1_000 * random(), end);
      const { least, most } = holds[i % holds.length] ?? holds[0];
      const ms = Math.min(longest, Math.round(least + (most - least) * random()));
      await using holder = new Assistant<string>('lock-holder.ts', { file });
      await holder.line();
      const from = calls.answers.length;
      const began = performance.now();
      const meanwhile = () => calls.answers.slice(from);
      const pages = () =>
        meanwhile().filter(({ operation, outcome }) => operation === 'messages.get_messages' && outcome === 200).length;
      await pause(ms, end);
      while (pages() === 0 && performance.now() < began + hangMs && !end.aborted) await pause(20, end);
      const heldMs = Math.round(performance.now() - began);
      await holder.end('SIGTERM');
      tally.count('times that the lock was held');
      tally.count('milliseconds that it was held', heldMs);
      tally.count('meanwhile, pages read', pages());
      tally.count('meanwhile, calls asked to come again', meanwhile().filter(({ outcome }) => outcome === 503).length);
      if (pages() === 0) tally.breach(`nobody could read while the lock was held for ${heldMs} ms`);
    }
    return undefined;
  },
};
