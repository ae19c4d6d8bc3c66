import type { RtcClient } from '../../../client/client.ts';
import { CurlPrinted } from '../../connection/request-trace.ts';
import type { Context } from '../../framework/context.ts';
import { nothing, type Result } from '../../terminal/result.ts';
import { NO_ROOM } from './check-service.ts';

/** In the order of the checks; those of --probe depend on what comes back, and cannot be told beforehand. */
const REQUESTS: readonly (readonly [tells: string, send: (client: RtcClient) => Promise<unknown>])[] = [
  ['address, clock, add-ons', (client) => client.health()],
  ['signature, media server', (client) => client.rooms.list({ limit: 1 })],
  ['API key', (client) => client.keys.self()],
  ['database', (client) => client.ready()],
  ['bucket', (client) => client.checkSelf()],
  ['ingress', (client) => client.ingress.list(NO_ROOM)],
];

/** With --curl: every request that doctor sends, each under what it tells. */
export async function printRequests(context: Context): Promise<Result> {
  const client = await context.client();
  for (const [tells, send] of REQUESTS) {
    context.io.stdout.write(`# ${tells}\n`);
    await send(client).catch((error: unknown) => {
      if (!(error instanceof CurlPrinted)) throw error;
    });
  }
  return nothing();
}
