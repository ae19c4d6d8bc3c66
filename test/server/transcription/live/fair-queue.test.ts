import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../../src/server/transcription/live/fair-queue.ts';

/** A queue whose work is recorded when its turn begins, and ends when the test says so. */
function controlledWork() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    work: (name: string) => () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    },
    end: async (name: string) => {
      ends.get(name)?.();
      await new Promise<void>((resolve) => setImmediate(resolve));
    },
  };
}

describe('FairQueue', () => {
  it('gives queues their turns, one job at a time each, in the order of each', async () => {
    const queue = new FairQueue({ concurrency: 2 });
    const { begun, work, end } = controlledWork();
    const [ada, bob] = [queue.open(), queue.open()];
    for (const name of ['a1', 'a2', 'a3']) ada.addFinal(work(name));
    for (const name of ['b1', 'b2']) bob.addFinal(work(name));
    expect(begun).toEqual(['a1', 'b1']);
    expect(queue.waiting).toBe(3);
    await end('b1');
    await end('b2');
    expect(begun).toEqual(['a1', 'b1', 'b2']);
    await end('a1');
    await end('a2');
    expect(begun).toEqual(['a1', 'b1', 'b2', 'a2', 'a3']);
  });

  it('counts the seconds of speech that wait, in all queues', async () => {
    const queue = new FairQueue({ concurrency: 1 });
    const { work, end } = controlledWork();
    const [ada, bob] = [queue.open(), queue.open()];
    ada.addFinal(work('a1'), { seconds: 8 });
    ada.addFinal(work('a2'), { seconds: 2.5 });
    bob.addFinal(work('b1'), { seconds: 4 });
    expect(queue.waitingSeconds).toBe(6.5);
    await end('a1');
    expect(queue.waitingSeconds).toBe(2.5);
  });

  it('does not let one queue block another', async () => {
    const queue = new FairQueue({ concurrency: 1 });
    const { begun, work, end } = controlledWork();
    const [ada, bob] = [queue.open(), queue.open()];
    for (const name of ['a1', 'a2', 'a3']) ada.addFinal(work(name));
    bob.addFinal(work('b1'));
    await end('a1');
    expect(begun).toEqual(['a1', 'b1']);
  });

  it('runs finals before interims, and only the latest interim', async () => {
    const queue = new FairQueue({ concurrency: 1 });
    const { begun, work, end } = controlledWork();
    const [ada, bob, carol] = [queue.open(), queue.open(), queue.open()];
    ada.addFinal(work('a1'));
    bob.setInterim(work('b?1'));
    bob.setInterim(work('b?2'));
    carol.addFinal(work('c1'));
    carol.setInterim(work('c?'));
    await end('a1');
    await end('c1');
    await end('b?2');
    expect(begun).toEqual(['a1', 'c1', 'b?2']);
    expect(queue.waiting).toBe(0);
  });

  it('drops an interim when its final arrives', async () => {
    const queue = new FairQueue({ concurrency: 1 });
    const { begun, work, end } = controlledWork();
    const [ada, bob] = [queue.open(), queue.open()];
    ada.addFinal(work('a1'));
    bob.setInterim(work('b?'));
    bob.addFinal(work('b1'));
    await end('a1');
    await end('b1');
    expect(begun).toEqual(['a1', 'b1']);
  });

  it('leaves one slot to finals', async () => {
    const queue = new FairQueue({ concurrency: 2 });
    const { begun, work } = controlledWork();
    const [ada, bob, carol] = [queue.open(), queue.open(), queue.open()];
    ada.setInterim(work('a?'));
    bob.setInterim(work('b?'));
    carol.addFinal(work('c1'));
    expect(begun).toEqual(['a?', 'c1']);
  });

  it('runs early recognitions before interims, and in every slot', async () => {
    const queue = new FairQueue({ concurrency: 2 });
    const { begun, work, end } = controlledWork();
    const [ada, bob, carol, dan] = [queue.open(), queue.open(), queue.open(), queue.open()];
    ada.setInterim(work('a?'));
    bob.setEarly(work('b!'));
    carol.setInterim(work('c?'));
    carol.setEarly(work('c!'));
    dan.setInterim(work('d?'));
    expect(begun).toEqual(['a?', 'b!']);
    await end('b!');
    await end('c!');
    expect(begun).toEqual(['a?', 'b!', 'c!']);
    await end('a?');
    expect(begun).toEqual(['a?', 'b!', 'c!', 'd?']);
  });

  it('delays a final with an early recognition only behind those before it in its queue', async () => {
    const queue = new FairQueue({ concurrency: 1 });
    const { begun, work, end } = controlledWork();
    const [ada, bob] = [queue.open(), queue.open()];
    ada.addFinal(work('a1'));
    bob.addFinal(work('b1'), { isReady: () => true });
    bob.addFinal(work('b2'), { isReady: () => true });
    bob.addFinal(work('b3'));
    ada.addFinal(work('a2'), { isReady: () => true });
    expect(begun).toEqual(['a1', 'b1']);
    await end('b1');
    await end('b2');
    expect(begun).toEqual(['a1', 'b1', 'b2']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b1', 'b2', 'a2', 'b3']);
  });

  it('reports when a queue is drained, and drops the rest when it is closed', async () => {
    const queue = new FairQueue({ concurrency: 1 });
    const { begun, work, end } = controlledWork();
    const [ada, bob] = [queue.open(), queue.open()];
    const done: string[] = [];
    ada.addFinal(work('a1'));
    bob.addFinal(work('b1'));
    bob.addFinal(work('b2'));
    void ada.drained().then(() => done.push('ada'));
    void bob.drained().then(() => done.push('bob'));
    await end('a1');
    expect([begun, done]).toEqual([['a1', 'b1'], ['ada']]);
    bob.close();
    expect(queue.waiting).toBe(0);
    await end('b1');
    expect([begun, done]).toEqual([
      ['a1', 'b1'],
      ['ada', 'bob'],
    ]);
    await queue.open().drained();
  });
});
