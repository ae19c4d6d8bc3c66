import { openClient } from '../../connection/connect.ts';
import { describeError } from '../../errors/describe-error.ts';
import type { Context } from '../../framework/context.ts';
import type { DevReady } from '../../terminal/io.ts';
import { printWarning } from '../../terminal/terminal.ts';
import { serveConsole } from '../console/serve-console.ts';
import { type ServedPage, servePage } from '../rooms/page/page-server.ts';
import { userIdentity } from '../rooms/page/seats.ts';
import type { KeptProfile } from './announce.ts';

/**
 * Serves the page of a room named demo. Returns undefined when nobody can join. A page that cannot be served does not stop
 * the service.
 */
export async function serveFirstRoom(context: Context, ready: DevReady): Promise<ServedPage | undefined> {
  if (ready.media.kind === 'embedded') return undefined;
  return await orWarn(context, 'the page of a first room', async () => {
    const identity = userIdentity(context.io.env);
    return await servePage(context.io, {
      client: await openClient(context, ready),
      room: 'demo',
      person: { identity, name: identity, role: 'host' },
      port: 0,
      publicUrl: undefined,
    });
  });
}

/** Serves the console of the service that has just started. */
export async function serveDevConsole(
  context: Context,
  ready: DevReady,
  { profile, option }: KeptProfile,
): Promise<ServedPage | undefined> {
  return await orWarn(context, 'the console', async () =>
    serveConsole(context, {
      client: await openClient(context, ready),
      credentials: ready,
      info: { profile, url: ready.url, isProtected: false, isReadOnly: false, commandOptions: option },
      checkSettings: async () => [],
      port: 0,
    }),
  );
}

async function orWarn(
  { io, terminal }: Context,
  what: string,
  serve: () => Promise<ServedPage>,
): Promise<ServedPage | undefined> {
  try {
    return await serve();
  } catch (error) {
    printWarning(terminal, `${what} is not served: ${describeError(error, io.clock()).cause}`);
    return undefined;
  }
}
