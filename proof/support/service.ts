import { createFleet, type Fleet, type FleetInstance } from '../../test/server/webhooks/support/instance.ts';
import { createSignedClient, type SignedClient } from './signed-client.ts';
import type { ProofContext } from '../part.ts';

/** One instance of the service in a process of its own, with a client that signs its requests. */
export type RunningService = {
  readonly fleet: Fleet;
  readonly instance: FleetInstance;
  readonly client: SignedClient;
};

type ServiceOptions = {
  readonly environment: Readonly<Record<string, string>>;
  readonly connections: number;
  /** Any free port by default. */
  readonly port?: number;
};

/** Starts the service. It ends with the part. */
export async function startService(
  { cleanUp }: Pick<ProofContext, 'cleanUp'>,
  { environment, connections, port }: ServiceOptions,
): Promise<RunningService> {
  const fleet = await createFleet(environment);
  cleanUp(fleet.close);
  const instance = await fleet.start(port === undefined ? {} : { PORT: `${port}` });
  const client = createSignedClient(instance.url, fleet.keys, connections);
  cleanUp(client.close);
  return { fleet, instance, client };
}

type MediaServerAccess = { readonly url: string; readonly apiKey: string; readonly apiSecret: string };

/** The settings by which the service reaches a media server. */
export function mediaServerSettings({ url, apiKey, apiSecret }: MediaServerAccess) {
  return { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret };
}
