import { RtcClient } from '../../../client/client.ts';
import { authorize } from './console-calls.ts';

/**
 * The client of the service, through the command line that serves this page and signs the requests. The credentials that
 * this client sends are never read, and the browser has no secret. The caller decides about retries.
 */
export const client = new RtcClient({
  url: `${location.origin}/api`,
  apiKey: 'console',
  apiSecret: '',
  sign: async () => 'signed-by-the-command-line',
  fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...authorize() } }),
  timeoutMs: 45_000,
  maxAttempts: 1,
});
