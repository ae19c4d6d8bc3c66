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
    const fields = columns.map((column) => sql`${sql.lit(column)}, ${sql.ref(column)}`);
    return sql`(select json_group_array(json_object(${sql.join(fields)})) from ${from})`;
  },
  lockName: async () => {},
  nameLocks: undefined,
};

function rows<Row extends object>(objects: readonly Row[], columns: RowColumns<Row>): RawBuilder<Row> {
  const names = Object.keys(columns);
  const values = objects.map((object) => names.map((name) => object[name as keyof Row] ?? null));
  const fields = names.map((name, index) => sql`value ->> ${sql.lit(index)} as ${sql.ref(name)}`);
  return sql`(select ${sql.join(fields)} from json_each(${JSON.stringify(values)}))`;
}
