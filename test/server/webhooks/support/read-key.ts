import { parentPort, workerData } from 'node:worker_threads';
import { readEncryptionKey } from '../../../../src/server/webhooks/secrets/encryption-keys.ts';

/* One of several starts at the same moment: waits for the gate, then tells the key that it got. */
const { dataDir, gate } = workerData as { readonly dataDir: string; readonly gate: Int32Array };
parentPort?.postMessage('ready');
Atomics.wait(gate, 0, 0);
parentPort?.postMessage(readEncryptionKey(dataDir, { warn: () => undefined }).toString('base64'));
