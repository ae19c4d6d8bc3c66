import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type BenchReceiver = {
  readonly url: string;
  /** Resolves to the number of requests that have arrived. */
  readonly countArrived: () => Promise<number>;
  readonly close: () => void;
};

export async function startReceiver(): Promise<BenchReceiver> {
  const child = fork(fileURLToPath(new URL('receiver-process.ts', import.meta.url)));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}`,
    countArrived: async () => {
      child.send('count');
      const [count] = (await once(child, 'message')) as [number];
      return count;
    },
    close: () => child.disconnect(),
  };
}
