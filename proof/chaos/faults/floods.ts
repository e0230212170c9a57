import type { Flood, Flooded } from '../floods/flood.ts';
import { Assistant } from '../frame/assistant.ts';
import { answeredIn } from '../frame/beside.ts';
import { residentMegabytes, untilAtMost } from '../frame/process-facts.ts';
import type { Scene, Trial } from '../frame/trial.ts';
import { hangMs } from '../hang.ts';
import { growth } from '../verdicts.ts';

/** The first makes the server as large as it gets; what it keeps of those after it is a leak. */
const rounds = 3;

/** The setting's own. */
const defaultRate = '50/200';

export const floods: Trial<'connections' | 'kept'> = {
  summary: 'oversized and malformed requests by the thousand, beside people who write',
  seconds: 40,
  settings: {
    connections: { summary: 'connections that junk comes over at once', fallback: 24 },
    // A fraction of what came. What the server took for the first flood, it may need again.
    kept: { summary: 'MB that the server may keep of the floods after the first', fallback: 64 },
  },
  inapplicable: () => (process.platform === 'linux' ? undefined : 'It takes Linux, which tells what a process holds.'),
  // As it is set unless somebody changes it: whoever sends junk has a token too, and a limit.
  ground: async () => ({ PARLEY_RATE_LIMIT: defaultRate }),
  wreak: async (scene, { connections, kept }, end) => {
    const { ms, tally } = scene;
    const stretch = ms / (rounds + 1);
    const calm = await answeredIn(scene, stretch, end);
    tally.count('calls that succeeded before the floods', calm);
    const sizes: number[] = [];
    for (let round = 0; round < rounds && !end.aborted; round++) {
      const { beside, megabytes } = await floodOnce(
        scene,
        { round, connections, stretch, most: sizes[0] && sizes[0] + kept },
        end,
      );
      tally.tell(`calls that succeeded beside flood ${round + 1}, against before`, (beside / calm).toFixed(2));
      sizes.push(megabytes);
    }
    tally.tell('MB of the server after each flood', sizes.join(', '));
    const grown = growth(sizes, kept);
    if (grown !== undefined) tally.breach(`the server kept ${grown} MB of the floods after the first`);
    return undefined;
  },
};

interface Round {
  readonly round: number;
  readonly connections: number;
  readonly stretch: number;
  /** MB that the server may have afterwards, once that is known. */
  readonly most: number | undefined;
}

async function floodOnce(
  scene: Scene,
  { round, connections, stretch, most }: Round,
  end: AbortSignal,
): Promise<{ beside: number; megabytes: number }> {
  const { seed, nodes, stage, tally } = scene;
  const [node] = nodes.up;
  if (!node) throw new Error('no server is up');
  const given: Flood = {
    port: Number(new URL(node.url).port),
    token: stage.stranger.token,
    chatId: stage.groups[0],
    seed: seed + round,
    connections,
  };
  await using flood = new Assistant<Flooded | 'ready'>('floods/flood.ts', given);
  await flood.line();
  const beside = await answeredIn(scene, stretch, end);
  await flood.end('SIGTERM');
  const { sent, megabytes, answers, faults } = (await flood.line()) as Flooded;
  tally.count('pieces of junk', sent);
  tally.count('MB of it', megabytes);
  for (const [what, count] of Object.entries(answers)) tally.count(`  ${what}`, count);
  tally.count('faults of the server in answers to it', faults.length);
  for (const fault of faults.slice(0, 5)) tally.breach(`junk was answered as a fault of the server: ${fault}`);
  const size = () => residentMegabytes(node.pid);
  if (most === undefined) return { beside, megabytes: size() };
  return { beside, megabytes: await untilAtMost(most, size, hangMs, end) };
}
