import { RtcError } from '../../../client/rtc-error.ts';
import type { Event } from '../../../contract/events.ts';
import { client } from './client.ts';

/** `ended`: the command line that served the page is gone, and no request can succeed any more. */
export type Connection = 'connecting' | 'live' | 'away' | 'ended';

export type LiveListener = {
  readonly onEvent: (event: Event) => void;
  readonly onConnection: (connection: Connection, error: RtcError | undefined) => void;
};

/**
 * Follows every event from now on, through restarts of the service. A hidden tab holds no connection, because a browser has
 * six for all tabs of the console; it continues from its position when it becomes visible.
 */
export function followEvents({ onEvent, onConnection }: LiveListener): () => void {
  let cursor: string | undefined;
  let running: AbortController | undefined;
  const run = async (signal: AbortSignal): Promise<void> => {
    const events = client.events.follow({
      ...(cursor === undefined ? {} : { cursor }),
      signal,
      onCursor: (reached) => {
        cursor = reached;
        onConnection('live', undefined);
      },
      onInterruption: (error) => onConnection(error.code === 'unreachable' ? 'ended' : 'away', error),
      onResumption: () => onConnection('live', undefined),
    });
    for await (const event of events) onEvent(event);
  };
  const start = (): void => {
    if (document.visibilityState === 'hidden' || running !== undefined) return;
    const controller = new AbortController();
    running = controller;
    run(controller.signal).catch((error: unknown) => {
      if (controller.signal.aborted || !(error instanceof RtcError)) return;
      onConnection(error.code === 'unreachable' ? 'ended' : 'away', error);
      running = undefined;
      // A service with another database does not know the cursor of the former one.
      if (error.code === 'invalid-request') cursor = undefined;
      // The first call of a follower must succeed, so it is repeated until it does.
      window.setTimeout(start, FIRST_CALL_PAUSE_MS);
    });
  };
  const stop = (): void => {
    running?.abort();
    running = undefined;
  };
  const follow = (): void => (document.visibilityState === 'hidden' ? stop() : start());
  document.addEventListener('visibilitychange', follow);
  start();
  return () => {
    document.removeEventListener('visibilitychange', follow);
    stop();
  };
}

const FIRST_CALL_PAUSE_MS = 2_000;
