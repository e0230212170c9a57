import type { Columns, ColumnType, Queryable } from '../store/engine/engine.ts';
import { number } from '../store/engine/query.ts';

/** Returns all tables, except those that SQLite keeps inside its search index. */
export async function tableNames(db: Queryable): Promise<string[]> {
  const rows = await db.all<{ name: string }>(
    db.dialect.name === 'sqlite'
      ? `SELECT name FROM pragma_table_list
         WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name`
      : `SELECT CAST(tablename AS text) AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

const types: Readonly<Record<string, ColumnType>> = {
  INTEGER: 'int',
  bigint: 'int',
  smallint: 'int',
  TEXT: 'text',
  text: 'text',
};

export async function columnsOf(db: Queryable, table: string): Promise<Columns> {
  const rows = await db.all<{ name: string; type: string }>(
    db.dialect.name === 'sqlite'
      ? 'SELECT name, type FROM pragma_table_info($1) ORDER BY cid'
      : `SELECT CAST(column_name AS text) AS name, CAST(data_type AS text) AS type FROM information_schema.columns
         WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`,
    [table],
  );
  return Object.fromEntries(
    rows.map(({ name, type }) => {
      const known = types[type];
      if (known === undefined) throw new Error(`${table}.${name} has the unknown type ${type}`);
      return [name, known];
    }),
  );
}

/** Returns the approximate size on disk. */
export const databaseBytes = (db: Queryable): Promise<number> =>
  number(
    db,
    db.dialect.name === 'sqlite'
      ? 'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size'
      : 'SELECT pg_database_size(current_database()) AS bytes',
  );
