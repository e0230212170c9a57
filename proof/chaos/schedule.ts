import { between, type Random, shuffled, stream } from '../harness/random.ts';

/** The time that a server runs before it is killed, counted from its start or from when it listens. */
export interface Life {
  readonly since: 'start' | 'healthy';
  readonly ms: number;
}

interface LifeKind extends Pick<Life, 'since'> {
  readonly range: readonly [min: number, max: number];
}

/** It may never come to listen. */
const starting: LifeKind = { since: 'start', range: [20, 500] };
/** It takes over what its predecessor left. */
const justUp: LifeKind = { since: 'healthy', range: [0, 800] };
const short: LifeKind = { since: 'healthy', range: [1_000, 4_000] };
/** On PostgreSQL the leases of its predecessor expire after 5 s. Only then does it deliver. */
const long: LifeKind = { since: 'healthy', range: [5_500, 8_000] };

const kinds = [long, justUp, short, starting, long, short, justUp, long, short, justUp];

/** Returns as many lives as there are kills, some of every kind, in random order. */
export function drawLives(kills: number, random: Random): Life[] {
  const drawn = Array.from({ length: kills }, (_, i) => kinds[i % kinds.length] ?? short);
  return shuffled(drawn, random).map(({ since, range }) => ({ since, ms: between(random, range) }));
}

/** A life, how it ends, and how long the server is away then. */
export interface PlannedLife extends Life {
  readonly ends: 'killed' | 'stopped';
  readonly awayMs: number;
}

export interface Outage {
  readonly upMs: number;
  readonly awayMs: number;
}

export interface DatabaseOutage extends Outage {
  readonly mode: 'fast' | 'immediate';
}

/** The average time of each, with its start and the time until the next one. */
const lifeMs = 5_500;
const natsMs = 7_500;
const postgresMs = 5_500;

/** The first server lives longer: what it remembers has to survive the failures of the others. */
const lifeFactors = [4, 1, 1];

/**
 * Draws when the parts of a cluster fail, each independently of the others: for about `ms`, and at least once each. The
 * crashes come after the rest, while every server is up: no server may remember what the database has lost.
 */
export function drawSchedule({ ms, nodes, crashes }: Record<'ms' | 'nodes' | 'crashes', number>, seed: number) {
  const from = (name: string) => {
    const random = stream(seed, name);
    return (min: number, max: number) => between(random, [min, max]);
  };
  const many = <T>(each: number, draw: (i: number) => T) =>
    Array.from({ length: Math.max(1, Math.floor(ms / each)) }, (_, i) => draw(i));
  const [nats, postgres, crash] = [from('nats'), from('postgres'), from('crashes')];
  const first = postgres(0, 2);
  const drawNode = (node: number) => {
    const factor = lifeFactors[node] ?? 1;
    const away = from(`absences of node ${node}`);
    const count = Math.max(1, Math.floor(ms / (factor * lifeMs)));
    // Two in three are killed, and the first lives of the servers end in both ways.
    return drawLives(count, stream(seed, `lives of node ${node}`)).map(
      (life, i): PlannedLife => ({
        ...life,
        ms: Math.min(life.ms * factor, ms / 2),
        ends: (node + i) % 3 === 1 ? 'stopped' : 'killed',
        awayMs: away(0, 1_500),
      }),
    );
  };
  const drawCrash = (): DatabaseOutage => ({ upMs: crash(700, 2_000), awayMs: 0, mode: 'immediate' });
  return {
    nodes: Array.from({ length: nodes }, (_, node) => drawNode(node)),
    nats: many(natsMs, (): Outage => ({ upMs: nats(1_500, 7_000), awayMs: nats(500, 5_000) })),
    // Now and then it hardly gets up before it fails again.
    postgres: many(
      postgresMs,
      (i): DatabaseOutage => ({
        upMs: i % 2 === 0 ? postgres(2_500, 8_000) : postgres(500, 2_000),
        awayMs: postgres(0, 1_500),
        mode: (first + i) % 3 === 0 ? 'fast' : 'immediate',
      }),
    ),
    crashes: Array.from({ length: crashes }, drawCrash),
  };
}
