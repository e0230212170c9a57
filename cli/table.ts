import type { CommandContext } from './context.ts';
import { columnWidths, pad, print } from './output.ts';
import { type Style, type StyleName, stateStyles, styleFor } from './style.ts';

type Rows = readonly (readonly string[])[];

/** Prints rows below a head. On a terminal the head is bold, states have colours, and a long line is cut at the edge. */
export async function printTable(context: Pick<CommandContext, 'stdout' | 'env'>, rows: Rows): Promise<void> {
  await printRows(context, rows, (_, __, row) => (row === 0 ? 'bold' : undefined));
}

/** Prints names with their values. On a terminal the names are dim. */
export async function printRecord(context: Pick<CommandContext, 'stdout' | 'env'>, rows: Rows): Promise<void> {
  await printRows(context, rows, (_, column) => (column === 0 ? 'dim' : undefined), false);
}

type StyleOf = (cell: string, column: number, row: number) => StyleName | undefined;

async function printRows(
  context: Pick<CommandContext, 'stdout' | 'env'>,
  rows: Rows,
  styleOf: StyleOf,
  isCut = true,
): Promise<void> {
  const widths = columnWidths(rows);
  const style = styleFor(context.stdout, context.env);
  const room = isCut && context.stdout.isTTY ? context.stdout.columns : undefined;
  await print(
    context,
    ...rows.map((row, i) => lineOf(fit(row, widths, room), widths, style, (cell, column) => styleOf(cell, column, i))),
  );
}

function lineOf(
  row: readonly string[],
  widths: readonly number[],
  style: Style,
  styleOf: (cell: string, column: number) => StyleName | undefined,
): string {
  const last = row.findLastIndex((cell) => cell !== '');
  return row
    .slice(0, last + 1)
    .map((cell, i) => {
      const name = styleOf(cell, i) ?? stateStyles[/^((?:not )?\w+)(?:$|[.:])/.exec(cell)?.[1] ?? ''];
      const space = i === last ? '' : pad(cell, widths[i] ?? 0).slice(cell.length);
      return `${name ? style(name, cell) : cell}${space}`;
    })
    .join('  ');
}

/** A last cell is not cut to less than this. */
const minCells = 12;

/** Returns the row with a last cell that ends at the edge of the terminal. */
function fit(row: readonly string[], widths: readonly number[], room: number | undefined): readonly string[] {
  const last = row.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0);
  const left = (room ?? Number.POSITIVE_INFINITY) - before;
  const cell = row[last] ?? '';
  if (left < minCells || Bun.stringWidth(cell) <= left) return row;
  return [...row.slice(0, last), `${Bun.sliceAnsi(cell, 0, left - 2)}…`];
}
