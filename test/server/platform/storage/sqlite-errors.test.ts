import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import { translateSqliteError } from '../../../../src/server/platform/storage/sqlite/errors.ts';
import { mountMemory } from '../../../support/mount-memory.ts';
import { expectUnavailable, newRecording } from './store-records.ts';
import { open } from './test-databases.ts';

describe('errors of SQLite', () => {
  it.each([
    ['SQLITE_BUSY', 5, true],
    ['SQLITE_BUSY_SNAPSHOT', 5 | (2 << 8), true],
    ['SQLITE_LOCKED', 6, true],
    ['SQLITE_READONLY', 8, false],
    ['SQLITE_IOERR_WRITE', 10 | (3 << 8), true],
    ['SQLITE_IOERR_FSYNC', 10 | (4 << 8), true],
    ['SQLITE_CORRUPT', 11, false],
    ['SQLITE_FULL', 13, true],
    ['SQLITE_CANTOPEN', 14, true],
    ['SQLITE_NOTADB', 26, false],
  ])('mean that the storage is unavailable: %s', (_name, errcode, retryable) => {
    const cause = Object.assign(new Error('from SQLite'), { code: 'ERR_SQLITE_ERROR', errcode });
    expect(translateSqliteError(cause)).toMatchObject({ code: 'storage-unavailable', retryable, cause });
  });

  it('are not translated when the statement is wrong', () => {
    const database = new DatabaseSync(':memory:');
    const fault = thrownBy(() => database.exec('selec'));
    expect(fault).toMatchObject({ code: 'ERR_SQLITE_ERROR', errcode: 1 });
    expect(translateSqliteError(fault)).toBe(fault);
    database.close();
  });

  it('have the code that node:sqlite sets for a full database', () => {
    const database = new DatabaseSync(':memory:');
    database.exec('create table notes (note blob); pragma max_page_count = 5');
    const fault = thrownBy(() => database.exec('insert into notes values (randomblob(100000))'));
    expect(translateSqliteError(fault)).toMatchObject({ code: 'storage-unavailable', retryable: true });
    database.close();
  });
});

describe('a full disk under SQLite', () => {
  it('is reported, loses nothing that was acknowledged, and is over when there is space again', async (context) => {
    const disk = await mountMemory(context);
    try {
      const ballast = join(disk.path, 'ballast');
      await writeFile(ballast, Buffer.alloc(1024 * 1024));
      const store = await open({ sqlitePath: join(disk.path, 'store.sqlite') });
      const acknowledged = await claimUntilFull(store);
      expect(acknowledged).toBeGreaterThan(0);
      const both = store.transaction(async ({ recordings }) => {
        await recordings.claim(large('first'), 1000);
        await recordings.claim(large('second'), 1000);
      });
      await expectUnavailable(both, { retryable: true });
      expect(await store.recordings.list({ limit: 10_000 })).toHaveLength(acknowledged);
      await rm(ballast);
      expect(await store.recordings.claim(large('afterwards'), 1000)).toMatchObject({ claimed: true });
      await store.close();
      const again = await open({ sqlitePath: join(disk.path, 'store.sqlite') });
      expect(await again.recordings.list({ limit: 10_000 })).toHaveLength(acknowledged + 1);
      await again.close();
    } finally {
      await disk.unmount();
    }
  });
});

function large(id: string) {
  return newRecording(id, { room: `room of ${id}`, filepath: 'x'.repeat(50_000) });
}

async function claimUntilFull(store: Store): Promise<number> {
  for (let n = 0; ; n++) {
    const outcome = await store.recordings.claim(large(`id ${n}`), 1000).catch((error: unknown) => error);
    if (outcome instanceof Error) {
      expect(outcome).toMatchObject({ code: 'storage-unavailable', retryable: true });
      return n;
    }
  }
}

function thrownBy(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
