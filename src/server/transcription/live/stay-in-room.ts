import type { Clock } from '../../platform/clock.ts';
import type { MediaServer } from '../../platform/livekit/media-server.ts';
import type { AudioTrack, RoomAudioSubscriber, RoomConnection } from '../../platform/livekit/room-audio.ts';
import type { Log } from '../../platform/log.ts';

export type StayDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly subscriber: RoomAudioSubscriber;
  readonly mediaServer: Pick<MediaServer, 'listRooms'>;
};

type VisitOptions = {
  readonly room: string;
  /**
   * Participant identity, the same for every worker, so that LiveKit disconnects the previous worker when another one takes
   * over.
   */
  readonly identity: string;
  /**
   * Returns whether our lease is still valid. Without it another worker may be in the room, and joining would disconnect it.
   */
  readonly isHeld: () => boolean;
  readonly onTrack: (track: AudioTrack) => void;
  /** Called with the connection when the room was joined, and with undefined when the connection has ended. */
  readonly onConnection?: (connection: RoomConnection | undefined) => void;
  /** Fields of the log lines. */
  readonly fields: Readonly<Record<string, string>>;
};

/** The signal leaves the room. */
type StayOptions = VisitOptions & { readonly signal: AbortSignal };

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 5_000;

/**
 * Joins the room, and joins again when the connection is lost, as long as the room is open. Meanwhile it calls
 * `checkForGaps` regularly, except when the event loop was blocked.
 * @returns leaves the room; resolves when it is left
 */
export function visitRoom(
  deps: StayDeps,
  options: VisitOptions,
  checkForGaps: () => void,
): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const ended = Promise.all([
    stayInRoom(deps, { ...options, signal }),
    checkRegularly({ clock: deps.clock, check: checkForGaps, signal }),
  ]);
  return async () => {
    ending.abort();
    await ended;
  };
}

/** Never rejects; resolves after the signal is aborted and the room is left. */
async function stayInRoom(deps: StayDeps, options: StayOptions): Promise<void> {
  const { clock, log } = deps;
  const { signal, fields } = options;
  for (let retryMs = FIRST_RETRY_MS; !signal.aborted; retryMs = Math.min(retryMs * 2, MAX_RETRY_MS)) {
    try {
      if (options.isHeld() && (await isRoomOpen(deps, options.room))) {
        await connectOnce(deps, options);
        retryMs = FIRST_RETRY_MS;
      }
    } catch (error) {
      log.warn({ ...fields, err: error }, 'joining a room failed; trying again');
    }
    await clock.sleep(retryMs, signal).catch(() => {});
  }
}

/** LiveKit creates a room when somebody joins it, so we ask first. */
async function isRoomOpen({ mediaServer }: StayDeps, room: string): Promise<boolean> {
  return (await mediaServer.listRooms([room])).length > 0;
}

async function connectOnce({ subscriber, log }: StayDeps, options: StayOptions): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const { room, identity, onTrack, onConnection, fields, signal } = options;
  const connection = await subscriber.join({ room, identity, onTrack, onClosed: resolve });
  onConnection?.(connection);
  log.info(fields, 'listening');
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (!signal.aborted) await closed;
  onConnection?.(undefined);
  await connection.leave();
  log.info({ ...fields, isOver: signal.aborted }, 'left the room');
}

/** How often tracks are checked for missing samples. */
const GAP_CHECK_MS = 100;
/** A check that runs later than this proves nothing: the event loop was blocked, and samples are queued behind it. */
const LATE_GAP_CHECK_MS = GAP_CHECK_MS + 50;

type GapCheck = { readonly clock: Clock; readonly check: () => void; readonly signal: AbortSignal };

/** Resolves after the signal is aborted. */
async function checkRegularly({ clock, check, signal }: GapCheck): Promise<void> {
  while (!signal.aborted) {
    const before = clock.monotonic();
    await clock.sleep(GAP_CHECK_MS, signal).catch(() => {});
    if (clock.monotonic() - before <= LATE_GAP_CHECK_MS) check();
  }
}
