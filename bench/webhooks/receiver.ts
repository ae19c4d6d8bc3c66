import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type Receipts = {
  readonly count: number;
  /** By room name, the first arrival: performance.timeOrigin + now. */
  readonly arrivals: Readonly<Record<string, number>>;
};

export type BenchReceiver = {
  readonly url: string;
  /** What came so far; from now on arrivals are kept, or not. */
  readonly ask: (keepsArrivals: boolean) => Promise<Receipts>;
  readonly close: () => void;
};

export async function startReceiver(): Promise<BenchReceiver> {
  const child = fork(fileURLToPath(new URL('receiver-process.ts', import.meta.url)));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}`,
    ask: async (keepsArrivals) => {
      child.send({ keepsArrivals });
      const [receipts] = (await once(child, 'message')) as [Receipts];
      return receipts;
    },
    close: () => child.disconnect(),
  };
}
