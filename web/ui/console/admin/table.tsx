/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';

interface Column<R> {
  readonly label: string;
  /** `row-title` is the title of the row on a phone. */
  readonly kind?: 'row-title' | 'number' | 'actions';
  readonly cell: (row: R) => ComponentChildren;
}

interface AdminTableProps<R> {
  readonly label: string;
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string | number;
  readonly columns: readonly Column<R>[];
}

/** A table. On a phone each row is a card, with the label of its column before each value. */
export const AdminTable = <R,>({ label, rows, keyOf, columns }: AdminTableProps<R>) => (
  <table class="admin-table" aria-label={label}>
    <thead>
      <tr>
        {columns.map((column) => (
          <th key={column.label} scope="col" class={column.kind}>
            {column.label}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <tr key={keyOf(row)}>
          {columns.map((column) => (
            <td key={column.label} class={column.kind} data-label={column.label}>
              {column.cell(row)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

const format = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A day, with its exact time in the title. */
export const Day = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={full.format(new Date(at))}>
    {format.format(new Date(at))}
  </time>
);
