import { RtcClient } from '../../../client/client.ts';

/**
 * The service, through the command line that serves this page. That signs: what this client puts into the headers of
 * credentials is never read, and there is no secret in the browser. Whoever asks decides whether to ask again.
 */
export const client = new RtcClient({
  url: `${location.origin}/api`,
  apiKey: 'console',
  apiSecret: '',
  sign: async () => 'signed-by-the-command-line',
  fetch: (url, init) => fetch(url, init),
  timeoutMs: 45_000,
  maxAttempts: 1,
});
