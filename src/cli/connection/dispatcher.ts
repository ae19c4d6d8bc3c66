import type {
  DispatcherRequest,
  DispatcherResponse,
  HttpDispatcher,
} from '../../client/transport/dispatcher-exchange.ts';
import type { Environment } from '../terminal/io.ts';
import { type ProxySetting, proxyFor } from './proxy.ts';
import { openAgent } from './undici-agent.ts';

/**
 * Sends each request directly or through the proxy of the environment: a service without TLS may name a bucket with TLS.
 * Proxies are rare and their agent is large, so it is loaded for the first request that needs it.
 */
export function openDispatcher(env: Environment): HttpDispatcher {
  const agents = new Map<string, Promise<HttpDispatcher>>();
  const agentFor = (proxy: ProxySetting | undefined): Promise<HttpDispatcher> => {
    const key = proxy?.url.href ?? '';
    const agent = agents.get(key) ?? (proxy === undefined ? openAgent() : openProxyAgent(proxy));
    agents.set(key, agent);
    return agent;
  };
  return {
    request: async (request) => {
      const proxy = proxyFor(request.origin, env);
      const agent = await agentFor(proxy);
      return proxy === undefined ? await agent.request(request) : await requestBy(agent, request, proxy);
    },
    destroy: async () => {
      await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy?.()));
    },
  };
}

async function openProxyAgent({ url }: ProxySetting): Promise<HttpDispatcher> {
  const { ProxyAgent } = await import('undici');
  return new ProxyAgent(url.href);
}

async function requestBy(
  agent: HttpDispatcher,
  request: DispatcherRequest,
  proxy: ProxySetting,
): Promise<DispatcherResponse> {
  try {
    return await agent.request(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    const { explainProxyError } = await import('./proxy-error.ts');
    throw explainProxyError(error, request, proxy);
  }
}
