import { type Kysely, sql } from 'kysely';
import { ServiceError } from '../../../contract/errors.ts';
import type { ColumnTypes, Engine } from './engine.ts';

/** A step of the schema. Its name and what it does never change once a version with it was released. */
export type Migration<Tables> = MigrationName & {
  up(db: Kysely<Tables>, types: ColumnTypes, engine: Engine<Tables>['name']): Promise<void>;
};

export type MigrationName = { readonly name: string };

/**
 * Applies all pending migrations in one transaction. Instances that start at the same time do so one after the other,
 * and all but the first find nothing to apply.
 *
 * @throws ServiceError storage-unavailable when the database has migrations that this version does not know.
 */
export async function migrate<Tables>(
  engine: Engine<Tables>,
  migrations: readonly Migration<Tables>[],
  now: number,
): Promise<void> {
  await engine.db.transaction().execute(async (db) => {
    await engine.lockMigrations(db);
    for (const migration of findPending(migrations, await readApplied(engine, db), engine.name)) {
      await migration.up(db, engine.columnTypes, engine.name);
      await sql`insert into "rtcMigrations" ("name", "appliedAt") values (${migration.name}, ${now})`.execute(
        db,
      );
    }
  });
}

/**
 * Returns the migrations that follow `applied`.
 *
 * @throws ServiceError storage-unavailable when `applied` is not a prefix of `migrations`.
 */
export function findPending<Named extends MigrationName>(
  migrations: readonly Named[],
  applied: readonly string[],
  database: string,
): readonly Named[] {
  const index = applied.findIndex((name, at) => migrations[at]?.name !== name);
  const unknown = applied[index];
  if (unknown !== undefined) {
    // Released migrations keep their names. One that is not at its place is from the time before.
    const isNewer = index >= migrations.length;
    throw new ServiceError(
      'storage-unavailable',
      `The ${database} database was made by ${isNewer ? 'a newer version' : 'an unreleased version'} of rtc-service: it has ` +
        `the migration "${unknown}", which this version does not know; nothing was changed`,
      {
        hint: {
          text: isNewer
            ? 'start the newer version, or restore a backup'
            : 'move it away, or use another database',
        },
      },
    );
  }
  return migrations.slice(applied.length);
}

async function readApplied<Tables>(engine: Engine<Tables>, db: Kysely<Tables>): Promise<readonly string[]> {
  // Checked first, because `create table if not exists` requires the CREATE privilege even if the table exists.
  if (await engine.hasTable(db, 'rtcMigrations')) {
    const { rows } = await sql<{ name: string }>`select "name" from "rtcMigrations" order by "name"`.execute(
      db,
    );
    return rows.map((row) => row.name);
  }
  const { text, integer } = engine.columnTypes;
  await db.schema
    .createTable('rtcMigrations')
    .addColumn('name', text, (column) => column.primaryKey().notNull())
    .addColumn('appliedAt', integer, (column) => column.notNull())
    .execute();
  return [];
}
