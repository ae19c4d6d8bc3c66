import { type RawBuilder, sql } from 'kysely';
import type { RowColumns, SqlDialect } from '../engine.ts';

/** An arbitrary number that is the same in every instance. It separates our hashes from other advisory locks. */
const NAME_LOCK_SEED = 0x727463;

export const postgresDialect: SqlDialect = {
  engine: 'PostgreSQL',
  rows,
  oneOf: (values) => sql`= any(${values})`,
  noneOf: (values) => sql`<> all(${values})`,
  lockRows: sql`for update`,
  lockFreeRows: sql`for update skip locked`,
  lockName: async (db, name) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, ${NAME_LOCK_SEED}))`.execute(db);
  },
  lockNames: async (db, names) => {
    await sql`
      select pg_advisory_xact_lock(hashtextextended(name, ${NAME_LOCK_SEED}))
      from (select name from unnest(${names}::text[]) with ordinality as listed (name, number) order by number) as ordered
    `.execute(db);
  },
  lockFreeNames: async (db, names) => {
    const { rows } = await sql<{ name: string }>`
      select name from unnest(${names}::text[]) as listed (name)
      where pg_try_advisory_xact_lock(hashtextextended(name, ${NAME_LOCK_SEED}))`.execute(db);
    return rows.map(({ name }) => name);
  },
};

const TYPES = { text: sql`text`, integer: sql`bigint` } as const;

function rows<Row extends object>(objects: readonly Row[], columns: RowColumns<Row>): RawBuilder<Row> {
  const names = Object.keys(columns) as (keyof Row & string)[];
  const fields = names.map((name) => sql`${sql.ref(name)} ${TYPES[columns[name] ?? 'text']}`);
  const json = JSON.stringify(objects, names);
  return sql`(select * from json_to_recordset(${json}) as listed (${sql.join(fields)}))`;
}
