/** @jsxImportSource preact */
import { useState } from 'preact/hooks';
import { adminText } from '../../../text/console/admin/text.ts';
import { secondsTime } from '../times.ts';
import { chartHeight, chartWidth, nearest, type Point, shapeOf, xOf, yOf } from './chart-shape.ts';
import type { Figure, Metric } from './metrics.ts';

const words = adminText.overview;

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' });

/** Longer spans name the day too. */
const dayMs = 24 * 3_600_000;

interface ChartProps {
  readonly metric: Metric;
  readonly figure: Figure;
  readonly from: number;
  readonly to: number;
  readonly gapMs: number;
  /** The span in words. */
  readonly span: string;
}

/** One metric over time: its value now, its range, and a line. A pointer shows the value at a time. */
export function Chart({ metric, figure, from, to, gapMs, span }: ChartProps) {
  const [pointed, setPointed] = useState<Point | undefined>(undefined);
  const { points, value, range, max, isBad } = figure;
  const { line, area } = shapeOf(points, { from, to, max, gapMs });
  const label = to - from > dayMs ? weekday : clock;
  const middle = (from + to) / 2;
  return (
    <article class={`chart${isBad ? ' is-bad' : ''}`}>
      <h2>{metric.label}</h2>
      <p class="value">{value}</p>
      <p class="muted range">
        {pointed?.value == null
          ? range
          : words.at({ time: secondsTime(pointed.at), value: metric.format(pointed.value) })}
      </p>
      <svg
        role="img"
        aria-label={words.described({ label: metric.label, value, range, span })}
        viewBox={`0 0 ${chartWidth} ${chartHeight}`}
        preserveAspectRatio="none"
        onPointerMove={(event) => {
          const { left, width } = event.currentTarget.getBoundingClientRect();
          setPointed(nearest(points, from + ((event.clientX - left) / width) * (to - from)));
        }}
        onPointerLeave={() => setPointed(undefined)}
      >
        <path class="grid" d={`M0 ${chartHeight / 2}H${chartWidth}M0 ${chartHeight}H${chartWidth}M0 0H${chartWidth}`} />
        <path class="area" d={area} />
        <path class="line" d={line} />
        {pointed?.value != null && (
          <path
            class="pointer"
            d={`M${xOf(pointed.at, { from, to })} 0V${chartHeight}M${xOf(pointed.at, { from, to })} ${yOf(pointed.value, max)}h0`}
          />
        )}
      </svg>
      <p class="axis" aria-hidden="true">
        <span>{label.format(from)}</span>
        <span>{label.format(middle)}</span>
        <span>{words.now}</span>
      </p>
      <p class="muted about">{metric.about}</p>
    </article>
  );
}
