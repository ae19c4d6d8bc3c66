import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Returns the bytes of buffers that are still referenced. Garbage does not count, because its amount depends on how busy
 * the machine is.
 */
export function heldBufferBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // The second collection waits for the sweeping that the first one left to run concurrently.
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}
