import type { Dispatcher } from 'undici';
import { sendThrough } from '../../client/dispatcher-exchange.ts';
import type { HttpExchange } from '../../client/http-exchange.ts';

/** Sends with undici, which is loaded with the first request: `--curl` and `--help` send none. */
export function createUndiciExchange(open: () => Promise<Dispatcher> = openAgent): HttpExchange {
  let dispatcher: Promise<Dispatcher> | undefined;
  return {
    send: async (request) => {
      dispatcher ??= open();
      return sendThrough(await dispatcher, request);
    },
    close: async () => {
      // One that could not be opened was reported by the request that wanted it.
      const opened = await dispatcher?.catch(() => undefined);
      await opened?.destroy();
    },
  };
}

async function openAgent(): Promise<Dispatcher> {
  const { Agent } = await import('undici');
  return new Agent();
}
