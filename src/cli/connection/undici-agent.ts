import type { HttpDispatcher } from '../../client/transport/dispatcher-exchange.ts';

/** Loaded with the first request: `--curl` and `--help` send none. The build takes the Agent alone out of undici. */
export async function openAgent(): Promise<HttpDispatcher> {
  const { Agent } = await import('undici');
  return new Agent();
}
