import { BarChart, LineChart, ScatterChart } from 'echarts/charts';
import { GridComponent, LegendComponent, MarkLineComponent } from 'echarts/components';
import * as echarts from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { type Curve, verdictOn } from '../../../proof/bench/outcome.ts';
import type { Figures } from './figures.ts';

echarts.use([BarChart, LineChart, ScatterChart, GridComponent, LegendComponent, MarkLineComponent, SVGRenderer]);

/** Readable on light and on dark pages: no background, and colours of medium brightness. */
const grey = '#7d8590';
const faint = '#7d859055';
const palette = ['#2f81f7', '#d29922', '#3fb950', '#db61a2', '#8957e5', '#f0883e'];
const barColour = '#f85149';
const textStyle = { fontFamily: 'sans-serif', fontSize: 12, color: grey };
const width = 860;

/** Returns every plot that has data, by file name. */
export function plots({ rates, curves }: Figures): Readonly<Record<string, string>> {
  const drawn: { [file: string]: string } = {};
  if (rates.length > 0) drawn['ratios.svg'] = drawRatios(rates);
  for (const [along, some] of curves) drawn[`growth-${along.split(' ')[0]}.svg`] = drawCurves(along, some);
  return drawn;
}

/** Draws the ratio to each baseline, with a mark at the target. */
function drawRatios(rates: Figures['rates']): string {
  const names = rates.map(({ what }) => what);
  return draw(rates.length * 26 + 85, {
    grid: { left: 310, right: 30, top: 10, bottom: 75 },
    legend: legend(),
    yAxis: { type: 'category', data: names, inverse: true, axisLabel: textStyle, axisTick: { show: false }, axisLine },
    xAxis: { ...axis('Parley, as a share of the baseline'), type: 'value', min: 0 },
    series: [
      {
        name: 'measured',
        type: 'bar',
        // Doubtful results are pale.
        data: rates.map((rate) => {
          return { value: rounded(rate.ratio), itemStyle: { opacity: verdictOn(rate) === 'doubtful' ? 0.35 : 1 } };
        }),
        barWidth: 14,
        itemStyle: { color: palette[0] },
        label: {
          show: true,
          position: 'right',
          ...textStyle,
          formatter: ({ value }: { value: number }) => value.toFixed(2),
        },
      },
      {
        name: 'target',
        type: 'scatter',
        data: rates.flatMap(({ bar, what }) => (bar === undefined ? [] : [[rounded(bar), what]])),
        symbol: 'rect',
        symbolSize: [3, 20],
        itemStyle: { color: barColour },
      },
    ],
  });
}

/** Draws one colour per operation: solid lines for SQLite, dashed lines for PostgreSQL. */
function drawCurves(along: string, curves: readonly Curve[]): string {
  const things = [...new Set(curves.map(({ what }) => splitEngine(what).thing))];
  const lowest = 1 / Math.max(...curves.map(({ bar }) => bar));
  const isAgainstBest = curves.some(({ from }) => from === 'best');
  return draw(430 + 22 * curves.length, {
    grid: { left: 70, right: 30, top: 20, bottom: 60 + 22 * curves.length },
    legend: { ...legend(), orient: 'vertical' },
    xAxis: { ...axis(along), type: 'log', min: 'dataMin', max: 'dataMax' },
    yAxis: {
      ...axis(`speed, as a share of that at the ${isAgainstBest ? 'best' : 'first'} point`, 45),
      type: 'value',
      min: 0,
    },
    series: curves.map((curve, i) => {
      const { thing, isSecond } = splitEngine(curve.what);
      const color = palette[things.indexOf(thing) % palette.length];
      const reference = isAgainstBest ? Math.max(...curve.points.map(({ ratio }) => ratio)) : 1;
      return {
        name: curve.what,
        type: 'line' as const,
        data: curve.points.map(({ x, ratio }) => [x, rounded(ratio / reference)]),
        symbol: isSecond ? 'emptyCircle' : 'circle',
        symbolSize: 7,
        lineStyle: { color, width: 2, type: isSecond ? ('dashed' as const) : ('solid' as const) },
        itemStyle: { color },
        ...(i === 0 && !isAgainstBest && { markLine: barLine(lowest) }),
      };
    }),
  });
}

const splitEngine = (what: string) => ({ thing: what.replace(/, \w+$/, ''), isSecond: what.endsWith('PostgreSQL') });

const barLine = (at: number) => ({
  silent: true,
  symbol: 'none',
  lineStyle: { color: barColour, type: 'dotted' as const },
  label: { ...textStyle, formatter: 'target', position: 'insideEndTop' as const },
  data: [{ yAxis: rounded(at) }],
});

const axisLine = { show: true, lineStyle: { color: faint } };
const axis = (name: string, nameGap = 30) => ({
  name,
  nameLocation: 'middle' as const,
  nameGap,
  nameTextStyle: textStyle,
  axisLabel: textStyle,
  axisLine,
  splitLine: { lineStyle: { color: faint } },
});
const legend = () => ({ bottom: 0, textStyle, itemWidth: 40 });

/** Rounds, so that equal results give equal files. */
const rounded = (value: number) => Math.round(value * 1_000) / 1_000;

function draw(height: number, option: echarts.EChartsCoreOption): string {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption({ animation: false, textStyle, ...option });
  const svg = chart.renderToSVGString();
  chart.dispose();
  // The library numbers its charts. Without the numbers, a plot does not depend on how many were drawn before it.
  return `${svg.replace(/zr\d+-/g, 'zr-')}\n`;
}
