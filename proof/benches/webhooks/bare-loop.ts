import { Agent, request } from 'undici';
import {
  STANDARD_SIGNATURE_HEADER,
  signBody,
  signStandard,
  WEBHOOK_ID_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
  type WebhookSigningKeys,
} from '../../../src/contract/webhook-signing.ts';
import type { WebhookRequest } from '../../../src/server/webhooks/sender/sender.ts';

export type BareLoad = { readonly count: number; readonly concurrency: number };

/**
 * Sends the requests that `next` returns, without storing anything, `concurrency` at a time. Reads each response and checks
 * its status. Returns requests per second.
 */
export async function bareLoop(
  next: () => WebhookRequest,
  { count, concurrency }: BareLoad,
): Promise<number> {
  const dispatcher = new Agent({ connections: concurrency });
  const post = async (): Promise<void> => {
    const { url, headers, body } = next();
    const response = await request(url, { dispatcher, method: 'POST', headers, body });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`the receiver responded with ${response.statusCode}`);
  };
  let left = count;
  const postAll = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1;
      await post();
    }
  };
  // Connections are opened beforehand, because the service also has them when it delivers.
  await Promise.all(Array.from({ length: concurrency }, post));
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, postAll));
  const rate = (count * 1000) / (performance.now() - startedAt);
  await dispatcher.close();
  return rate;
}

/** Signs the request again as a delivery is signed: with both signatures and the present time. */
export function signedAgain(
  { url, headers, body }: WebhookRequest,
  keys: WebhookSigningKeys,
): WebhookRequest {
  const timestamp = Math.floor(Date.now() / 1000);
  const id = headers[WEBHOOK_ID_HEADER] ?? '';
  return {
    url,
    body,
    headers: {
      ...headers,
      [WEBHOOK_SIGNATURE_HEADER]: signBody(body, keys),
      [WEBHOOK_TIMESTAMP_HEADER]: String(timestamp),
      [STANDARD_SIGNATURE_HEADER]: signStandard({ id, timestamp, body }, keys),
    },
  };
}
