import type { DatabaseOutage, Outage, PlannedLife } from '../frame/troubles.ts';
import { drawLives } from '../lives.ts';
import { stream } from '../random.ts';

export interface Schedule {
  readonly nodes: readonly (readonly PlannedLife[])[];
  readonly nats: readonly Outage[];
  readonly postgres: readonly DatabaseOutage[];
  /** After all that, while every node is up and stays so: what a node remembers must not be what the database has lost. */
  readonly crashes: readonly DatabaseOutage[];
}

/** What each takes on average, with its start and the time until the next one. */
const lifeMs = 5_500;
const natsMs = 7_500;
const postgresMs = 5_500;

/** The first node lives longer than the others: what a node remembers has to survive the troubles of the rest. */
const patience = [4, 1, 1];

const howMany = (ms: number, each: number) => Math.max(1, Math.floor(ms / each));

export interface Extent {
  /** About how long everything goes wrong without regard to the rest; of each kind at least one thing does. */
  readonly ms: number;
  readonly nodes: number;
  readonly crashes: number;
}

export function drawSchedule({ ms, nodes, crashes }: Extent, seed: number): Schedule {
  const from = (name: string) => {
    const random = stream(seed, name);
    return (least: number, most: number) => Math.round(least + (most - least) * random());
  };
  const [nats, postgres, crash] = [from('nats'), from('postgres'), from('crashes')];
  const first = postgres(0, 2);
  return {
    nodes: Array.from({ length: nodes }, (_, node) => drawNode(ms, seed, node, from(`absences of node ${node}`))),
    nats: Array.from({ length: howMany(ms, natsMs) }, () => ({ upMs: nats(1_500, 7_000), awayMs: nats(500, 5_000) })),
    // Now and then it hardly gets up before it falls again.
    postgres: Array.from({ length: howMany(ms, postgresMs) }, (_, i) => ({
      upMs: i % 2 === 0 ? postgres(2_500, 8_000) : postgres(500, 2_000),
      awayMs: postgres(0, 1_500),
      mode: (first + i) % 3 === 0 ? ('fast' as const) : ('immediate' as const),
    })),
    crashes: Array.from({ length: crashes }, () => ({ upMs: crash(700, 2_000), awayMs: 0, mode: 'immediate' })),
  };
}

function drawNode(ms: number, seed: number, node: number, away: (least: number, most: number) => number) {
  const times = patience[node] ?? 1;
  const lives = drawLives(howMany(ms, times * lifeMs), stream(seed, `lives of node ${node}`));
  // Two in three are killed, and of the first lives both kinds.
  return lives.map(
    (life, i): PlannedLife => ({
      ...life,
      ms: Math.min(life.ms * times, ms / 2),
      ends: (node + i) % 3 === 1 ? 'stopped' : 'killed',
      awayMs: away(0, 1_500),
    }),
  );
}
