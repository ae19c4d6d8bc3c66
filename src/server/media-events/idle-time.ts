import type { Clock } from '../platform/clock.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import type { MissingSince } from './missing-since.ts';
import type { MediaEventStores } from './stores.ts';

/**
 * Idle time after which nothing can arrive: the media server repeats an event for 15 s, and an end that it does not report
 * is published after 20 s.
 */
const QUIET_AFTER_MS = 60_000;
/** A stopped recording is checked for this long, because its file may still be stored. */
const STOPPED_RECORDINGS_QUIET_AFTER_MS = 48 * 3_600_000;

type Deps = {
  readonly clock: Clock;
  readonly mediaServer: Pick<MediaServer, 'listRooms'>;
  readonly missingSince: MissingSince;
  readonly store: Pick<MediaEventStores, 'presence' | 'recordings' | 'transcriptions'>;
};

/** Measures the time for which nothing could differ from the media server. */
export class IdleTime {
  #since: number | undefined;

  /**
   * Whether the idle time is long enough that nothing can arrive any more, such as the event of a recording that has just
   * ended.
   */
  async isLongEnough(deps: Deps): Promise<boolean> {
    const at = deps.clock.monotonic();
    this.#since = (await isIdle(deps, deps.clock.now())) ? (this.#since ?? at) : undefined;
    return this.#since !== undefined && at - this.#since >= QUIET_AFTER_MS;
  }
}

/** Takes three small reads, and one list of no rooms. */
async function isIdle({ store, mediaServer, missingSince }: Deps, now: number): Promise<boolean> {
  if (missingSince.rooms.size > 0) return false;
  if (await store.presence.isAnyRoomOpen()) return false;
  if (await store.recordings.isAnyActiveSince(now - STOPPED_RECORDINGS_QUIET_AFTER_MS)) return false;
  if ((await store.transcriptions.listActiveLive()).length > 0) return false;
  return (await mediaServer.listRooms()).length === 0;
}
