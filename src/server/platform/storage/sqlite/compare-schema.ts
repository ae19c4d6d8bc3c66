import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { ServiceError } from '../../../../contract/errors.ts';
import type { Log } from '../../log.ts';
import { systemClock } from '../../system.ts';
import type { Migration } from '../migrate.ts';
import { openSqlite } from './engine.ts';

/*
 * Compares the schema of a file from elsewhere with the one that the same migrations make. A trigger or a view in it would run
 * inside the service's transactions; nothing else looks at them.
 */

/** `trigger "name"` to its statement. */
type Schema = ReadonlyMap<string, string>;

/** @throws ServiceError invalid-request that names the first object that is different, missing or foreign. */
export async function requireOwnSchema<Tables>(
  path: string,
  migrations: readonly Migration<Tables>[],
): Promise<void> {
  const found = readSchema(path);
  const expected = await makeSchema(dirname(path), migrations.slice(0, countMigrations(path)));
  for (const [object, statement] of found) {
    const own = expected.get(object);
    if (own === undefined) throw foreign(`has the ${object}, which is not of rtc-service`);
    if (own !== statement) throw foreign(`has the ${object} in another form than rtc-service makes it`);
  }
  for (const object of expected.keys()) if (!found.has(object)) throw foreign(`lacks the ${object}`);
}

function readSchema(path: string): Schema {
  // SQLite keeps its own tables of statistics and counters under names that begin with sqlite_.
  const query = `select type, name, coalesce(sql, '') as statement from sqlite_schema where name not like 'sqlite\\_%' escape '\\'`;
  const rows = readRows(path, query);
  return new Map(
    rows.map(({ type, name, statement }) => [`${type} ${JSON.stringify(name)}`, String(statement)]),
  );
}

function countMigrations(path: string): number {
  return Number(readRows(path, 'select count(*) as applied from "rtcMigrations"')[0]?.applied);
}

function readRows(path: string, query: string) {
  // Nobody writes the file, and `immutable` keeps SQLite from creating files beside it.
  const database = new DatabaseSync(new URL(`${pathToFileURL(path).href}?immutable=1`), { readOnly: true });
  try {
    return database.prepare(query).all();
  } finally {
    database.close();
  }
}

/** A backup of an earlier version has fewer migrations: the service applies the others when it starts. */
async function makeSchema<Tables>(
  besides: string,
  migrations: readonly Migration<Tables>[],
): Promise<Schema> {
  const folder = await mkdtemp(join(besides, '.schema-'));
  try {
    const path = join(folder, 'expected.sqlite');
    const opening = { migrations, clock: systemClock, log: NO_LOG };
    const engine = await openSqlite(path, opening);
    await engine.close();
    return readSchema(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const ignore = (): void => {};
const NO_LOG: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function foreign(what: string): ServiceError {
  return new ServiceError('invalid-request', `The database of the backup ${what}; nothing was changed`, {
    hint: { text: 'take a backup whose origin you know' },
  });
}
