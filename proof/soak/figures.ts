import { type Judged, judgeLevel, judgeTimes, type Sample, type Stretch, type Tolerance } from './level.ts';

/** Something that is measured and must level off. */
export interface Figure {
  readonly unit: string;
  /** Whether it is a time: those grow as well where something else takes the machine. */
  readonly isTime: boolean;
  readonly judge: (samples: readonly Sample[], stretch: Stretch, sendsPerSecond: number) => Judged;
}

/** How a figure goes up and down by itself, in seconds. */
interface Rhythm {
  readonly toothSeconds: number;
  /** What it takes at the least to be where it stays. */
  readonly settles?: number;
  /** Messages in a second at which that is so, where fewer take longer. */
  readonly atRate?: number;
}

/** Longer than connections and people who come and go take to be where they were. */
const usualToothSeconds = 15;

/** What is past its time is dropped once a minute. */
const swept = { toothSeconds: 60 };

/**
 * Webhooks remember the texts of events and forget half of them at a time: at 200 messages a second every 90 s, from the third
 * minute on. The collector gives a heap that is new to its load more room each time that it is full, for minutes.
 */
const remembered = { toothSeconds: 120, settles: 300, atRate: 200 };

const level = (
  unit: string,
  tolerance: Tolerance,
  { toothSeconds, settles = 0, atRate }: Rhythm = { toothSeconds: usualToothSeconds },
): Figure => ({
  unit,
  isTime: false,
  judge: (samples, { from, to }, sendsPerSecond) => {
    const slower = atRate === undefined ? 1 : Math.max(1, atRate / sendsPerSecond);
    return judgeLevel(samples, { from: Math.max(from, settles * slower), to }, toothSeconds * slower, tolerance);
  },
});

const times = (tolerance: Tolerance): Figure => ({
  unit: 'ms',
  isTime: true,
  judge: (samples, stretch) => judgeTimes(samples, stretch, tolerance),
});

export const figures = {
  'resident memory': level('MB', { share: 0.05, absolute: 4 }, remembered),
  'live JavaScript heap': level('MB', { share: 0.05, absolute: 1 }, remembered),
  'file descriptors': level('', { share: 0.1, absolute: 8 }),
  sockets: level('', { share: 0.1, absolute: 8 }),
  threads: level('', { share: 0, absolute: 2 }),
  'bytes of database per message': level('', { share: 0.05, absolute: 0 }),
  'write-ahead log': level('MB', { share: 0.25, absolute: 4 }),
  'p99 of sends': times({ share: 0.5, absolute: 5 }),
  'longest hold-up of the event loop': times({ share: 0.5, absolute: 20 }),
} as const;

export type FigureName = keyof typeof figures;

/** Rows of a kind that comes and goes. */
export const rows: Figure = level('rows', { share: 0.1, absolute: 200 }, swept);
