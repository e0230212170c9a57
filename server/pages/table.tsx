/** @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';

interface TableProps<Row> {
  readonly caption: string;
  /** Cells by the label of their column. The first is the heading of the row. */
  readonly columns: Readonly<Record<string, (row: Row) => Child>>;
  readonly rows: readonly Row[];
}

/** A table. On a narrow screen the cells of a row stack, each with its label. */
export function Table<Row>({ caption, columns, rows }: TableProps<Row>) {
  return (
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {Object.keys(columns).map((label) => (
            <th scope="col">{label}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {Object.entries(columns).map(([label, cell], i) => {
              const Cell = i === 0 ? 'th' : 'td';
              return (
                <Cell scope={i === 0 ? 'row' : undefined} data-label={label}>
                  <div>{cell(row)}</div>
                </Cell>
              );
            })}
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

/** Returns a path with the parameters that are not empty. */
export function pathWith(path: string, parameters: Readonly<Record<string, string>>): string {
  const given = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  return given.size === 0 ? path : `${path}?${given}`;
}
