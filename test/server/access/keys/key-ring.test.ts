import { describe, expect, it } from 'vitest';
import { MAX_AGE_MS, openKeyRing } from '../../../../src/server/access/keys/key-ring.ts';
import type { ApiKey, KeyStore, KeyUse } from '../../../../src/server/access/store.ts';
import { ChangeHub } from '../../../../src/server/platform/storage/changes.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const NOW = 1_000_000;

const makeKey = (id: string, changes: Partial<ApiKey> = {}): ApiKey => ({
  id,
  name: id,
  scopes: ['read'],
  rooms: null,
  limits: null,
  secret: `sealed ${id}`,
  createdAt: NOW,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  ...changes,
});

/** A store of keys in memory that can be unavailable, and counts how often it is read. */
function setUp(...keys: ApiKey[]) {
  const changes = new ChangeHub();
  const clock = new ManualClock(NOW);
  const state = {
    keys,
    stored: [] as ApiKey[],
    lookUps: 0,
    reads: 0,
    isUnavailable: false,
    gate: Promise.resolve(),
  };
  const listActive: KeyStore['listActive'] = async () => {
    state.reads += 1;
    const read = state.keys;
    await state.gate;
    if (state.isUnavailable) throw new Error('the database is unavailable');
    return read;
  };
  const find: KeyStore['find'] = async (id) => {
    state.lookUps += 1;
    return state.stored.find((key) => key.id === id);
  };
  const stored: (readonly KeyUse[])[] = [];
  const noteUses: KeyStore['noteUses'] = async (uses) => {
    if (state.isUnavailable) throw new Error('the database is unavailable');
    stored.push(uses);
  };
  const store = { changes, keys: { listActive, find, noteUses } as KeyStore };
  const open = (sealed: string, id: string): string => {
    if (sealed !== `sealed ${id}`) throw new Error('no key opens it');
    return `secret of ${id}`;
  };
  const log = { warn: () => {} };
  return { state, changes, clock, stored, ring: openKeyRing({ store, clock, log, secretBox: { open } }) };
}

describe('the cached keys', () => {
  it('are read once, also for many unknown keys', async () => {
    const { ring, state } = setUp(makeKey('key_one'));
    const found = await Promise.all(
      Array.from({ length: 100 }, (_, n) => ring.find(n === 0 ? 'key_one' : `key_${n}`)),
    );
    expect(found.filter((key) => key !== undefined)).toHaveLength(1);
    expect(await ring.find('key_one')).toMatchObject({
      secret: 'secret of key_one',
      caller: { keyId: 'key_one', scopes: ['read'] },
    });
    expect(state.reads).toBe(1);
  });

  it('are not all that there are: a key that another instance has just made is looked up, a hundred a second at most', async () => {
    const { ring, state, clock } = setUp(makeKey('key_one'));
    await ring.find('key_one');
    state.stored = [makeKey('key_new'), makeKey('key_dead', { secret: null, revokedAt: NOW })];
    expect(await ring.find('key_new')).toMatchObject({ caller: { keyId: 'key_new' } });
    expect(await ring.find('key_dead')).toBeUndefined();
    for (let count = 0; count < 200; count += 1) await ring.find(`key_guessed${count}`);
    expect([state.lookUps, state.reads]).toEqual([100, 1]);
    clock.advance(1000);
    expect(await ring.find('key_new')).toBeDefined();
  });

  it('are read again in time although the clock was set back', async () => {
    const { ring, state, clock } = setUp(makeKey('key_one'));
    await ring.find('key_one');
    state.keys = [];
    clock.setBack(3_600_000);
    clock.advance(MAX_AGE_MS);
    expect(await ring.find('key_one')).toBeUndefined();
  });

  it('are not read for a text without the form of a key', async () => {
    const { ring, state } = setUp();
    for (const text of ['another', 'key_', 'key_a b', `key_${'x'.repeat(65)}`, 'KEY_one', ' key_one'])
      expect(await ring.find(text)).toBeUndefined();
    expect(state.reads).toBe(0);
  });

  it('are read again after a change, and when they are too old', async () => {
    const { ring, state, changes, clock } = setUp(makeKey('key_one'));
    await ring.find('key_one');
    state.keys = [];
    clock.advance(MAX_AGE_MS - 1);
    expect(await ring.find('key_one')).toBeDefined();
    clock.advance(1);
    expect(await ring.find('key_one')).toBeUndefined();
    state.keys = [makeKey('key_two')];
    expect(await ring.find('key_two')).toBeUndefined();
    changes.publish('keys', 'elsewhere');
    expect(await ring.find('key_two')).toBeDefined();
    expect(state.reads).toBe(3);
  });

  it('are read again for a caller who comes after a change that was reported during a read', async () => {
    const { ring, state, changes } = setUp(makeKey('key_one'));
    const { promise, resolve } = Promise.withResolvers<void>();
    state.gate = promise;
    const early = ring.find('key_one');
    state.keys = [];
    changes.publish('keys', 'here');
    const late = ring.find('key_one');
    resolve();
    expect([await early, await late]).toEqual([expect.anything(), undefined]);
    expect(await ring.find('key_one')).toBeUndefined();
  });

  it('are used for five seconds while the database does not respond, and then refused until it is back', async () => {
    const { ring, state, clock } = setUp(makeKey('key_one'));
    await ring.find('key_one');
    state.isUnavailable = true;
    clock.advance(MAX_AGE_MS - 1);
    expect(await ring.find('key_one')).toBeDefined();
    clock.advance(1);
    await expect(ring.find('key_one')).rejects.toThrow('the database is unavailable');
    state.isUnavailable = false;
    expect(await ring.find('key_one')).toBeDefined();
  });

  it('expire at their time, without a read', async () => {
    const { ring, state, clock } = setUp(makeKey('key_one', { expiresAt: NOW + 100 }));
    expect(await ring.find('key_one')).toBeDefined();
    clock.advance(100);
    expect(await ring.find('key_one')).toBeUndefined();
    expect(state.reads).toBe(1);
  });

  it('refuse a key whose secret cannot be opened as unavailable, and not as unknown', async () => {
    const { ring, clock } = setUp(
      makeKey('key_lost', { secret: 'sealed key_one', expiresAt: NOW + 100 }),
      makeKey('key_one'),
    );
    await expect(ring.find('key_lost')).rejects.toMatchObject({ code: 'secret-unavailable', status: 503 });
    expect(await ring.find('key_one')).toBeDefined();
    clock.advance(100);
    expect(await ring.find('key_lost')).toBeUndefined();
  });
});

describe('the last uses of keys', () => {
  const MINUTE = 60_000;
  const NOW_MINUTE = Math.floor(NOW / MINUTE) * MINUTE;

  it('are known here at once, and stored a minute later by one statement for all keys', async () => {
    const { ring, clock, stored } = setUp();
    for (let count = 0; count < 1000; count += 1) ring.noteUse('key_one');
    ring.noteUse('key_two');
    expect(ring.findLastUse({ id: 'key_one', lastUsedAt: null })).toBe(NOW_MINUTE);
    expect(ring.findLastUse({ id: 'key_other', lastUsedAt: 7 })).toBe(7);
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.advance(MINUTE - 1);
    expect([clock.sleeping, stored]).toEqual([1, []]);
    clock.advance(1);
    const used = ['key_one', 'key_two'].map((id) => ({ id, lastUsedAt: NOW_MINUTE }));
    await expect.poll(() => stored).toEqual([used]);
    // Nothing is stored again before the next use.
    await expect.poll(() => clock.sleeping).toBe(0);
    ring.noteUse('key_two');
    await expect.poll(() => clock.sleeping).toBe(1);
    await ring.close();
  });

  it('wait while the database does not respond, and are stored at the end', async () => {
    const { ring, state, clock, stored } = setUp();
    state.isUnavailable = true;
    ring.noteUse('key_one');
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.advance(MINUTE);
    await expect.poll(() => clock.sleeping).toBe(1);
    expect(ring.findLastUse({ id: 'key_one', lastUsedAt: null })).toBe(NOW_MINUTE);
    state.isUnavailable = false;
    await ring.close();
    expect(stored).toEqual([[{ id: 'key_one', lastUsedAt: NOW_MINUTE }]]);
  });
});
