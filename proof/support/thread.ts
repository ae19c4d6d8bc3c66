import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Runs a file on a thread of its own, so that its work does not delay the caller whose latency is measured. */
export async function runOnThread<Answer>(file: string, data: object): Promise<Answer> {
  const worker = new Worker(new URL(file), { workerData: data });
  const [answer] = await once(worker, 'message');
  await worker.terminate();
  return answer;
}
