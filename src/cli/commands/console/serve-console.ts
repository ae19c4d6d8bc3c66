import manifest from '../../../../package.json' with { type: 'json' };
import type { RtcClient } from '../../../client/client.ts';
import type { Context } from '../../framework/context.ts';
import { readPageFiles } from '../../pages/page-files.ts';
import { checkService } from '../doctor/check-service.ts';
import { type Check, type Credentials, checkAddress } from '../doctor/checks.ts';
import { type ServedPage, servePage } from '../rooms/page/page-server.ts';
import { userIdentity } from '../rooms/page/seats.ts';
import { startConsoleServer } from './console-server.ts';
import { ConsoleSession } from './console-session.ts';
import type { ConsoleInfo, ConsoleTarget } from './console-target.ts';

export type ConsoleRequest = {
  readonly client: RtcClient;
  readonly credentials: Credentials;
  readonly info: Omit<ConsoleInfo, 'version'>;
  /** Checks that precede those of the service, such as that of the settings. */
  readonly checkSettings: () => Promise<readonly Check[]>;
  /** 0 selects a free port. */
  readonly port: number;
};

/** Serves the console of a service. Throws when the page is not built. */
export async function serveConsole(context: Context, request: ConsoleRequest): Promise<ServedPage> {
  const files = await readPageFiles(context.io.launcher, 'console');
  const session = new ConsoleSession();
  const rooms = new OpenedRooms(context, request.client);
  const target: ConsoleTarget = {
    client: request.client,
    info: { ...request.info, version: manifest.version },
    runChecks: (options) => runChecks(context, request, options),
    openRoom: (room) => rooms.linkOf(room),
  };
  const { origin, close } = await startConsoleServer({ target, session, files, port: request.port });
  return {
    origin,
    link: session.linkOf(origin),
    close: async () => {
      await close();
      await rooms.close();
    },
  };
}

async function runChecks(
  context: Context,
  { credentials, info, checkSettings }: ConsoleRequest,
  options: { readonly withProbe: boolean },
): Promise<readonly Check[]> {
  const settings = await checkSettings();
  const address = await checkAddress(context, info.url);
  if (!address.isService) return [...settings, ...address.checks];
  const service = await checkService(context, { url: info.url, ...credentials }, options);
  return [...settings, ...address.checks, ...service];
}

/** The pages of rooms that the console has opened, one for each room, until it ends. */
class OpenedRooms {
  readonly #context: Context;
  readonly #client: RtcClient;
  readonly #pages = new Map<string, Promise<ServedPage>>();

  constructor(context: Context, client: RtcClient) {
    this.#context = context;
    this.#client = client;
  }

  async linkOf(room: string): Promise<string> {
    const page = this.#pages.get(room) ?? this.#serve(room);
    this.#pages.set(room, page);
    try {
      return (await page).link;
    } catch (error) {
      this.#pages.delete(room);
      throw error;
    }
  }

  #serve(room: string): Promise<ServedPage> {
    const { io } = this.#context;
    const identity = userIdentity(io.env);
    return servePage(io, {
      client: this.#client,
      room,
      person: { identity, name: identity, role: 'host' },
      port: 0,
      publicUrl: undefined,
    });
  }

  async close(): Promise<void> {
    for (const page of this.#pages.values()) {
      const served = await page.catch(() => undefined);
      await served?.close();
    }
  }
}
