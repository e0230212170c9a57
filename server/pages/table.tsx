/** @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';

/** A column: its heading, and what stands under it for a row. */
export interface Column<Row> {
  readonly label: string;
  readonly cell: (row: Row) => Child;
}

interface TableProps<Row> {
  readonly caption: string;
  /** The first names the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}

/** A table. Where there is little room the cells of a row stand below each other, each with its heading. */
export function Table<Row>({ caption, columns, rows }: TableProps<Row>) {
  return (
    <table class="stack">
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ label }) => (
            <th scope="col">{label}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {columns.map(({ label, cell }, column) =>
              column === 0 ? (
                <th scope="row" data-label={label}>
                  <div>{cell(row)}</div>
                </th>
              ) : (
                <td data-label={label}>
                  <div>{cell(row)}</div>
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface PagesProps {
  /** Where each leads, in words; undefined: nowhere. */
  readonly links: Readonly<Record<string, string | undefined>>;
  readonly label: string;
}

/** The ways to the other pages of a long table. */
export function Pages({ links, label }: PagesProps) {
  const leading = Object.entries(links).filter(([, href]) => href !== undefined);
  if (leading.length === 0) return null;
  return (
    <nav class="pages" aria-label={label}>
      {leading.map(([words, href]) => (
        <a href={href}>{words}</a>
      ))}
    </nav>
  );
}
