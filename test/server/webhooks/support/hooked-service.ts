import { freePort } from '../../../support/parts/run-part.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../../../support/service.ts';

/** Settings of a service that may deliver to loopback addresses. */
export const LOOPBACK_ALLOWED = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };

export type Registered = { readonly id: string; readonly secret: string };

/** Registers a webhook on the service. */
export async function register(
  service: TestService,
  url: string,
  events?: readonly string[],
): Promise<Registered> {
  const body = events === undefined ? { url } : { url, events };
  return (await service.call('POST', '/v1/webhooks', { body })).json as Registered;
}

/** Chooses the service's port before it starts, because its media server must know it. */
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
