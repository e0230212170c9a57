import { figure } from '../../harness/report.ts';
import type { AttackCounts } from './attack.ts';
import type { Admitted, Figures } from './ordinary.ts';

/** A time of the service, and the ms that it took an administrator to disable a user; undefined if that failed. */
export interface Phase extends Figures {
  readonly disableMs: number | undefined;
}

export interface Result {
  readonly without: Phase;
  readonly during: Phase;
  readonly attacks: AttackCounts;
  /** Log lines of the server about errors. */
  readonly errors: readonly string[];
}

/** Under attack a p99 may be three times as long as without, or this long. */
const maxRatio = 3;
const allowedMs = { meP99: 50, lagP99: 100 } as const;

const maxOf = ({ without }: Pick<Result, 'without'>, key: keyof typeof allowedMs) =>
  Math.max(maxRatio * without[key], allowedMs[key]);

/** Returns what the attackers took from the ordinary person or the administrator, as sentences. */
export function breaches({ without, during }: Pick<Result, 'without' | 'during'>): string[] {
  const slow = (what: string, key: keyof typeof allowedMs) => {
    const max = maxOf({ without }, key);
    // A figure that is missing counts as too slow.
    return during[key] <= max ? [] : [`The p99 of ${what} is ${ms(during[key])}; at most ${ms(max)} is allowed.`];
  };
  const refused = (what: string, { tried, admitted }: Admitted) =>
    admitted === tried && tried > 0 ? [] : [`${admitted} of ${tried} ${what} succeeded.`];
  return [
    ...slow('users.me', 'meP99'),
    ...slow('the webhook lag', 'lagP99'),
    ...refused('calls and sends', during.calls),
    ...refused('uploads', during.uploads),
    ...refused('streams', during.streams),
    ...(during.disableMs === undefined ? ['The administrator could not sign in and disable the attacker.'] : []),
  ];
}

/** Returns the figures without and with the attack. */
export function figureRows(result: Result): string[][] {
  const { without, during } = result;
  const row = (name: string, show: (phase: Phase) => string, bar = '') => [name, show(without), show(during), bar];
  const share = ({ tried, admitted }: Admitted) => `${admitted} of ${tried}`;
  return [
    ['', 'without', 'attacked', 'at most'],
    row('users.me p50', ({ meP50 }) => ms(meP50)),
    row('users.me p99', ({ meP99 }) => ms(meP99), ms(maxOf(result, 'meP99'))),
    row('webhook lag p50', ({ lagP50 }) => ms(lagP50)),
    row('webhook lag p99', ({ lagP99 }) => ms(lagP99), ms(maxOf(result, 'lagP99'))),
    row('calls and sends that succeeded', ({ calls }) => share(calls)),
    row('uploads admitted', ({ uploads }) => share(uploads)),
    row('streams admitted', ({ streams }) => share(streams)),
    row('sign-in and disable', ({ disableMs }) => (disableMs === undefined ? 'failed' : ms(disableMs))),
  ];
}

/** Returns what each attacker achieved. */
export const attackRows = ({ attacks }: Result): string[][] =>
  Object.entries(attacks).map(([name, counts]) => [
    `${name}: ${Object.entries(counts)
      .map(([what, count]) => `${what} ${figure(count)}`)
      .join(', ')}`,
  ]);

const ms = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
