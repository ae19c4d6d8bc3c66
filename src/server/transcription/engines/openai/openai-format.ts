import type { Log } from '../../../platform/log.ts';

/** Only `verbose_json` has times and probabilities, and the language. Some servers and models have `json` alone. */
export type OpenaiFormat = 'verbose_json' | 'json';

/** Sends a segment, and resolves with the response of whatever status. */
type Send = (format: OpenaiFormat) => Promise<Response>;

/**
 * Asks for `verbose_json` until the server's first response shows whether it has this format. Servers may charge for each
 * second that they are sent: only the first segment is sent a second time after an error, and segments that arrive in the
 * meantime wait for its outcome. Later errors are not caused by the format.
 */
export function createFormatChoice(log: Log): (send: Send) => Promise<Response> {
  let known: OpenaiFormat | undefined;
  let trial: Promise<void> | undefined;
  const tryVerbose = async (send: Send): Promise<Response> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    trial = promise;
    try {
      const response = await send('verbose_json');
      if (isRefusal(response)) known = 'json';
      else if (response.ok) known = 'verbose_json';
      return response;
    } finally {
      trial = undefined;
      resolve();
    }
  };
  return async (send) => {
    if (known !== undefined) return await send(known);
    if (trial !== undefined) {
      await trial;
      // A trial without an outcome, as of a busy server, is repeated by a later segment.
      return await send(known ?? 'json');
    }
    const response = await tryVerbose(send);
    if (!isRefusal(response)) return response;
    await response.body?.cancel();
    const { status } = response;
    log.info({ status }, 'the speech server refuses verbose_json: segments have no words and no confidence');
    return await send('json');
  };
}

function isRefusal({ status }: Response): boolean {
  return status === 400 || status === 422;
}
