import { freePort } from '../../../support/parts/run-part.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../../../support/service.ts';

/** Settings of a service that delivers to this machine. */
export const LOOPBACK_ALLOWED = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };

export type Registered = { readonly id: string; readonly secret: string };

/** Registers a webhook at the service. */
export async function register(
  service: TestService,
  url: string,
  events?: readonly string[],
): Promise<Registered> {
  const body = events === undefined ? { url } : { url, events };
  return (await service.call('POST', '/v1/webhooks', { body })).json as Registered;
}

/** A port of the service that is known before it starts, as its media server must be told of it. */
export async function chooseServicePort(): Promise<{
  readonly port: number;
  readonly webhookUrl: string;
}> {
  const port = await freePort();
  return { port, webhookUrl: `http://127.0.0.1:${port}/livekit/webhook` };
}

export function startHookedService(port: number, options: TestServiceOptions): Promise<TestService> {
  const environment = { ...LOOPBACK_ALLOWED, PORT: `${port}`, ...options.environment };
  return startTestService({ ...options, environment });
}
