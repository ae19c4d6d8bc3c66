import { copyFile, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../../src/server/app/create-store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { expectUnavailable, newRecording } from './store-records.ts';

describe('a SQLite database whose files are taken away while it is open', () => {
  let parent: string;
  let folder: string;
  let path: string;
  let store: Store;
  let clock: ManualClock;
  let losses: Error[];

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'rtc-store-'));
    folder = join(parent, 'data');
    path = join(folder, 'rtc.sqlite');
    clock = new ManualClock(0);
    losses = [];
    store = await openStore({
      database: { sqlitePath: path },
      clock,
      log: silentLog,
      isMaintained: true,
      onLost: (error) => losses.push(error),
    });
    await store.recordings.claim(newRecording('one'), 1000);
  });
  afterEach(async () => {
    await store.close();
    await rm(parent, { recursive: true });
  });

  const takeAway = {
    'is deleted': () => rm(path),
    'is moved': () => rename(path, `${path}.moved`),
    'is replaced by another': async () => {
      await copyFile(path, `${path}.backup`);
      await rename(`${path}.backup`, path);
    },
    'loses its log': () => rm(`${path}-wal`),
    "loses its log's index": () => rm(`${path}-shm`),
    'is moved with its folder': () => rename(folder, `${folder}-moved`),
  };

  it.each(Object.entries(takeAway))('acknowledges no write after the file %s', async (_what, take) => {
    await take();
    await expectUnavailable(store.recordings.claim(newRecording('two'), 1000), { retryable: false });
    const transaction = store.transaction((within) => within.recordings.claim(newRecording('three'), 1000));
    await expectUnavailable(transaction, { retryable: false });
    expect(losses).toHaveLength(1);
    expect(losses[0]?.message).toContain(path);
    expect(losses[0]?.message).toMatch(
      /was moved, deleted or replaced .* Put the files of the database back/,
    );
  });

  it('is noticed within a minute without any write', async () => {
    await rm(path);
    expect(losses).toEqual([]);
    clock.advance(60_000);
    await expect.poll(() => losses).toHaveLength(1);
  });

  it('is not reported when nothing happened', async () => {
    clock.advance(60_000);
    expect(await store.recordings.claim(newRecording('two', { room: 'another' }), 1000)).toMatchObject({
      claimed: true,
    });
    expect(losses).toEqual([]);
  });

  it('closes without deleting the log of the database at the same path', async () => {
    await rename(folder, `${folder}-moved`);
    const next = await openStore({ database: { sqlitePath: path }, clock, log: silentLog });
    await next.recordings.claim(newRecording('of the next one'), 1000);
    await expectUnavailable(store.recordings.claim(newRecording('two'), 1000), { retryable: false });
    const log = await readFile(`${path}-wal`);
    await store.close();
    expect(await readFile(`${path}-wal`)).toEqual(log);
    await next.close();
    expect(await readdir(folder)).toEqual(['rtc.sqlite']);
  });

  it('leaves no log that another file at the same path would be read with', async () => {
    await copyFile(path, `${path}.backup`);
    await store.recordings.claim(newRecording('two', { room: 'another' }), 1000);
    await rename(`${path}.backup`, path);
    await store.close();
    const { size } = await stat(`${path}-wal`);
    expect(size).toBe(0);
  });

  it('is complete when it was moved', async () => {
    await rename(path, `${path}.moved`);
    await store.close();
    const moved = await openStore({ database: { sqlitePath: `${path}.moved` }, clock, log: silentLog });
    expect(await moved.recordings.list({ limit: 10 })).toHaveLength(1);
    await moved.close();
  });
});
