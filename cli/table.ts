/** Returns lines with aligned columns. It counts wide characters as two cells. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, Bun.stringWidth(cell));
  }
  return rows.map((row) =>
    row
      .map((cell, i) => pad(cell, widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const pad = (cell: string, width: number) => cell + ' '.repeat(width - Bun.stringWidth(cell));
