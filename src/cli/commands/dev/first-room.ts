import { openClient } from '../../connection/connect.ts';
import { describeError } from '../../errors/describe-error.ts';
import type { Context } from '../../framework/context.ts';
import type { DevReady } from '../../terminal/io.ts';
import { printWarning } from '../../terminal/terminal.ts';
import { userIdentity } from '../rooms/page/seats.ts';
import { type ServedPage, servePage } from '../rooms/page/serve-page.ts';

/** The page of a room called demo. Undefined where nobody can join; a page that cannot be served stops no service. */
export async function serveFirstRoom(context: Context, ready: DevReady): Promise<ServedPage | undefined> {
  if (ready.media.kind === 'embedded') return undefined;
  try {
    const identity = userIdentity(context.io.env);
    return await servePage(context.io, {
      client: await openClient(context, ready),
      room: 'demo',
      person: { identity, name: identity, role: 'host' },
      port: 0,
      publicUrl: undefined,
    });
  } catch (error) {
    const { cause } = describeError(error, context.io.clock());
    printWarning(context.terminal, `the page of a first room is not served: ${cause}`);
    return undefined;
  }
}
