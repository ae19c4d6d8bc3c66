import { parentPort, workerData } from 'node:worker_threads';
import { readEncryptionKey } from '../../../../src/server/platform/secrets/encryption-keys.ts';

/* One of several simultaneous starts: waits for the gate, then returns the key that it read. */
const { dataDir, gate } = workerData as { readonly dataDir: string; readonly gate: Int32Array };
parentPort?.postMessage('ready');
Atomics.wait(gate, 0, 0);
parentPort?.postMessage(readEncryptionKey(dataDir, { warn: () => undefined }).toString('base64'));
