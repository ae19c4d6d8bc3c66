import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../../../src/server/platform/storage/sqlite/engine.ts';
import { keepingLog } from '../../../support/app.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-store-'));
  cleanUps.push(() => rm(folder, { recursive: true }));
  const path = join(folder, 'rtc.sqlite');
  const clock = new ManualClock(0);
  const engine = await openSqlite(path, { clock, log: keepingLog([]), isMaintained: true });
  cleanUps.push(() => engine.close());
  return { engine, path, clock };
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
