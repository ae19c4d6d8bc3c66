import type { Kysely } from 'kysely';
import { ServiceError } from '../../../contract/errors.ts';
import type { Engine } from './engine.ts';
import { MIGRATIONS, type Migration } from './schema/migrations.ts';
import type { Tables } from './schema/tables.ts';

/**
 * Applies all pending migrations in one transaction. Instances that start at the same time do so one after the other,
 * and all but the first find nothing to apply.
 *
 * @throws ServiceError storage-unavailable when the database has migrations that this version does not know.
 */
export async function migrate(engine: Engine, now: number): Promise<void> {
  await engine.db.transaction().execute(async (db) => {
    await engine.lockMigrations(db);
    for (const migration of pendingMigrations(await readApplied(engine, db), engine.name)) {
      await migration.up(db, engine.columnTypes, engine.name);
      await db.insertInto('rtcMigrations').values({ name: migration.name, appliedAt: now }).execute();
    }
  });
}

/**
 * Returns the migrations that follow `applied`.
 *
 * @throws ServiceError storage-unavailable when `applied` is not a prefix of our own list.
 */
export function pendingMigrations(applied: readonly string[], database: string): readonly Migration[] {
  const unknown = applied.find((name, index) => MIGRATIONS[index]?.name !== name);
  if (unknown !== undefined) {
    throw new ServiceError(
      'storage-unavailable',
      `The ${database} database was made by a newer version of rtc-service: it has the migration "${unknown}", ` +
        'which this version does not know; nothing was changed',
      { hint: { text: 'start the newer version, or restore a backup' } },
    );
  }
  return MIGRATIONS.slice(applied.length);
}

async function readApplied(engine: Engine, db: Kysely<Tables>): Promise<readonly string[]> {
  // Checked first, because `create table if not exists` requires the CREATE privilege even if the table exists.
  if (await engine.hasTable(db, 'rtcMigrations')) {
    const rows = await db.selectFrom('rtcMigrations').select('name').orderBy('name').execute();
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
