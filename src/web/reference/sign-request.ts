import { createWebCryptoSigner } from '../../client/transport/sign-request.ts';
import type { Credentials } from './credentials-dialog.ts';

/** Sets the three headers of the signed scheme. The path and the body are signed as the browser sends them. */
export async function signRequest(request: Request, { apiKey, apiSecret }: Credentials): Promise<void> {
  const { pathname, search } = new URL(request.url);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const body = new Uint8Array(await request.clone().arrayBuffer());
  const sign = createWebCryptoSigner(apiSecret);
  const signature = await sign({ method: request.method, path: pathname + search, timestamp, body });
  request.headers.set('X-Api-Key', apiKey);
  request.headers.set('X-Service-Timestamp', timestamp);
  request.headers.set('X-Service-Signature', signature);
}
