import { type RawBuilder, sql } from 'kysely';
import { columnList } from '../column-list.ts';
import type { RowColumns, SqlDialect } from '../engine.ts';

/** An arbitrary number that is the same in every instance. It separates our hashes from other advisory locks. */
const NAME_LOCK_SEED = 0x727463;
const seed = sql.lit(NAME_LOCK_SEED);
/** The name of the statement that locks the rooms of a transaction, as far as they are free. */
export const LOCK_FREE_NAMES = 'lock-free-names';

export const postgresDialect: SqlDialect = {
  engine: 'PostgreSQL',
  rows,
  oneOf: (values) => sql`= any(${values})`,
  noneOf: (values) => sql`<> all(${values})`,
  lockRows: sql`for update`,
  lockFreeRows: sql`for update skip locked`,
  lockName: async (db, name) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, ${seed}))`.execute(db);
  },
  jsonRows: (columns, from) => {
    return sql`
      (select coalesce(json_agg(one), '[]')::text from (select ${columnList(columns)} from ${from}) as one)`;
  },
  nameLocks: {
    all: (names) => ({
      name: 'lock-names',
      sql: sql`
        select name, pg_advisory_xact_lock(hashtextextended(name, ${seed}))
        from (select name from unnest(${names}::text[]) with ordinality as listed (name, number) order by number)
        as ordered`,
    }),
    free: (names) => ({
      name: LOCK_FREE_NAMES,
      sql: sql`
        select name from unnest(${names}::text[]) as listed (name)
        where pg_try_advisory_xact_lock(hashtextextended(name, ${seed}))`,
    }),
  },
};

const TYPES = { text: 'text', integer: 'bigint' } as const;

function rows<Row extends object>(objects: readonly Row[], columns: RowColumns<Row>): RawBuilder<Row> {
  const names = Object.keys(columns) as (keyof Row & string)[];
  const fields = names.map((name) => `"${name}" ${TYPES[columns[name] ?? 'text']}`);
  const json = JSON.stringify(objects, names);
  return sql`(select * from json_to_recordset(${json}) as listed (${sql.raw(fields.join(', '))}))`;
}
