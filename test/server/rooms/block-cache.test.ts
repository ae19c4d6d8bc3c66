import { describe, expect, it } from 'vitest';
import { ChangeHub } from '../../../src/server/platform/storage/changes.ts';
import { MAX_AGE_MS, MAX_WAIT_MS } from '../../../src/server/platform/storage/row-cache.ts';
import { MAX_CACHED_BLOCKS, openBlockCache } from '../../../src/server/rooms/blocks/blocks.ts';
import type { Block, BlockStore } from '../../../src/server/rooms/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const NOW = 1_000_000;
const ADA = { room: 'demo', identity: 'ada' };

const findBlock = (identity: string, changes: Partial<Block> = {}): Block => ({
  room: 'demo',
  identity,
  createdAt: NOW,
  blockedUntil: null,
  ...changes,
});

/** A store of blocks in memory, which can be unavailable or hang, and counts how often it is read. */
function setUp(...blocks: Block[]) {
  const changes = new ChangeHub();
  const clock = new ManualClock(NOW);
  const state = { blocks, reads: 0, pages: 0, singleReads: 0, isUnavailable: false, gate: Promise.resolve() };
  /** The last list that was read, of which `listChanged` returns the differences. */
  let told = new Map<string, Block>();
  let change = 0;
  const reading = async (): Promise<Block[]> => {
    state.reads += 1;
    const read = state.blocks;
    await state.gate;
    if (state.isUnavailable) throw new Error('the database is unavailable');
    return read;
  };
  const listLasting: BlockStore['listLasting'] = async ({ after, limit }) => {
    if (after === undefined) {
      state.pages = 0;
      const read = await reading();
      told = new Map(read.map((block) => [block.identity, block]));
    }
    state.pages += 1;
    const all = [...told.values()];
    const start = all.findIndex(({ identity }) => identity === after?.identity) + 1;
    return all.slice(start, start + limit);
  };
  const listChanged: BlockStore['listChanged'] = async () => {
    const now = new Map((await reading()).map((block) => [block.identity, block]));
    const lifted = [...told.values()].filter(({ identity }) => !now.has(identity));
    const changed = [...now.values()].filter((block) => told.get(block.identity) !== block);
    told = now;
    return [...lifted.map((block) => ({ ...block, blockedUntil: NOW })), ...changed].map((block) => {
      change += 1;
      return { ...block, changeNumber: change };
    });
  };
  const find: BlockStore['find'] = async ({ identity }) => {
    state.singleReads += 1;
    return state.blocks.find((block) => block.identity === identity);
  };
  const store = {
    changes,
    blocks: { listLasting, listChanged, lastChange: async () => change, find } as BlockStore,
  };
  return { state, changes, clock, ...openBlockCache({ store, clock }) };
}

describe('the cached blocks', () => {
  it('are read once for many tokens', async () => {
    const { find, state } = setUp(findBlock('ada'));
    const found = await Promise.all(
      ['ada', 'bruno', 'ada'].map((identity) => find({ room: 'demo', identity })),
    );
    expect(found.map((block) => block?.identity)).toEqual(['ada', undefined, 'ada']);
    expect(await find({ room: 'other', identity: 'ada' })).toBeUndefined();
    expect(state.reads).toBe(1);
  });

  it('are read completely once, and then only what has changed', async () => {
    const many = Array.from({ length: 2_500 }, (_, index) => findBlock(`person-${index}`));
    const { find, state, changes } = setUp(...many);
    expect(await find({ room: 'demo', identity: 'person-2499' })).toBeDefined();
    expect(state.pages).toBe(3);
    state.blocks = [...many.slice(1), findBlock('ada')];
    changes.publish('blocks', 'elsewhere');
    expect(await find(ADA)).toBeDefined();
    expect(await find({ room: 'demo', identity: 'person-0' })).toBeUndefined();
    expect(await find({ room: 'demo', identity: 'person-1' })).toBeDefined();
    expect(state.pages).toBe(3);
  });

  it('distinguish a room and an identity from others of the same letters', async () => {
    const { find } = setUp(findBlock('ada'));
    expect(await find({ room: 'dem', identity: 'oada' })).toBeUndefined();
  });

  it('expire in time', async () => {
    const { find, clock } = setUp(findBlock('ada', { blockedUntil: NOW + 100 }));
    expect(await find(ADA)).toBeDefined();
    clock.advance(100);
    expect(await find(ADA)).toBeUndefined();
  });

  it.each(['here', 'elsewhere'] as const)('are read again when one was changed %s', async (origin) => {
    const { find, state, changes } = setUp();
    expect(await find(ADA)).toBeUndefined();
    state.blocks = [findBlock('ada')];
    changes.publish('blocks', origin);
    expect(await find(ADA)).toBeDefined();
  });

  it('are read again after a while without a notification, also when the clock was set back', async () => {
    const { find, state, clock } = setUp();
    await find(ADA);
    state.blocks = [findBlock('ada')];
    clock.setBack(3_600_000);
    clock.advance(MAX_AGE_MS - 1);
    expect(await find(ADA)).toBeUndefined();
    clock.advance(1);
    expect(await find(ADA)).toBeDefined();
  });

  it('are not used when they were read before a change in the meantime', async () => {
    const { find, state, changes } = setUp();
    let open = (): void => {};
    state.gate = new Promise((resolve) => {
      open = resolve;
    });
    const early = find(ADA);
    state.blocks = [findBlock('ada')];
    changes.publish('blocks', 'here');
    const late = find(ADA);
    open();
    await early;
    expect(await late).toBeDefined();
    expect(await find(ADA)).toBeDefined();
    expect(state.reads).toBe(2);
  });

  it('are read one by one when there are too many to cache', async () => {
    const many = Array.from({ length: MAX_CACHED_BLOCKS + 1 }, (_, index) => findBlock(`person-${index}`));
    const { find, state } = setUp(...many);
    expect(await find({ room: 'demo', identity: 'person-7' })).toBeDefined();
    expect(await find(ADA)).toBeUndefined();
    expect([state.reads, state.singleReads]).toEqual([1, 2]);
  });
});

describe('while the database does not respond', () => {
  it('the last cached blocks apply, and the database is asked once a second', async () => {
    const { find, state, clock, changes } = setUp(findBlock('ada'));
    await find(ADA);
    state.isUnavailable = true;
    changes.publishAll('elsewhere');
    for (const _ of [1, 2, 3]) expect(await find(ADA)).toBeDefined();
    expect(state.reads).toBe(2);
    clock.advance(MAX_WAIT_MS);
    expect(await find({ room: 'demo', identity: 'bruno' })).toBeUndefined();
    expect(state.reads).toBe(3);
    state.isUnavailable = false;
    state.blocks = [];
    clock.advance(MAX_WAIT_MS);
    expect(await find(ADA)).toBeUndefined();
  });

  it('the cached blocks apply that were read while a change elsewhere was notified, as at the start', async () => {
    const { find, state, changes } = setUp(findBlock('ada'));
    const first = find(ADA);
    changes.publish('blocks', 'elsewhere');
    expect(await first).toBeDefined();
    state.isUnavailable = true;
    expect(await find(ADA)).toBeDefined();
  });

  it('a token waits no longer than a second for the database', async () => {
    const { find, state, clock } = setUp(findBlock('ada'));
    await find(ADA);
    state.gate = new Promise(() => {});
    clock.advance(MAX_AGE_MS);
    const found = find(ADA);
    clock.advance(MAX_WAIT_MS);
    expect(await found).toBeDefined();
    expect(await find(ADA)).toBeDefined();
  });

  it('a token is refused when no blocks are cached, or when this process has changed them since', async () => {
    const { find, state, changes } = setUp();
    state.isUnavailable = true;
    await expect(find(ADA)).rejects.toThrow('the database is unavailable');
    state.isUnavailable = false;
    await find(ADA);
    changes.publish('blocks', 'here');
    state.isUnavailable = true;
    await expect(find(ADA)).rejects.toThrow('the database is unavailable');
  });
});
