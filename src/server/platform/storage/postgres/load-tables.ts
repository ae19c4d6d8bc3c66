import { Client, DatabaseError, types } from 'pg';
import { ServiceError } from '../../../../contract/errors.ts';
import { type PlainRow, RowDigest } from '../row-digest.ts';
import { explainStart, translatePostgresError } from './errors.ts';

/** Rows of one statement, each column of which is one parameter. */
const ROWS_AT_ONCE = 1_000;
const INT8_OID = 20;

export type LoadedTable = { readonly table: string; readonly rows: number; readonly checksum: string };

export type TableSource = {
  readonly tables: readonly string[];
  listColumns(table: string): readonly string[];
  readRows(table: string): Iterable<PlainRow>;
};

/** The parts of the schema in PostgreSQL that a source does not have. */
export type TableTarget = {
  readonly url: string;
  /** Tables that have rows in every database. */
  readonly neverEmpty: readonly string[];
  readonly addedColumns: readonly AddedColumn[];
};

export type AddedColumn = {
  readonly table: string;
  readonly name: string;
  /** The columns of the source from which the value is computed. */
  readonly from: readonly string[];
  compute(...values: readonly (string | number | null)[]): string;
};

/**
 * Copies every table into an empty database that has the schema already, in one transaction, and reads every row back before
 * the commit. A service that starts in the meantime waits.
 *
 * @throws ServiceError conflict when the database has rows, and internal-error when a row differs from the original;
 *   nothing was changed then.
 */
export async function loadTables(target: TableTarget, source: TableSource): Promise<readonly LoadedTable[]> {
  const { url } = target;
  const client = new Client({
    connectionString: url,
    application_name: 'rtc-service',
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8_OID ? Number : types.getTypeParser(oid, format),
    },
  });
  client.on('error', () => {});
  try {
    await client.connect().catch((error: unknown) => {
      throw explainStart(error, url);
    });
    await client.query('begin');
    await lockEmpty(client, source.tables, target.neverEmpty);
    const loaded: LoadedTable[] = [];
    for (const table of source.tables) loaded.push(await loadTable(client, { source, target }, table));
    await client.query('commit');
    return loaded;
  } catch (error) {
    throw withoutValues(error);
  } finally {
    // PostgreSQL rolls everything back that is not committed when the connection ends.
    await client.end().catch(() => {});
  }
}

/** Removes values from an error, because a message of PostgreSQL may quote a row. */
function withoutValues(error: unknown): unknown {
  const translated = translatePostgresError(error);
  if (!(translated instanceof DatabaseError)) return translated;
  const { code, table, column } = translated;
  const place = table === undefined ? '' : ` in ${table}${column === undefined ? '' : `.${column}`}`;
  return new ServiceError(
    'internal-error',
    `PostgreSQL refused a statement with ${code}${place}; nothing was changed`,
  );
}

async function lockEmpty(
  client: Client,
  tables: readonly string[],
  neverEmpty: readonly string[],
): Promise<void> {
  await client.query(`lock table ${tables.map(quote).join(', ')} in access exclusive mode`);
  for (const table of tables) {
    if (neverEmpty.includes(table)) continue;
    const { rows } = await client.query(`select 1 from ${quote(table)} limit 1`);
    if (rows.length === 0) continue;
    throw new ServiceError('conflict', `The PostgreSQL database is not empty: ${table} has rows`, {
      hint: { text: 'name an empty database' },
    });
  }
}

type Copy = { readonly source: TableSource; readonly target: TableTarget };

async function loadTable(client: Client, { source, target }: Copy, table: string): Promise<LoadedTable> {
  const columns = source.listColumns(table);
  const listed = columns.map(quote).join(', ');
  const described = await describeColumns(client, table);
  const added = target.addedColumns.filter((column) => column.table === table);
  const written = writtenColumns(columns, added);
  const insert = buildInsert(table, written, described);
  if (target.neverEmpty.includes(table)) await client.query(`delete from ${quote(table)}`);
  const sent = new RowDigest();
  for (const batch of readBatches(source.readRows(table))) {
    for (const row of batch) sent.add(row);
    await client.query(
      insert,
      written.map(({ valueIn }) => batch.map(valueIn)),
    );
  }
  const stored = await computeDigest(client, `select ${listed} from ${quote(table)}`);
  if (stored.count !== sent.count || stored.checksum !== sent.checksum) {
    throw new ServiceError(
      'internal-error',
      `${table} is not the same in PostgreSQL: ${sent.count} rows were sent and ${stored.count} read; nothing was changed`,
    );
  }
  for (const { name, isNumbered } of described) if (isNumbered) await continueNumbers(client, table, name);
  return { table, rows: stored.count, checksum: stored.checksum };
}

type WrittenColumn = { readonly name: string; readonly valueIn: (row: PlainRow) => string | number | null };

function writtenColumns(columns: readonly string[], added: readonly AddedColumn[]): readonly WrittenColumn[] {
  const copied = columns.map((name, index) => ({ name, valueIn: (row: PlainRow) => row[index] ?? null }));
  const computed = added.map(({ name, from, compute }) => {
    const indexes = from.map((column) => columns.indexOf(column));
    return { name, valueIn: (row: PlainRow) => compute(...indexes.map((index) => row[index] ?? null)) };
  });
  return [...copied, ...computed];
}

/** Each column is one parameter, a list. */
function buildInsert(
  table: string,
  written: readonly WrittenColumn[],
  described: readonly ColumnDescription[],
): string {
  const kinds = new Map(described.map(({ name, kind }) => [name, kind]));
  const lists = written.map(({ name }, index) => `$${index + 1}::${kinds.get(name) ?? 'text'}[]`);
  const names = written.map(({ name }) => quote(name)).join(', ');
  return `insert into ${quote(table)} (${names}) overriding system value select * from unnest(${lists.join(', ')})`;
}

type ColumnDescription = { readonly name: string; readonly kind: string; readonly isNumbered: boolean };

/** `kind` is the type, such as `bigint`. A numbered column has a sequence. */
async function describeColumns(client: Client, table: string): Promise<readonly ColumnDescription[]> {
  const { rows } = await client.query<ColumnDescription>(
    `select column_name as name, data_type as kind, is_identity = 'YES' as "isNumbered"
    from information_schema.columns where table_schema = current_schema() and table_name = $1`,
    [table],
  );
  return rows;
}

/** Makes PostgreSQL continue the numbers after the copied ones. */
async function continueNumbers(client: Client, table: string, column: string): Promise<void> {
  await client.query(
    `select setval(pg_get_serial_sequence($1, $2), (select max(${quote(column)}) from ${quote(table)}))`,
    [quote(table), column],
  );
}

/** Reads with a cursor, because a table may be larger than the memory of this process. */
async function computeDigest(client: Client, select: string): Promise<RowDigest> {
  const digest = new RowDigest();
  await client.query(`declare stored no scroll cursor for ${select}`);
  for (;;) {
    const text = `fetch ${ROWS_AT_ONCE} from stored`;
    const { rows } = await client.query<(string | number | null)[]>({ text, rowMode: 'array' });
    if (rows.length === 0) break;
    for (const row of rows) digest.add(row);
  }
  await client.query('close stored');
  return digest;
}

function* readBatches(rows: Iterable<PlainRow>): Iterable<readonly PlainRow[]> {
  let batch: PlainRow[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < ROWS_AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
