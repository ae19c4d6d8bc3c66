import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchFile } from '../../../../src/server/platform/storage/sqlite/driver.ts';

let folder: string;
let database: DatabaseSync;
let other: DatabaseSync;
beforeEach(() => {
  vi.useFakeTimers();
  folder = mkdtempSync(join(tmpdir(), 'rtc-watch-'));
  [database, other] = [0, 1].map(() => new DatabaseSync(join(folder, 'rtc.db'))) as [
    DatabaseSync,
    DatabaseSync,
  ];
  other.exec('pragma journal_mode = wal; create table rows (id)');
});
afterEach(() => {
  vi.useRealTimers();
  database.close();
  other.close();
  rmSync(folder, { recursive: true });
});

it('a file that cannot be watched is checked every second, until it is closed', () => {
  let changes = 0;
  const watching = watchFile(database, join(folder, 'nowhere', 'rtc.db'), () => {
    changes += 1;
  });
  watching.start();
  for (const expected of [1, 2]) {
    other.exec('insert into rows values (1)');
    vi.advanceTimersByTime(1_000);
    expect(changes).toBe(expected);
  }
  vi.advanceTimersByTime(5_000);
  expect(changes).toBe(2);
  watching.close();
  expect(vi.getTimerCount()).toBe(0);
});
