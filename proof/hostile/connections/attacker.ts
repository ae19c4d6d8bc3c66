import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { ATTACKS, type AttackName, type AttackOptions, type AttackReport } from './attacks.ts';

/** Runs the attack on its own thread, so that its work does not delay the caller whose latency is measured. */
export async function attack(name: AttackName, options: AttackOptions): Promise<AttackReport> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { name, options } });
  const [report] = await once(worker, 'message');
  await worker.terminate();
  return report;
}

if (!isMainThread && parentPort !== null && workerData?.name in ATTACKS) {
  const { name, options }: { readonly name: AttackName; readonly options: AttackOptions } = workerData;
  parentPort.postMessage(await ATTACKS[name](options));
}
