import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT_CALLER } from '../../../src/server/platform/http/route.ts';
import { blockIdentity, ensureNotBlocked, removeBlock } from '../../../src/server/rooms/blocks/blocks.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { NO_KEY_LIMITS } from '../../support/no-key-limits.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import { open } from '../platform/storage/test-databases.ts';

const clock = new ManualClock(Date.UTC(2026, 0, 31));

describe.each(['SQLite', 'PostgreSQL'])('an identity that looks like a blocked one, on %s', (engine) => {
  it.each([
    ['ada', ' ada '],
    ['ada', 'a\u200bda'],
    ['ada', 'ada\u2060'],
    ['ada', '\u202eada'],
    ['ada', '\uff41da'],
    ['ada', 'ada\u{e0061}'],
    ['ada\u200b', 'ada'],
    ['ada\u200b', 'ada\u200c'],
    ['caf\u00e9', 'cafe\u0301'],
  ])('%j: %j is refused, until the block is lifted', async (blocked, other) => {
    const database = engine === 'SQLite' ? undefined : await createMigratedDatabase();
    const folder = await mkdtemp(join(tmpdir(), 'rtc-blocks-'));
    const store = await open(
      database === undefined ? { sqlitePath: join(folder, 'rtc.sqlite') } : { databaseUrl: database.url },
    );
    try {
      const deps = { store, clock, keyLimits: NO_KEY_LIMITS };
      const subject = { room: 'demo', identity: blocked };
      await blockIdentity(deps, subject, { duration: 'forever', caller: ROOT_CALLER });
      const ensure = async (identity: string) =>
        await ensureNotBlocked((one) => store.blocks.find(one, clock.now()), { room: 'demo', identity });
      await expect(ensure(other)).rejects.toMatchObject({ code: 'participant-blocked' });
      for (const free of ['Ada', 'ada-2', 'a da', 'ad\u0430']) await ensure(free);
      await removeBlock(deps, subject);
      await ensure(other);
    } finally {
      await store.close();
      await database?.close();
      await rm(folder, { recursive: true });
    }
  });
});
