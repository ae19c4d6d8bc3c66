import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type Receipts = {
  readonly count: number;
  /** The first arrival by room name: performance.timeOrigin + now. */
  readonly arrivals: Readonly<Record<string, number>>;
};

export type BenchReceiver = {
  readonly url: string;
  /** Resolves to what has arrived so far. `keepsArrivals` says whether arrivals are kept from now on. */
  readonly readCounts: (keepsArrivals: boolean) => Promise<Receipts>;
  readonly close: () => void;
};

export async function startReceiver(): Promise<BenchReceiver> {
  const child = fork(fileURLToPath(new URL('receiver-process.ts', import.meta.url)));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}`,
    readCounts: async (keepsArrivals) => {
      child.send({ keepsArrivals });
      const [receipts] = (await once(child, 'message')) as [Receipts];
      return receipts;
    },
    close: () => child.disconnect(),
  };
}
