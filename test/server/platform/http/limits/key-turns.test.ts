import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { KeyTurns } from '../../../../../src/server/platform/http/limits/rate-limits.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

/** Requests of keys, of which two of each key may run at a time, and what has begun. */
function startTurns() {
  const clock = new ManualClock(0);
  const turns = new KeyTurns(clock, 2);
  const begun: string[] = [];
  const take = (key: string, name: string, isClosed = false) => {
    const response = Object.assign(new EventEmitter(), { closed: isClosed });
    turns.take(key, response as never, () => begun.push(name));
    return () => {
      response.closed = true;
      response.emit('close');
    };
  };
  return { clock, begun, take };
}

/** Lets what follows a sleep run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('the turns of a key', () => {
  it('lets as many requests of a key begin as may run, and the next one when one of them has ended', () => {
    const { begun, take } = startTurns();
    take('a', 'first');
    const end = take('a', 'second');
    take('a', 'third');
    take('a', 'fourth');
    expect(begun).toEqual(['first', 'second']);
    end();
    expect(begun).toEqual(['first', 'second', 'third']);
  });

  it('lets no key wait for another one', () => {
    const { begun, take } = startTurns();
    for (const name of ['one', 'two', 'three']) take('a', name);
    take('b', 'other');
    expect(begun).toEqual(['one', 'two', 'other']);
  });

  it('gives the turn of a request that runs for long to the next one', async () => {
    const { clock, begun, take } = startTurns();
    const end = take('a', 'first');
    clock.advance(15);
    take('a', 'second');
    for (const name of ['third', 'fourth', 'fifth']) take('a', name);
    clock.advance(10);
    await settle();
    expect(begun).toEqual(['first', 'second', 'third']);
    clock.advance(15);
    await settle();
    expect(begun).toEqual(['first', 'second', 'third', 'fourth']);
    // It has given its turn away already.
    end();
    expect(begun).toHaveLength(4);
    clock.advance(10);
    await settle();
    expect(begun).toHaveLength(5);
  });

  it('gives no turn to a request whose caller is gone', () => {
    const { begun, take } = startTurns();
    for (const name of ['one', 'two']) take('a', name, true);
    take('a', 'three');
    take('a', 'four');
    expect(begun).toEqual(['one', 'two', 'three', 'four']);
  });

  it('ends its waiting when nobody waits', async () => {
    const { clock, begun, take } = startTurns();
    const ends = ['one', 'two', 'three'].map((name) => take('a', name));
    for (const end of ends) end();
    clock.advance(50);
    await settle();
    expect(clock.sleeping).toBe(0);
    take('a', 'four');
    expect(begun).toEqual(['one', 'two', 'three', 'four']);
  });
});
