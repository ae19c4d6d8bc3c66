import manifest from '../../../package.json' with { type: 'json' };
import { RtcClient } from '../../client/client.ts';
import type { Observer, RtcClientOptions } from '../../client/client-options.ts';
import { InvalidUrlError } from '../../client/transport/service-url.ts';
import { signRequest } from '../../contract/signing.ts';
import { usageError } from '../errors/cli-error.ts';
import type { Environment, Io } from '../terminal/io.ts';
import { printHint, type Terminal } from '../terminal/terminal.ts';
import { openDispatcher } from './dispatcher.ts';
import { proxyFor } from './proxy.ts';
import { curlObserver, debugObserver, readOnlyObserver } from './request-trace.ts';
import { keepingUnmarked, type SeenResponses } from './seen-responses.ts';
import {
  type ConnectionFlags,
  DEFAULT_URL,
  profileSource,
  readCredentials,
  type Settings,
} from './settings.ts';

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
