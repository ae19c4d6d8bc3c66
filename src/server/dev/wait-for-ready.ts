import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningChild } from './binaries/child-process.ts';

const START_PATIENCE_MS = 20_000;
const LOOK_AGAIN_MS = 50;

/** Waits for a started program to answer; throws when it ends first, or does not answer in time. */
export async function untilAnswering(
  child: RunningChild,
  isAnswering: () => Promise<boolean>,
): Promise<void> {
  let end: string | undefined;
  void child.ended.then((how) => {
    end = how;
  });
  const deadline = Date.now() + START_PATIENCE_MS;
  while (Date.now() < deadline) {
    if (end !== undefined) throw new Error(end);
    if (await isAnswering()) return;
    await sleep(LOOK_AGAIN_MS);
  }
  await child.close();
  throw new Error(`${child.name} did not answer within ${START_PATIENCE_MS / 1000} s.`);
}
