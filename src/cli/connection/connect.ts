import manifest from '../../../package.json' with { type: 'json' };
import { RtcClient } from '../../client/client.ts';
import type { Observer, RtcClientOptions } from '../../client/client-options.ts';
import { RtcError } from '../../client/rtc-error.ts';
import type {
  DispatcherRequest,
  DispatcherResponse,
  HttpDispatcher,
} from '../../client/transport/dispatcher-exchange.ts';
import { InvalidUrlError } from '../../client/transport/request-parts.ts';
import { signRequest } from '../../contract/signing.ts';
import { readMembers } from '../../contract/unknown-value.ts';
import { CliError, EXIT, usageError } from '../errors/cli-error.ts';
import type { Environment, Io } from '../terminal/io.ts';
import { printHint, type Terminal } from '../terminal/terminal.ts';
import { curlObserver, debugObserver, readOnlyObserver } from './request-trace.ts';
import {
  type ConnectionFlags,
  DEFAULT_URL,
  profileSource,
  readCredentials,
  type Settings,
} from './settings.ts';
import { openAgent } from './undici-agent.ts';

/** The options of every command, beside its own. */
export type CommonFlags = ConnectionFlags & {
  readonly isDebug: boolean;
  readonly isCurl: boolean;
  /** Time limit of a request that has none of its own. */
  readonly requestTimeoutSeconds: number | undefined;
};

/** The part of a command's context that is needed to connect. */
type Connecting = {
  readonly io: Io;
  readonly terminal: Terminal;
  readonly flags: CommonFlags;
  readonly responses: SeenResponses;
  settings(): Promise<Settings>;
};

/** Opens the client of a command: signs with the resolved settings, and uses the proxy of the environment. */
export async function connect(context: Connecting): Promise<RtcClient> {
  const settings = await context.settings();
  const credentials = await readCredentials(settings);
  return openClient(context, { url: settings.url.value, ...credentials });
}

/**
 * Like connect, but its requests are sent even with --curl: they only read, for information that a command needs before its
 * change.
 */
export async function connectReadOnly(context: Connecting): Promise<RtcClient> {
  const settings = await context.settings();
  const credentials = await readCredentials(settings);
  return openWith(context, { url: settings.url.value, ...credentials }, readOnlyObserver(context.terminal));
}

/** Like connect, with credentials of the caller's choice: doctor sends unsigned requests before there are any. */
export async function openClient(context: Connecting, target: Target): Promise<RtcClient> {
  return openWith(context, target, chooseObserver(context));
}

type Target = Pick<RtcClientOptions, 'url' | 'apiKey' | 'apiSecret'>;

async function openWith(
  context: Connecting,
  target: Target,
  observer: Observer | undefined,
): Promise<RtcClient> {
  try {
    const client = new RtcClient({
      ...target,
      ...createWire(target, context.io.env),
      clock: context.io.clock,
      userAgent: `rtc/${manifest.version}`,
      observer: { ...keepingUnmarked(context.responses, observer), ...slownessObserver(context) },
      ...readTimeout(context.flags),
    });
    // A wrong proxy is an error of the settings, so it is reported before the first request.
    proxyFor(target.url, context.io.env);
    return client;
  } catch (error) {
    if (error instanceof InvalidUrlError) throw badUrl(error, await context.settings());
    throw error;
  }
}

function readTimeout({ requestTimeoutSeconds: seconds }: CommonFlags): Pick<RtcClientOptions, 'timeoutMs'> {
  return seconds === undefined ? {} : { timeoutMs: seconds * 1000 };
}

/** Reports on a terminal what the command is waiting for, and how long. */
function slownessObserver({ terminal }: Connecting): Observer {
  return {
    onSlow: ({ origin }, timeoutMs) =>
      printHint(
        terminal,
        `${origin} has not responded yet; waiting up to ${timeoutMs / 1000} s (--request-timeout) …`,
      ),
  };
}

/** Names the source of the address, because a forgotten variable is hard to find. */
function badUrl({ reason }: InvalidUrlError, { url: { source }, profile }: Settings): Error {
  if (profile === undefined || source !== profileSource(profile))
    return usageError(`${source} ${reason}`, `write it such as ${DEFAULT_URL}`);
  return usageError(`the URL of ${source}: ${reason}`, `correct it: rtc profile add ${profile}`);
}

function chooseObserver(context: Connecting): Observer | undefined {
  if (context.flags.isCurl) return curlObserver(context.terminal);
  return context.flags.isDebug ? debugObserver(context.terminal) : undefined;
}

type Wire = Required<Pick<RtcClientOptions, 'dispatcher' | 'sign'>>;

/** undici and node:crypto start faster than Node's own fetch and WebCrypto. */
export function createWire({ apiSecret }: Pick<Target, 'apiSecret'>, env: Environment): Wire {
  return {
    dispatcher: async () => openDispatcher(env),
    sign: (request) => signRequest(request, apiSecret),
  };
}

/**
 * Sends each request directly or through the proxy of the environment: a service without TLS may name a bucket with TLS.
 * Proxies are rare and their agent is large, so it is loaded for the first request that needs it.
 */
function openDispatcher(env: Environment): HttpDispatcher {
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
    throw explainProxyError(error, request, proxy);
  }
}

/** A proxy of the environment. The URL may contain a password. */
export type ProxySetting = {
  readonly url: URL;
  readonly variable: ProxyVariable;
};

type ProxyVariable = 'HTTPS_PROXY' | 'HTTP_PROXY';

/** Applies if NO_PROXY is not set. */
const THIS_MACHINE = 'localhost,127.0.0.1,::1';

/**
 * Returns the proxy that the environment names for an address; undefined if there is none, or if NO_PROXY lists the address.
 * @throws CliError if the variable is not a URL. The message leaves out its value, because a password may be in it.
 */
export function proxyFor(address: string, env: Environment): ProxySetting | undefined {
  const target = new URL(address);
  const variable = target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = readVariable(variable, env) ?? '';
  if (value === '') return undefined;
  const url = parseProxy(value);
  if (url === undefined) {
    throw usageError(
      `${variable} is not an address such as http://proxy.example.org:3128`,
      'correct it, or unset it; see: rtc help environment',
    );
  }
  return isListed(target, readVariable('NO_PROXY', env) ?? THIS_MACHINE) ? undefined : { url, variable };
}

function readVariable(variable: ProxyVariable | 'NO_PROXY', env: Environment): string | undefined {
  return env[variable.toLowerCase()] ?? env[variable];
}

function parseProxy(value: string): URL | undefined {
  try {
    const url = new URL(value);
    // The agent decodes them, and fails for a percent sign that encodes nothing.
    decodeURIComponent(url.username + url.password);
    return /^https?:$/.test(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns whether a list such as `localhost,.example.org,10.0.0.1:3000` has the host of an address. A name includes the names
 * below it, `*.example.org` only those, and `*` is every host.
 */
function isListed({ protocol, hostname, port }: URL, list: string): boolean {
  const host = withoutBrackets(hostname).replace(/\.$/, '');
  const hostPort = port === '' ? PORTS[protocol] : port;
  return list.split(/[,\s]+/).some((entry) => {
    const [, listed = entry, listedPort = hostPort] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
    if (listed === '' || listedPort !== hostPort) return false;
    if (listed === '*') return true;
    const name = withoutBrackets(listed.toLowerCase())
      .replace(/^\*?\./, '')
      .replace(/\.$/, '');
    return host.endsWith(`.${name}`) || (host === name && !listed.startsWith('*'));
  });
}

const PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.+)\]$/, '$1');
}

/**
 * Every response of the service has X-Request-Id. A response without it may come through a proxy that drops the header, or
 * from another service: then the command fails on its shape, and the error names the address instead of rtc.
 */
export type SeenResponses = {
  unmarked:
    | { readonly origin: string; readonly method: string; readonly path: string; readonly status: number }
    | undefined;
};

/** Returns the observer, which also keeps the last successful response without the service's mark. */
function keepingUnmarked(seen: SeenResponses, observer: Observer = {}): Observer {
  return {
    ...observer,
    onResponse: (request, response, elapsedMs) => {
      const { origin, method, path } = request;
      const { status, headers } = response;
      if (status < 300 && headers['x-request-id'] === undefined)
        seen.unmarked = { origin, method, path, status };
      observer.onResponse?.(request, response, elapsedMs);
    },
  };
}

export function notThisService({ unmarked }: SeenResponses): CliError {
  const { origin = '', method = '', path = '', status = 0 } = unmarked ?? {};
  return new CliError(
    EXIT.failure,
    `${origin} is not this service: it responded to ${method} ${path} with ${status} and data of another shape`,
    'correct its URL: rtc profile show, or --url',
  );
}

/** Returns the error of a proxy, as one that names the proxy and its variable; otherwise the error itself. */
function explainProxyError(
  error: unknown,
  { origin, method, path }: DispatcherRequest,
  { url, variable }: ProxySetting,
): unknown {
  const reason = describeReason(error, origin);
  if (reason === undefined) return error;
  const { hostname } = new URL(origin);
  return new RtcError({
    method,
    // The query of a download grants access to it.
    path: path.replace(/\?.*$/s, ''),
    code: 'unreachable',
    detail: `${origin} cannot be reached: its proxy ${url.origin} ${reason}`,
    hint: { text: `check ${variable} and the service's address, or list ${hostname} in NO_PROXY` },
    cause: error,
  });
}

/** Describes what the proxy did; undefined if the error is one of the connection to the service. */
function describeReason(error: unknown, origin: string): string | undefined {
  const { errors } = readMembers(error);
  // One error for each address of the proxy that was tried.
  const { code, syscall, message } = readMembers(Array.isArray(errors) ? errors[0] : error);
  const status = /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(String(message))?.[1];
  if (status === '407') return 'demands a user and a password (407)';
  if (status !== undefined) return `responded with ${status}`;
  // undici connects to nothing but the proxy. The proxy connects to the service.
  if (code === 'ECONNREFUSED') return 'does not listen (ECONNREFUSED)';
  if (syscall === 'getaddrinfo') return `has a name that cannot be resolved (${code})`;
  if (syscall === 'connect') return `does not respond (${code})`;
  if (code === 'UND_ERR_PRX_TLS') return 'has a certificate for another name';
  if (code === 'UND_ERR_PRX_CONN') return CLOSED;
  const isForwarded = origin.startsWith('http:');
  return isForwarded && (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') ? CLOSED : undefined;
}

const CLOSED = 'closed the connection without a complete response';
