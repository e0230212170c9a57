import { type Curve, type Outcome, type Point, slowdown } from '../../../bench/outcome.ts';
import { isDoubtful, verdictOn } from '../../../bench/report.ts';
import { table } from '../markdown.ts';
import type { Figures } from './figures.ts';

/** What stands between the prose of the page, by the name that its place has there. */
export const parts: Readonly<Record<string, (figures: Figures) => string>> = {
  machine: ({ machines, days }) => `${days.join(', ')}, on ${machines.join('; and on ')}.`,
  rates: ({ rates }) =>
    table(
      ['What', 'Baseline, a second', 'Parley, a second', 'Ratio', 'Bar', ''],
      rates.map((rate) => [
        rate.what,
        whole(rate.baseline.perSecond),
        whole(rate.contender.perSecond),
        rate.ratio.toFixed(2),
        rate.bar === undefined ? '' : `≥ ${rate.bar.toFixed(2)}`,
        judged(rate),
      ]),
    ),
  references: ({ rates }) =>
    table(
      ['What', 'Beside', 'A second', 'Parley reaches of it'],
      rates.flatMap(({ what, references = [] }) =>
        references.map((beside) => [what, beside.what, whole(beside.perSecond), beside.ratio.toFixed(2)]),
      ),
    ),
  figures: ({ figures }) =>
    table(
      ['What', 'Figure', 'Bar', ''],
      figures.map((figure) => {
        const { what, value, unit, bar } = figure;
        return [what, `${shortened(value)} ${unit}`, `≤ ${bar} ${unit}`, judged(figure)];
      }),
    ),
  'half-load': ({ figures }) => remarks(figures.filter(({ what }) => what.includes('half load'))),
  messages: ({ curves }) => curveTable(curves.get('messages in the chat')),
  webhooks: ({ curves }) => curveTable(curves.get('webhooks')),
  chats: ({ curves }) => curveTable(curves.get('chats of the user')),
  connections: ({ curves }) => curveTable(curves.get('connections')),
  latency: ({ curves }) => latencyTable(curves.get('connections')),
  missing: ({ missing }) => missing.map(({ what, kind, why }) => `- ${what}: ${kind}. ${firstLine(why)}`).join('\n'),
  took: ({ took }) =>
    table(
      ['Measurement', 'Seconds'],
      took.map(({ name, seconds }) => [`\`${name}\``, String(Math.round(seconds))]),
    ),
};

const whole = (value: number) => Math.round(value).toLocaleString('en');
const shortened = (value: number) => Number(value.toPrecision(3)).toLocaleString('en');
const firstLine = (text: string) => text.split('\n')[0] ?? '';

/** Doubt makes Parley look better than it is: what has passed then has not. */
function judged(outcome: Outcome): string {
  const verdict = verdictOn(outcome);
  if (!isDoubtful(outcome)) return verdict;
  return verdict === 'MISSED' ? 'MISSED, doubtful' : 'doubtful';
}

const remarks = (outcomes: readonly { what: string; notes?: readonly string[] }[]) =>
  outcomes.map(({ what, notes = [] }) => `- ${what}: ${notes.join('; ')}.`).join('\n');

const sizesOf = (curves: readonly Curve[]) =>
  [...new Set(curves.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);

/** The speed at each size, as a share of that at the first. */
function curveTable(curves: readonly Curve[] = []): string {
  const sizes = sizesOf(curves);
  return table(
    ['What', ...sizes.map(whole), 'Slower at most', 'Bar', ''],
    curves.map((curve) => [
      curve.what,
      ...sizes.map((size) => curve.points.find(({ x }) => x === size)?.ratio.toFixed(2) ?? '–'),
      `${slowdown(curve).toFixed(2)}×`,
      `≤ ${curve.bar}×`,
      judged(curve),
    ]),
  );
}

function latencyTable(curves: readonly Curve[] = []): string {
  const sizes = sizesOf(curves);
  return table(
    ['p50 / p99 in ms', ...sizes.map(whole)],
    curves.map(({ what, points }) => [what, ...sizes.map((size) => times(points.find(({ x }) => x === size)))]),
  );
}

const times = (point: Point | undefined) => (point ? `${point.p50Ms.toFixed(2)} / ${point.p99Ms.toFixed(2)}` : '–');
