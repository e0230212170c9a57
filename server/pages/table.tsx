/** @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';

export interface Column<Row> {
  readonly label: string;
  readonly cell: (row: Row) => Child;
}

interface TableProps<Row> {
  readonly caption: string;
  /** The first is the heading of the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}

/** A table. On a narrow screen the cells of a row stack, each with its label. */
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
  /** Paths by label. Undefined ones are left out. */
  readonly links: Readonly<Record<string, string | undefined>>;
  readonly label: string;
}

/** Links to other pages of a table. */
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
