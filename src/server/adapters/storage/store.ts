import { type Kysely, sql, type Transaction } from 'kysely';
import type { RecordingStore, Store } from '../../ports/store.ts';
import type { Engine } from './engine.ts';
import { OpenWork } from './open-work.ts';
import { createRecordingStore } from './recording-store.ts';
import type { Tables } from './tables.ts';

export function createStore(engine: Engine): Store {
  const { db } = engine;
  const work = new OpenWork();
  let closing: Promise<void> | undefined;
  return {
    recordings: countedRecordings(createRecordingStore(db), work),
    transaction: (inside) =>
      work.during(() => db.transaction().execute((transaction) => inside(storeWithin(transaction)))),
    ping: () => work.during(() => ping(db)),
    close: () => {
      closing ??= work.close().then(() => engine.close());
      return closing;
    },
  };
}

/** Each call counts as work under way from its start to its end, however many statements it takes. */
function countedRecordings(recordings: RecordingStore, work: OpenWork): RecordingStore {
  return {
    claim: (recording, now) => work.during(() => recordings.claim(recording, now)),
    activate: (id, owner, egress) => work.during(() => recordings.activate(id, owner, egress)),
    release: (id, owner) => work.during(() => recordings.release(id, owner)),
    end: (id, end) => work.during(() => recordings.end(id, end)),
    complete: (id, facts) => work.during(() => recordings.complete(id, facts)),
    find: (id) => work.during(() => recordings.find(id)),
    findActive: (room) => work.during(() => recordings.findActive(room)),
    findByEgressId: (egressId) => work.during(() => recordings.findByEgressId(egressId)),
    list: (query) => work.during(() => recordings.list(query)),
    delete: (id) => work.during(() => recordings.delete(id)),
  };
}

/** Not counted: it is part of work that is, and goes on while the store closes. */
function storeWithin(db: Transaction<Tables>): Store {
  return {
    recordings: createRecordingStore(db),
    transaction: (work) => nest(db, work),
    ping: () => ping(db),
    close: () => Promise.reject(new Error('A transaction cannot close the store that it runs on')),
  };
}

/** A savepoint, so that what the inner work throws undoes the inner work alone. */
async function nest<T>(db: Transaction<Tables>, work: (store: Store) => Promise<T>): Promise<T> {
  await sql`savepoint nested`.execute(db);
  try {
    const result = await work(storeWithin(db));
    await sql`release savepoint nested`.execute(db);
    return result;
  } catch (error) {
    await undoNested(db);
    throw error;
  }
}

async function undoNested(db: Transaction<Tables>): Promise<void> {
  try {
    await sql`rollback to savepoint nested`.execute(db);
    await sql`release savepoint nested`.execute(db);
  } catch {
    // The whole transaction is gone (a full disk, a lost connection): what the inner work threw says why.
  }
}

async function ping(db: Kysely<Tables>): Promise<void> {
  await sql`select 1`.execute(db);
}
