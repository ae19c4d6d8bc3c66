import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createStore } from '../../../../src/server/app/create-store.ts';
import { openSqlite } from '../../../../src/server/platform/storage/sqlite/engine.ts';
import { MIGRATIONS } from '../../../../src/server/schema/migrations.ts';
import type { StoredSegment } from '../../../../src/server/transcription/store.ts';
import { searchWords } from '../../../../src/server/transcription/words/word-routes.ts';
import { collectingLog } from '../../../support/app.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { systemClock } from './test-databases.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-store-'));
  cleanUps.push(() => rm(folder, { recursive: true }));
  const path = join(folder, 'rtc.sqlite');
  const clock = new ManualClock(0);
  const engine = await openSqlite(path, {
    ...{ migrations: MIGRATIONS, clock, log: collectingLog([]), isMaintained: true },
  });
  cleanUps.push(() => engine.close());
  return { engine, path, clock };
}

const NOTHING_KNOWN = { trackId: null, identity: null, name: null, confidence: null, overlapMs: null };

function segment(id: string, text: string): StoredSegment {
  return { id, text, language: 'en', startedAt: 0, endedAt: 1, ...NOTHING_KNOWN };
}

describe('a SQLite file', () => {
  it('does not contain deleted text any more after a minute, nor does its log', async () => {
    const { engine, path, clock } = await open();
    const text = 'a sentence that somebody said';
    const names = Array.from({ length: 500 }, (_, index) => `${index} ${text}`);
    for (const name of names) {
      await engine.db.insertInto('rtcMigrations').values({ name, appliedAt: 1 }).execute();
    }
    await engine.db.deleteFrom('rtcMigrations').where('name', 'in', names).execute();
    const occurrences = async (): Promise<boolean> =>
      Buffer.concat([await readFile(path), await readFile(`${path}-wal`)]).includes(text);
    expect(await occurrences()).toBe(true);
    clock.advance(60_000);
    await expect.poll(occurrences).toBe(false);
  });

  it('does not contain words of deleted transcripts, which the search index contained too', async () => {
    const { engine, path, clock } = await open();
    const { transcriptions, words } = createStore(engine);
    const options = { partialResults: false, captions: true, punctuation: true, profanityFilter: false };
    await transcriptions.startLive({
      ...{ id: 'tr_1', room: 'demo', language: 'en', speakers: {}, options, createdAt: 0 },
    });
    const claim = { owner: 'a', now: 0, leaseUntil: 1, limit: 1, supports: () => true };
    await transcriptions.claimLive(claim);
    const said = Array.from({ length: 300 }, (_, index) =>
      segment(`seg_${index}`, `thing ${index} zanzibar`),
    );
    await transcriptions.addSegments('tr_1', 'a', said);
    expect(
      (await searchWords({ words, clock: systemClock }, { text: 'zanzibar 7', limit: 9 })).hits,
    ).toHaveLength(1);
    const occurrences = async (): Promise<boolean> =>
      Buffer.concat([await readFile(path), await readFile(`${path}-wal`)]).includes('anzibar');
    expect(await occurrences()).toBe(true);
    await transcriptions.delete('tr_1');
    clock.advance(60_000);
    await expect.poll(occurrences).toBe(false);
  });

  it('shrinks after much was deleted', async () => {
    const { engine, path, clock } = await open();
    const rows = Array.from({ length: 2000 }, (_, index) => ({
      name: `${index} ${'x'.repeat(1000)}`,
      appliedAt: 1,
    }));
    for (const row of rows) await engine.db.insertInto('rtcMigrations').values(row).execute();
    clock.advance(60_000);
    const size = async (): Promise<number> => (await readFile(path)).length;
    await expect.poll(size).toBeGreaterThan(1_000_000);
    await engine.db.deleteFrom('rtcMigrations').where('appliedAt', '=', 1).execute();
    for (let round = 0; round < 5; round += 1) {
      await new Promise((next) => setImmediate(next));
      clock.advance(60_000);
    }
    await expect.poll(size).toBeLessThan(1_000_000);
  });
});
