import { sql } from 'kysely';
import type { Connection } from './engine.ts';

/** A running instance of the service, as it announces itself to the others. */
export type Instance = {
  readonly id: string;
  readonly version: string;
  /** Ids of its encryption keys, in the order of ENCRYPTION_KEY. They do not reveal the keys. */
  readonly keyIds: readonly string[];
  /** After this instant it counts as ended, unless it announces itself again. */
  readonly aliveUntil: number;
};

export interface InstanceStore {
  /** Stores the row of the instance, and deletes the rows of ended instances, so that their number is bounded. */
  announce(instance: Instance, now: number): Promise<void>;
  /** Lists the instances that are alive, in the order of their ids. */
  listAlive(now: number): Promise<readonly Instance[]>;
  /** Deletes the row of an instance that ends. */
  remove(id: string): Promise<void>;
}

/** Longer than any announcement is valid. One that ends later was made before the clock was set back. */
const LONGEST_MS = 600_000;

type Row = Omit<Instance, 'keyIds'> & { readonly keyIds: string };

/** The statements are text, because this folder does not know the row types. */
export function createInstanceStore<Tables>({ db }: Pick<Connection<Tables>, 'db'>): InstanceStore {
  return {
    announce: async ({ id, version, keyIds, aliveUntil }, now) => {
      await sql`
        insert into instances (id, version, "keyIds", "aliveUntil")
        values (${id}, ${version}, ${JSON.stringify(keyIds)}, ${aliveUntil})
        on conflict (id) do update set "aliveUntil" = excluded."aliveUntil"`.execute(db);
      await sql`
        delete from instances where "aliveUntil" <= ${now} or "aliveUntil" > ${now + LONGEST_MS}`.execute(db);
    },
    listAlive: async (now) => {
      const { rows } = await sql<Row>`
        select id, version, "keyIds", "aliveUntil" from instances where "aliveUntil" > ${now} order by id`.execute(
        db,
      );
      return rows.map((row) => ({ ...row, keyIds: JSON.parse(row.keyIds) as string[] }));
    },
    remove: async (id) => {
      await sql`delete from instances where id = ${id}`.execute(db);
    },
  };
}
