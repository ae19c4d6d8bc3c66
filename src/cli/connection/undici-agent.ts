import type { HttpDispatcher } from '../../client/transport/dispatcher-exchange.ts';
import { acceptContinue } from '../../contract/http-responses.ts';

/**
 * Loaded with the first request: `--curl` and `--help` send none. A file of its own, because the build decides by the
 * importing file which part of undici it takes: connect.ts gets the proxy agent, and every other file the Agent.
 */
export async function openAgent(): Promise<HttpDispatcher> {
  const { Agent, buildConnector } = await import('undici');
  return new Agent({ connect: acceptContinue(buildConnector({})) });
}
