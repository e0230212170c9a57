import { Child } from '../../harness/child.ts';
import { mebibytes, residentBytes } from '../../harness/machine.ts';
import { waitUntil } from '../../harness/wait.ts';
import type { Flood, FloodResult } from '../helpers/flood.ts';
import { onLinuxOnly, type Scenario, type Scene, successesWithin } from '../scenario.ts';
import { growth } from '../verdicts.ts';

/** The first flood makes the server as large as it gets. What it keeps of the later ones is a leak. */
const rounds = 3;

/** The default of the setting: a sender of junk has a token too, and a limit. */
const defaultRate = '50/200';

export const floods: Scenario<'connections' | 'kept'> = {
  summary: 'oversized and malformed requests by the thousand, beside people who write',
  seconds: 40,
  settings: {
    connections: { summary: 'concurrent connections that send junk', fallback: 24 },
    // A fraction of what came. What the server took for the first flood, it may need again.
    kept: { summary: 'MB that the server may keep of the floods after the first', fallback: 64 },
  },
  inapplicable: onLinuxOnly,
  prepare: async () => ({ PARLEY_RATE_LIMIT: defaultRate }),
  disturb: async (scene, { connections, kept }, end) => {
    const { ms, tally } = scene;
    const roundMs = ms / (rounds + 1);
    const before = await successesWithin(scene, roundMs, end);
    tally.count('calls that succeeded before the floods', before);
    const sizes: number[] = [];
    for (let round = 0; round < rounds && !end.aborted; round++) {
      const during = await flood(scene, round, connections, roundMs, end);
      tally.note(`calls that succeeded beside flood ${round + 1}, against before`, (during / before).toFixed(2));
      const size = () => Math.round(mebibytes(residentBytes(scene.nodes.first.pid)));
      if (sizes[0] !== undefined) await waitUntil(() => size() <= (sizes[0] ?? 0) + kept, { end, everyMs: 200 });
      sizes.push(size());
    }
    tally.note('MB of the server after each flood', sizes.join(', '));
    const grown = growth(sizes, kept);
    if (grown !== undefined) tally.breach(`the server kept ${grown} MB of the floods after the first`);
  },
};

/** Returns the number of calls that succeeded beside it. */
async function flood(scene: Scene, round: number, connections: number, ms: number, end: AbortSignal): Promise<number> {
  const { seed, nodes, stage, tally } = scene;
  const input: Flood = {
    port: nodes.first.port,
    token: stage.stranger.token,
    chatId: stage.groups[0],
    seed: seed + round,
    connections,
  };
  await using helper = new Child('proof/chaos/helpers/flood.ts', { input });
  await helper.line();
  const during = await successesWithin(scene, ms, end);
  await helper.kill('SIGTERM');
  const { sent, megabytes, answers, faults } = await helper.line<FloodResult>();
  tally.count('pieces of junk', sent);
  tally.count('MB of it', megabytes);
  for (const [what, count] of Object.entries(answers)) tally.count(`  ${what}`, count);
  tally.count('faults of the server in responses to it', faults.length);
  for (const fault of faults.slice(0, 5)) tally.breach(`the response to junk is a fault of the server: ${fault}`);
  return during;
}
