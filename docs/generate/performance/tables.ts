import { type Curve, type Point, slowdown } from '../../../proof/bench/outcome.ts';
import { doubtful, wordFor } from '../../../proof/bench/report.ts';
import { table } from '../markdown.ts';
import type { Figures, Took } from './figures.ts';

/** The generated parts of the page, by the name of their marker. */
export const parts: Readonly<Record<string, (figures: Figures) => string>> = {
  machine: ({ machines, days }) => `${days.join(', ')} on ${machines.join('; and on ')}.`,
  rates: ({ rates }) =>
    table(
      ['Measurement', 'Baseline, per second', 'Parley, per second', 'Ratio', 'Target', 'Result'],
      rates.map((rate) => [
        rate.what,
        whole(rate.baseline.perSecond),
        whole(rate.contender.perSecond),
        rate.ratio.toFixed(2),
        rate.bar === undefined ? '' : `≥ ${rate.bar.toFixed(2)}`,
        wordFor(rate),
      ]),
    ),
  references: ({ rates }) =>
    table(
      ['Measurement', 'Reference', 'Reference, per second', 'Ratio'],
      rates.flatMap(({ what, references = [] }) =>
        references.map((beside) => [what, beside.what, whole(beside.perSecond), beside.ratio.toFixed(2)]),
      ),
    ),
  figures: ({ figures }) =>
    table(
      ['Measurement', 'Value', 'Target', 'Result'],
      figures.map((figure) => {
        const { what, value, unit, bar } = figure;
        const target = bar === undefined ? '' : `≤ ${bar} ${unit}`;
        return [what, `${shortened(value)} ${unit}`, target, wordFor(figure)];
      }),
    ),
  messages: ({ curves }) => curveTable(curves.get('messages in the chat')),
  webhooks: ({ curves }) => curveTable(curves.get('webhooks')),
  deliveries: ({ curves }) => curveTable(curves.get('deliveries of the webhook')),
  chats: ({ curves }) => curveTable(curves.get('chats of the user')),
  connections: ({ curves }) => curveTable(curves.get('connections')),
  latency: ({ curves }) => latencyTable(curves.get('connections')),
  missing: ({ missing, unmeasured }) =>
    listOr(
      [
        ...unmeasured.map((name) => `- \`${name}\`: no result was recorded.`),
        ...missing.map(({ what, kind, why }) => `- ${what}: ${kind}. ${firstLine(why)}`),
      ].join('\n'),
      'None: every measurement has a result.',
    ),
  doubts: ({ all }) => listOr(doubtful(all), 'None.'),
  took: ({ took }) => tookTable(took),
};

const whole = (value: number) => Math.round(value).toLocaleString('en');
const shortened = (value: number) => Number(value.toPrecision(3)).toLocaleString('en');
const firstLine = (text: string) => text.split('\n')[0] ?? '';

const listOr = (list: string, none: string) => (list === '' ? none : list);

/** Lists the duration of each measurement, and the totals without growth and of growth. */
function tookTable(took: readonly Took[]): string {
  const sum = (isUsual: boolean) =>
    took.filter((one) => one.isUsual === isUsual).reduce((s, { seconds }) => s + seconds, 0);
  const minutes = (isUsual: boolean) => `${(sum(isUsual) / 60).toFixed(1)} minutes`;
  const rows = took.map(({ name, seconds }) => [`\`${name}\``, String(Math.round(seconds))]);
  const sums = `Total without growth: ${minutes(true)}. Growth: ${minutes(false)}.`;
  return `${table(['Measurement', 'Seconds'], rows)}\n\n${sums}`;
}

const sizesOf = (curves: readonly Curve[]) =>
  [...new Set(curves.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);

/** Lists the speed at each size relative to the speed at the first. */
function curveTable(curves: readonly Curve[] = []): string {
  const sizes = sizesOf(curves);
  return table(
    ['Measurement', ...sizes.map(whole), 'Max slowdown', 'Target', 'Result'],
    curves.map((curve) => [
      curve.what,
      ...sizes.map((size) => curve.points.find(({ x }) => x === size)?.ratio.toFixed(2) ?? '–'),
      `${slowdown(curve).toFixed(2)}×`,
      `≤ ${curve.bar}×`,
      wordFor(curve),
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
