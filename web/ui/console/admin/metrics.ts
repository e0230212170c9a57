import type { MetricSample } from '@parley-chat/sdk/operations.ts';
import { fileSize } from '../../../lib/file-size.ts';
import { adminText } from '../../../text/console/admin/text.ts';
import type { Point } from './chart-shape.ts';

const words = adminText.overview;

/** How a metric is shown: as a sum, as its last value, or as a share of a size. */
export interface Metric {
  readonly label: string;
  readonly about: string;
  readonly read: (sample: MetricSample) => number | null;
  readonly format: (value: number) => string;
  readonly kind: 'total' | 'level' | 'disk';
  /** Whether any value but 0 is bad. */
  readonly isFault?: true;
}

type Name = keyof typeof words.charts;

const metric = (
  name: Name,
  kind: Metric['kind'],
  read: Metric['read'],
  more: Partial<Pick<Metric, 'format' | 'isFault'>> = {},
): Metric => ({ label: words.charts[name], about: words.abouts[name], kind, read, format: words.total, ...more });

/** The charts of the overview, in their order. */
export const metrics: readonly Metric[] = [
  metric('messages', 'total', (sample) => sample.messages),
  metric('people_online', 'level', (sample) => sample.people_online),
  metric('streams', 'level', (sample) => sample.streams),
  metric('requests', 'total', (sample) => sample.requests),
  metric('server_errors', 'total', (sample) => sample.server_errors, { isFault: true }),
  metric('webhook_lag_ms', 'level', (sample) => sample.webhook_lag_ms, { format: words.milliseconds }),
  metric('backlog', 'level', (sample) => sample.backlog),
  metric('disk', 'disk', (sample) => sample.disk_total_bytes - sample.disk_free_bytes, { format: fileSize }),
];

/** A metric in numbers and words. */
export interface Figure {
  readonly points: readonly Point[];
  /** The value in large type. */
  readonly value: string;
  /** The sentence below it. */
  readonly range: string;
  /** The value at the top of the chart. */
  readonly max: number;
  readonly isBad: boolean;
}

/** Returns the figures of a metric. `minutes` is the length of a sample. */
export function figureOf(metric: Metric, samples: readonly MetricSample[], minutes: number): Figure {
  const { kind, read, format, isFault } = metric;
  const points = samples.map((sample) => ({ at: Date.parse(sample.at), value: read(sample) }));
  const values = points.flatMap(({ value }) => value ?? []);
  const last = values.at(-1);
  const most = Math.max(0, ...values);
  const total = values.reduce((sum, value) => sum + value, 0);
  const newest = samples.at(-1);
  const common = { points, isBad: isFault === true && total > 0 };
  if (last === undefined || !newest) {
    return { ...common, value: adminText.none, range: words.noValue, max: 1 };
  }
  if (kind === 'total') {
    return { ...common, value: format(total), range: words.rangeOfTotals({ most: format(most), minutes }), max: most };
  }
  if (kind === 'disk') {
    const size = newest.disk_total_bytes;
    const range = words.rangeOfDisk({ used: format(last), total: format(size) });
    return { ...common, value: words.free(format(newest.disk_free_bytes)), range, max: Math.max(size, most) };
  }
  const range = words.range({ least: format(Math.min(...values)), most: format(most) });
  return { ...common, value: format(last), range, max: most };
}

/** The samples of one hour as one, for a table. */
export interface HourRow {
  readonly at: number;
  readonly values: readonly (number | null)[];
}

const hourMs = 3_600_000;

/** Returns the metrics of each hour, the newest first: sums, and the highest of what has no sum. */
export function byHour(samples: readonly MetricSample[]): HourRow[] {
  const hours = Map.groupBy(samples, ({ at }) => Math.floor(Date.parse(at) / hourMs));
  const rows = [...hours].map(([hour, rows]) => ({
    at: hour * hourMs,
    values: metrics.map(({ kind, read }) => {
      const values = rows.flatMap((sample) => read(sample) ?? []);
      if (values.length === 0) return null;
      return kind === 'total' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
    }),
  }));
  return rows.reverse();
}
