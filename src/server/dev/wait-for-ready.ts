import { setTimeout as sleep } from 'node:timers/promises';
import { type ChildEnd, childError, type RunningChild } from './binaries/child-process.ts';

const START_TIMEOUT_MS = 20_000;
const POLL_INTERVAL_MS = 50;

/** Waits until `isReady` returns true. Throws when the program ends first or is not ready in time. */
export async function waitForReady(child: RunningChild, isReady: () => Promise<boolean>): Promise<void> {
  let end: ChildEnd | undefined;
  void child.ended.then((how) => {
    end = how;
  });
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (end !== undefined) throw childError(end);
    if (await isReady()) return;
    await sleep(POLL_INTERVAL_MS);
  }
  await child.close();
  throw new Error(`${child.name} did not respond within ${START_TIMEOUT_MS / 1000} s.`);
}
