import { DatabaseSync } from 'node:sqlite';
import type { PlainRow } from '../row-digest.ts';
import { sanitizeText } from '../sanitize-text.ts';

/** Reads the tables of a database file that no process writes to. */
export type TableReader = {
  /** Names of the tables, in order. */
  readonly tables: readonly string[];
  /** Names of the stored columns, in order, without those that the database computes. */
  listColumns(table: string): readonly string[];
  /** Texts are sanitised, so that PostgreSQL can store them. */
  readRows(table: string): Iterable<PlainRow>;
  close(): void;
};

export function readTables(path: string): TableReader {
  const database = new DatabaseSync(path, { readOnly: true });
  // Without the tables of the full-text index, which PostgreSQL creates by itself.
  const tables = database
    .prepare(
      `select name from pragma_table_list
      where schema = 'main' and type = 'table' and name not like 'sqlite\\_%' escape '\\'`,
    )
    .all()
    .map(({ name }) => String(name))
    .toSorted();
  // `hidden` is 2 or 3 for a generated column (https://sqlite.org/pragma.html#pragma_table_xinfo).
  const listColumns = (table: string): readonly string[] =>
    database
      .prepare('select name from pragma_table_xinfo(?) where hidden = 0 order by cid')
      .all(table)
      .map(({ name }) => String(name));
  return {
    tables,
    listColumns,
    *readRows(table) {
      const columns = listColumns(table);
      const listed = columns.map(quote).join(', ');
      for (const row of database.prepare(`select ${listed} from ${quote(table)}`).iterate()) {
        yield columns.map((column) => plain(row[column]));
      }
    },
    close: () => database.close(),
  };
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function plain(value: unknown): string | number | null {
  if (value === null || typeof value === 'number') return value;
  if (typeof value === 'string') return sanitizeText(value);
  throw new Error(`a column holds a ${typeof value}, which no table of ours has`);
}
