/** A value at a time. Null if there is none. */
export interface Point {
  readonly at: number;
  readonly value: number | null;
}

/** The coordinates of a chart: x over its width, and y from its top. */
export const chartWidth = 600;
export const chartHeight = 100;

interface Frame {
  readonly from: number;
  readonly to: number;
  /** The value at the top. */
  readonly max: number;
  /** Points that are further apart are not connected: nothing is known of the time between. */
  readonly gapMs: number;
}

export interface ChartShape {
  /** The data of a path over all points. */
  readonly line: string;
  /** The same, closed at the bottom. */
  readonly area: string;
}

const rounded = (value: number): number => Math.round(value * 10) / 10;

export const xOf = (at: number, { from, to }: Pick<Frame, 'from' | 'to'>): number =>
  rounded(((at - from) / Math.max(1, to - from)) * chartWidth);

export const yOf = (value: number, max: number): number =>
  rounded(chartHeight - (value / Math.max(max, 1)) * chartHeight);

/** Returns the paths of a chart. A point between two gaps is a dot. */
export function shapeOf(points: readonly Point[], frame: Frame): ChartShape {
  const runs: { x: number; y: number }[][] = [];
  let before = Number.NEGATIVE_INFINITY;
  for (const { at, value } of points) {
    if (value === null) continue;
    const point = { x: xOf(at, frame), y: yOf(value, frame.max) };
    if (at - before > frame.gapMs) runs.push([point]);
    else runs.at(-1)?.push(point);
    before = at;
  }
  const pathOf = (run: (typeof runs)[number]) => run.map(({ x, y }) => `${x} ${y}`).join('L');
  return {
    // A line without length has a round end, which is a dot.
    line: runs.map((run) => `M${pathOf(run)}${run.length === 1 ? 'h0' : ''}`).join(''),
    area: runs
      .filter((run) => run.length > 1)
      .map((run) => `M${run[0]?.x} ${chartHeight}L${pathOf(run)}L${run.at(-1)?.x} ${chartHeight}Z`)
      .join(''),
  };
}

/** Returns the point that is nearest to a time, of those with a value. */
export function nearest(points: readonly Point[], at: number): Point | undefined {
  let found: Point | undefined;
  for (const point of points) {
    if (point.value === null) continue;
    if (!found || Math.abs(point.at - at) < Math.abs(found.at - at)) found = point;
  }
  return found;
}
