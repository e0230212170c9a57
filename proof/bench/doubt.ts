import { percent } from '../harness/report.ts';
import type { Side } from './race.ts';

/** Why a figure may be wrong. */
export interface Doubt {
  readonly why: string;
  /** `better`: Parley can only look better than it is, so a miss is certain. */
  readonly looks: 'better' | 'either';
}

/** A process that uses more than this share of its core is saturated. */
const saturated = 0.9;

/** Doubts a baseline that could have done more. Returns nothing if it is unknown how busy it was. */
export function doubtsAboutBaseline({ serverBusy, loadBusy }: Pick<Side, 'serverBusy' | 'loadBusy'>): Doubt[] {
  if (serverBusy === undefined || serverBusy >= saturated) return [];
  if (loadBusy !== undefined && loadBusy >= saturated) {
    return [{ why: 'the load generator was the limit, the baseline is faster than this', looks: 'better' }];
  }
  const why = `the baseline had only ${percent(serverBusy)} of its core: it waited, or others used the machine`;
  return [{ why, looks: 'either' }];
}

/** Times are those of completed requests: if many did not complete, the worst are missing. */
export const doubtsAboutPace = (who: string, answered: number, asked: number): Doubt[] =>
  answered < 0.95 * asked
    ? [{ why: `${who} answered only ${Math.round(answered)} of ${Math.round(asked)} a second`, looks: 'better' }]
    : [];

/** The largest share of all cores that others may take. No bar is so close that this would matter. */
const maxForOthers = 0.05;

/** Other processes slow down now one side and now the other. */
export const doubtsAboutOthers = (share: number | undefined): Doubt[] =>
  share !== undefined && share > maxForOthers
    ? [{ why: `others took ${percent(share)} of the cores, run this again when they are quiet`, looks: 'either' }]
    : [];
