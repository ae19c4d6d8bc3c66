import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import type { StoreOptions } from '../../../src/server/app/create-store.ts';
import { addFunctions } from '../../../src/server/platform/storage/sqlite/engine.ts';
import { searchWords } from '../../../src/server/transcription/words/word-routes.ts';
import { createDatabase } from '../../support/parts/postgres.ts';
import { sharedPostgres } from '../../support/parts/shared.ts';
import { open as openStore, systemClock } from '../platform/storage/test-databases.ts';

const TRANSCRIPTION = `
  insert into transcriptions
    (id, kind, room, status, language, speakers, options, attempts, progress, "createdAt", "originAt")
  values ('tr_1', 'live', 'demo', 'stopped', 'en', '{}', '{}', 0, 0, 1, 1)`;

async function findTexts(database: StoreOptions['database'], text: string): Promise<readonly string[]> {
  const store = await openStore(database);
  const { hits } = await searchWords({ words: store.words, clock: systemClock }, { text, limit: 5 });
  await store.close();
  return hits.map(({ segment }) => segment.text);
}

describe('the search', () => {
  it('finds the same segments in a SQLite file after rows were deleted and the file was vacuumed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rtc-search-'));
    const sqlitePath = join(folder, 'rtc.sqlite');
    await (await openStore({ sqlitePath })).close();
    const sqlite = new DatabaseSync(sqlitePath);
    addFunctions(sqlite);
    sqlite.exec(TRANSCRIPTION);
    for (const [at, text] of ['Coffee first.', 'Then the meetings.', 'Perché no?'].entries()) {
      sqlite.exec(`
        insert into segments (id, "transcriptionId", text, language, "startedAt", "endedAt")
        values ('seg_${at}', 'tr_1', '${text}', 'en', ${at}, ${at + 1})`);
    }
    sqlite.exec(`delete from segments where id = 'seg_0'; vacuum`);
    sqlite.close();
    expect(await findTexts({ sqlitePath }, 'coffee')).toEqual([]);
    expect(await findTexts({ sqlitePath }, 'meeting')).toEqual(['Then the meetings.']);
    expect(await findTexts({ sqlitePath }, 'perche')).toEqual(['Perché no?']);
    await rm(folder, { recursive: true });
  });

  it('finds a segment that was stored in PostgreSQL without terms by its words as they are', async () => {
    const database = await createDatabase(await sharedPostgres());
    const databaseUrl = database.url;
    await (await openStore({ databaseUrl })).close();
    const writer = new Client({ connectionString: databaseUrl });
    await writer.connect();
    await writer.query(TRANSCRIPTION);
    await writer.query(`
      insert into segments (id, "transcriptionId", text, language, "startedAt", "endedAt")
      values ('late', 'tr_1', 'Late Budget', 'en', 0, 1)`);
    await writer.end();
    expect(await findTexts({ databaseUrl }, 'budget')).toEqual(['Late Budget']);
    await database.close();
  });
});
