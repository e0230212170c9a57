import type { Side } from './race.ts';

/** Why a figure may not be what it seems. */
export interface Doubt {
  readonly why: string;
  /** Whether Parley can only look better than it is: then a miss is one all the more. */
  readonly looks: 'better' | 'either';
}

/** A process above this share of its core can do no more. */
const saturated = 0.9;

/** A baseline that could have done more than it did. Nothing is said where nobody tells how busy it was. */
export function doubtsAboutBaseline({ serverBusy, loadBusy }: Pick<Side, 'serverBusy' | 'loadBusy'>): Doubt[] {
  if (serverBusy === undefined || serverBusy >= saturated) return [];
  if (loadBusy !== undefined && loadBusy >= saturated) {
    return [{ why: 'the load generator was the limit, the baseline is faster than this', looks: 'better' }];
  }
  const why = `the baseline had only ${percent(serverBusy)} of its core: it waited, or others used the machine`;
  return [{ why, looks: 'either' }];
}

/** Times are those of the requests that were answered: where many were not, the worst are missing. */
export const doubtsAboutPace = (who: string, answered: number, asked: number): Doubt[] =>
  answered < 0.95 * asked
    ? [{ why: `${who} answered only ${Math.round(answered)} of ${Math.round(asked)} a second`, looks: 'better' }]
    : [];

/**
 * The most that others may take of all cores. It is about the share of the time in which the core that a server needs is taken,
 * and no bar is so close that it would matter.
 */
const mostForOthers = 0.05;

/** Others who use the machine slow down now one side and now the other. */
export const doubtsAboutOthers = (share: number | undefined): Doubt[] =>
  share !== undefined && share > mostForOthers
    ? [{ why: `others took ${percent(share)} of the cores, run this again when they are quiet`, looks: 'either' }]
    : [];

export const percent = (share: number): string => `${Math.round(share * 100)}%`;
