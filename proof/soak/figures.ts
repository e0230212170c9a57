import { type Judged, judgeTimes, judgeTrend, type Sample, type Tolerance, type Window } from './trend.ts';

/** A measured value that must level off. */
export interface Figure {
  readonly unit: string;
  /** It is a time. Times also grow if others use the machine. */
  readonly isTime: boolean;
  readonly judge: (samples: readonly Sample[], window: Window, sendsPerSecond: number) => Judged;
}

/** How a figure goes up and down by itself. */
interface Rhythm {
  readonly toothSeconds: number;
  /** The seconds until it has settled. */
  readonly settleSeconds?: number;
  /** Messages a second at which these times hold, if fewer take longer. */
  readonly atRate?: number;
}

/** Longer than connections and visitors come and go. */
const usualToothSeconds = 15;

/** Expired rows are deleted once a minute. */
const swept = { toothSeconds: 60 };

/**
 * Webhooks cache the bodies of events and drop half of them at a time: at 200 messages a second every 90 s, from the third
 * minute on. The collector lets the heap grow for minutes under a new load.
 */
const cached = { toothSeconds: 120, settleSeconds: 300, atRate: 200 };

const level = (
  unit: string,
  tolerance: Tolerance,
  { toothSeconds, settleSeconds = 0, atRate }: Rhythm = { toothSeconds: usualToothSeconds },
): Figure => ({
  unit,
  isTime: false,
  judge: (samples, { from, to }, sendsPerSecond) => {
    const slower = atRate === undefined ? 1 : Math.max(1, atRate / sendsPerSecond);
    return judgeTrend(samples, { from: Math.max(from, settleSeconds * slower), to }, toothSeconds * slower, tolerance);
  },
});

const times = (tolerance: Tolerance): Figure => ({
  unit: 'ms',
  isTime: true,
  judge: (samples, window) => judgeTimes(samples, window, tolerance),
});

export const figures = {
  'resident memory': level('MB', { share: 0.05, absolute: 4 }, cached),
  'live JavaScript heap': level('MB', { share: 0.05, absolute: 1 }, cached),
  'file descriptors': level('', { share: 0.1, absolute: 8 }),
  sockets: level('', { share: 0.1, absolute: 8 }),
  threads: level('', { share: 0, absolute: 2 }),
  'bytes of database per message': level('', { share: 0.05, absolute: 0 }),
  'write-ahead log': level('MB', { share: 0.25, absolute: 4 }),
  'p99 of sends': times({ share: 0.5, absolute: 5 }),
  'longest delay of the event loop': times({ share: 0.5, absolute: 20 }),
} as const;

export type FigureName = keyof typeof figures;

/** Rows that are stored for a limited time. */
export const rowFigure: Figure = level('rows', { share: 0.1, absolute: 200 }, swept);
