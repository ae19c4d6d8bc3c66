import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { RoomPrefixes } from '../../../contract/keys.ts';
import type { SqlDialect } from './engine.ts';

/**
 * The names of columns as a list for a statement. They come from the code, never from a request. The list is one piece of
 * text, because Kysely builds and compiles references name by name, which takes much memory.
 */
export function columnList(names: readonly string[]): RawBuilder<unknown> {
  return sql.raw(`"${names.join('", "')}"`);
}

/**
 * The condition of rows that follow one in a list which is sorted by these columns, ascending for `>`. Without that one all
 * rows do.
 */
export function isBehind(
  columns: readonly [string, string],
  operator: '<' | '>',
  row: readonly [number | null, string] | undefined,
): RawBuilder<boolean> {
  if (row === undefined) return sql<boolean>`true`;
  return sql<boolean>`(${columnList(columns)}) ${sql.raw(operator)} (${sql.join(row)})`;
}

/**
 * Replaces NUL and unpaired surrogates, which PostgreSQL cannot store, by U+FFFD. Receivers and clients may send either, and
 * one such text would make the whole statement fail.
 */
export function sanitizeText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Runs `work` in a savepoint of the transaction. If `work` throws, only its own statements are rolled back. */
export async function withinSavepoint<Tables, T>(
  db: Transaction<Tables>,
  work: () => Promise<T>,
): Promise<T> {
  await sql`savepoint work`.execute(db);
  try {
    const result = await work();
    await sql`release savepoint work`.execute(db);
    return result;
  } catch (error) {
    await rollBack(db);
    throw error;
  }
}

async function rollBack<Tables>(db: Transaction<Tables>): Promise<void> {
  try {
    await sql`rollback to savepoint work`.execute(db);
    await sql`release savepoint work`.execute(db);
  } catch {
    // The database has ended the whole transaction (full disk, lost connection). The caller gets the original error.
  }
}

/** The rows of a table that a purge deletes. */
type Purged = {
  readonly table: string;
  /** The columns of its key. */
  readonly key: readonly string[];
  readonly where: RawBuilder<unknown>;
  /** The column of which the lowest values go first. */
  readonly by?: string;
  readonly limit: number;
};

/**
 * Deletes at most `limit` rows, and returns their number. The condition is repeated, so that a row that was changed in the
 * meantime is kept.
 */
export async function purgeRows<Tables>(
  db: Kysely<Tables>,
  { table, key, where, by, limit }: Purged,
): Promise<number> {
  const columns = columnList(key);
  const order = by === undefined ? sql`` : sql`order by ${sql.ref(by)}`;
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where ${where} and (${columns}) in (
      select ${columns} from ${sql.table(table)} where ${where} ${order} limit ${limit}
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/*
 * A key for a part of the rooms sees what belongs to rooms whose names begin with one of its prefixes. A list for such a key
 * filters in its query, and what the query costs does not depend on how much others have stored.
 */

/** The ranges of names that begin so, so that an index is used. U+10FFFF is no character, and is sorted last. */
export function beginsWith(column: RawBuilder<unknown>, prefixes: RoomPrefixes): RawBuilder<boolean> {
  const ranges = prefixes.map(
    (prefix) => sql`(${column} >= ${prefix} and ${column} < ${`${prefix}\u{10FFFF}`})`,
  );
  return sql<boolean>`(${sql.join(ranges, sql` or `)})`;
}

/** The parts of a table that a list reads: its name, its key, and its column with the names of rooms. */
type ListedTable = {
  readonly table: string;
  readonly key: string;
  readonly room: string;
  /** Another condition of the list, if the index of rooms has its column. */
  readonly also?: RawBuilder<boolean> | undefined;
};

/**
 * Up to so many rows of a key are found by their room, then sorted. A key with more owns such a share of the table that a walk
 * through the index of times soon meets its rows.
 */
const MOST_SORTED = 5_000;

/**
 * Returns the condition of a list that is ordered by time. The rows of a key with few are found by the index of rooms. Those
 * of a key with many are met soon on the way through the index of times.
 */
export async function withinRooms<Tables>(
  { db, dialect }: { readonly db: Kysely<Tables>; readonly dialect: SqlDialect },
  { table, key, room, also }: ListedTable,
  prefixes: RoomPrefixes,
): Promise<{ readonly condition: RawBuilder<boolean>; readonly isFew: boolean }> {
  const ofRooms = beginsWith(sql.ref(room), prefixes);
  const isWithin = also === undefined ? ofRooms : sql`${ofRooms} and ${also}`;
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select 1 from ${sql.table(table)} where ${isWithin} limit ${MOST_SORTED + 1}
    ) as found`.execute(db);
  if ((rows[0]?.count ?? 0) > MOST_SORTED) {
    // The sign keeps SQLite, which has no figures about the names, from the index of rooms.
    const column = dialect.engine === 'SQLite' ? sql`+${sql.ref(room)}` : sql.ref(room);
    return { condition: beginsWith(column, prefixes), isFew: false };
  }
  const own = sql`select ${sql.ref(key)} from ${sql.table(table)} where ${isWithin}`;
  const isOwn = dialect.engine === 'SQLite' ? sql`in (${own})` : sql`= any(array(${own}))`;
  return { condition: sql<boolean>`${sql.ref(key)} ${isOwn}`, isFew: true };
}
