import type { Random } from './random.ts';

/** How long a server lives, and since when that counts. */
export interface Life {
  readonly since: 'start' | 'healthy';
  readonly ms: number;
}

interface Kind extends Pick<Life, 'since'> {
  readonly least: number;
  readonly most: number;
}

/** It may never come to listen. */
const starting: Kind = { since: 'start', least: 20, most: 500 };
/** It takes up what its predecessor left. */
const justUp: Kind = { since: 'healthy', least: 0, most: 800 };
const short: Kind = { since: 'healthy', least: 1_000, most: 4_000 };
/** On PostgreSQL the leases of its predecessor lapse after 5 s: only then does it deliver. */
const long: Kind = { since: 'healthy', least: 5_500, most: 8_000 };

const deck = [long, justUp, short, starting, long, short, justUp, long, short, justUp];

/** As many lives as there are kills: of every kind some, in an order and of a length that the random numbers give. */
export function drawLives(kills: number, random: Random): Life[] {
  const kinds = Array.from({ length: kills }, (_, i) => ({ kind: deck[i % deck.length] ?? short, place: random() }));
  return kinds
    .sort((a, b) => a.place - b.place)
    .map(({ kind: { since, least, most } }) => ({ since, ms: Math.round(least + (most - least) * random()) }));
}
