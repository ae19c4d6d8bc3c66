import { Agent, request } from 'undici';
import type { WebhookRequest } from '../../src/server/webhooks/sender/sender.ts';

/**
 * Posts a prepared delivery `count` times, without signing or storing, `concurrency` at a time. Returns requests per
 * second.
 */
export async function bareLoop(
  { url, headers, body }: WebhookRequest,
  count: number,
  concurrency: number,
): Promise<number> {
  const dispatcher = new Agent({ connections: concurrency });
  let left = count;
  const post = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1;
      const response = await request(url, { dispatcher, method: 'POST', headers, body });
      await response.body.dump();
    }
  };
  // Connections are opened beforehand, because the service also has them when it delivers.
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      const response = await request(url, { dispatcher, method: 'POST', headers, body });
      await response.body.dump();
    }),
  );
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, post));
  const rate = (count * 1000) / (performance.now() - startedAt);
  await dispatcher.close();
  return rate;
}
