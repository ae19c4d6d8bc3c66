import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** Called with the whole body of a request, as text. */
export type WholeBodyHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
) => void | Promise<void>;

/**
 * Creates an HTTP server that reads each body before its handler is called. A sender may be killed while it sends, like a
 * media server at the end of a test. Such a request is ignored.
 */
export function createWholeBodyServer(handle: WholeBodyHandler): Server {
  return createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body !== undefined) await handle(request, response, body);
  });
}
