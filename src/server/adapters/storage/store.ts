import { type Kysely, sql, type Transaction } from 'kysely';
import type { RecordingStore, Store } from '../../ports/store.ts';
import type { Engine } from './engine.ts';
import { OpenWork } from './open-work.ts';
import { createRecordingStore } from './recording-store.ts';
import { withinSavepoint } from './savepoint.ts';
import type { Tables } from './tables.ts';

export function createStore(engine: Engine): Store {
  const { db } = engine;
  const work = new OpenWork();
  let closing: Promise<void> | undefined;
  return {
    recordings: countedRecordings(createRecordingStore(db), work),
    transaction: (inside) => work.during(() => engine.transaction((db) => inside(storeWithin(db)))),
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
    transaction: (work) => withinSavepoint(db, () => work(storeWithin(db))),
    ping: () => ping(db),
    close: () => Promise.reject(new Error('A transaction cannot close the store that it runs on')),
  };
}

async function ping(db: Kysely<Tables>): Promise<void> {
  await sql`select 1`.execute(db);
}
