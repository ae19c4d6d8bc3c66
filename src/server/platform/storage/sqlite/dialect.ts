import { type RawBuilder, sql } from 'kysely';
import type { RowColumns, SqlDialect } from '../engine.ts';

export const sqliteDialect: SqlDialect = {
  engine: 'SQLite',
  rows,
  oneOf: (values) => sql`in (select value from json_each(${JSON.stringify(values)}))`,
  noneOf: (values) => sql`not in (select value from json_each(${JSON.stringify(values)}))`,
  // Empty, because a transaction locks the whole file.
  lockRows: sql``,
  lockFreeRows: sql``,
  jsonRows: (columns, from) => {
    const fields = sql.raw(columns.map((column) => `'${column}', "${column}"`).join(', '));
    return sql`(select json_group_array(json_object(${fields})) from ${from})`;
  },
  lockName: async () => {},
  nameLocks: undefined,
};

function rows<Row extends object>(objects: readonly Row[], columns: RowColumns<Row>): RawBuilder<Row> {
  const names = Object.keys(columns);
  const values = objects.map((object) => names.map((name) => object[name as keyof Row] ?? null));
  const fields = sql.raw(names.map((name, index) => `value ->> ${index} as "${name}"`).join(', '));
  return sql`(select ${fields} from json_each(${JSON.stringify(values)}))`;
}
