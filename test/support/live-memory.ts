import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Bytes of buffers that somebody still holds: what waits to be collected does not count, as how much of that there is
 * depends on how busy the machine is.
 */
export function heldBufferBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // The second one waits for what the first has left to sweep beside the program.
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}
