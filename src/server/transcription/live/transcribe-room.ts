import type { MediaServer } from '../../platform/livekit/media-server.ts';
import type { HeardTrack, RoomEar, RoomListener } from '../../platform/livekit/room-audio.ts';
import type { Transcription } from '../store.ts';
import { LiveNotes, type LiveNotesDeps } from './segment-writer.ts';
import { TrackTranscriber, type TranscribeTrackDeps, type Words } from './transcribe-track.ts';

/*
 * One transcription in hand: join, hear every track, and join again when the connection is lost, for as long as the
 * room is there. Who ends it is the service (a stop, the end of the room) or a lost lease.
 */

export type ListenDeps = LiveNotesDeps &
  TranscribeTrackDeps & {
    readonly listener: RoomListener;
    readonly mediaServer: Pick<MediaServer, 'listRooms'>;
  };

export type ListenSettings = {
  readonly transcription: Transcription;
  readonly owner: string;
  /** Called once when nothing can be stored any more: stopped, deleted, or in another worker's hands. */
  readonly onRefused: () => void;
  /** Whether the lease has not run out. After that another one may be in the room, whom joining would put out. */
  readonly isHeld: () => boolean;
};

export type Listening = {
  /** The transcription is over: leaves the room at once, and drops what is not stored. */
  readonly end: () => Promise<void>;
  /** Tells what has been said so far, stores it, and leaves. */
  readonly finish: () => Promise<void>;
};

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
/** How often tracks are looked at that tell nothing by themselves. */
const WATCH_MS = 100;
/** A watch that itself comes late says nothing of the tracks: the samples wait behind it. */
const LATE_WATCH_MS = WATCH_MS + 50;

export function listenInRoom(deps: ListenDeps, settings: ListenSettings): Listening {
  const room = new RoomTranscriber(deps, settings);
  const ending = new AbortController();
  const joined = room.stayJoined(ending.signal);
  const watching = room.watch(ending.signal);
  const leave = async (): Promise<void> => {
    ending.abort();
    await Promise.all([joined, watching]);
  };
  return {
    end: async () => {
      room.close();
      await leave();
    },
    finish: async () => {
      await room.finish();
      await leave();
    },
  };
}

class RoomTranscriber {
  readonly #deps: ListenDeps;
  readonly #transcription: Transcription;
  readonly #isHeld: () => boolean;
  readonly #notes: LiveNotes;
  readonly #tracks = new Set<TrackTranscriber>();
  #ear: RoomEar | undefined;
  /** One after the other, so that no interim result comes after its final. */
  #shown: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** What comes from now on is not heard any more. */
  #isOver = false;

  constructor(deps: ListenDeps, { transcription, owner, onRefused, isHeld }: ListenSettings) {
    this.#deps = deps;
    this.#transcription = transcription;
    this.#isHeld = isHeld;
    this.#notes = new LiveNotes(deps, { transcriptionId: transcription.id, owner, onRefused });
  }

  /** Never rejects; resolves when the signal has come and the room is left. */
  async stayJoined(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        if (this.#isHeld() && (await this.#isRoomOpen())) {
          await this.#listenOnce(signal);
          pauseMs = FIRST_PAUSE_MS;
        }
      } catch (error) {
        log.warn(
          { transcriptionId: this.#transcription.id, err: error },
          'joining a room failed; trying again',
        );
      }
      await clock.sleep(pauseMs, signal).catch(() => {});
    }
  }

  async watch(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    while (!signal.aborted) {
      const before = clock.now();
      await clock.sleep(WATCH_MS, signal).catch(() => {});
      if (clock.now() - before > LATE_WATCH_MS) continue;
      for (const track of this.#tracks) track.watch();
    }
  }

  async finish(): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.#tracks].map((track) => track.finish()));
    await this.#notes.stored();
    await this.#shown;
  }

  close(): void {
    this.#isOver = true;
    this.#notes.close();
    for (const track of this.#tracks) track.close();
    this.#tracks.clear();
  }

  /** Joining a room that is not there would open it anew. */
  async #isRoomOpen(): Promise<boolean> {
    return (await this.#deps.mediaServer.listRooms([this.#transcription.room])).length > 0;
  }

  async #listenOnce(signal: AbortSignal): Promise<void> {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { id: transcriptionId, room } = this.#transcription;
    const ear = await this.#deps.listener.join({
      room,
      identity: agentIdentity(transcriptionId),
      onTrack: (track) => void this.#hear(track),
      onClosed: resolve,
    });
    this.#ear = ear;
    this.#deps.log.info({ transcriptionId }, 'listening');
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (!signal.aborted) await closed;
    this.#ear = undefined;
    await ear.leave();
    this.#deps.log.info({ transcriptionId, isOver: signal.aborted }, 'left the room');
  }

  /** Never rejects. */
  async #hear(track: HeardTrack): Promise<void> {
    if (this.#isOver) return;
    const fields = { transcriptionId: this.#transcription.id, trackId: track.trackId };
    const { log } = this.#deps;
    log.debug(fields, 'hearing a track');
    try {
      await this.#hearToItsEnd(track);
    } catch (error) {
      log.error({ ...fields, err: error }, 'a track cannot be heard any more');
    }
  }

  /** Its last words are told then. */
  async #hearToItsEnd(track: HeardTrack): Promise<void> {
    const { id: transcriptionId, language, options } = this.#transcription;
    const onWords = (words: Words): Promise<void> => this.#tell(words);
    const transcriber = new TrackTranscriber(this.#deps, {
      track,
      transcriptionId,
      language,
      options,
      onWords,
    });
    this.#tracks.add(transcriber);
    try {
      for await (const samples of track.audio) {
        if (!this.#isOver) transcriber.hear(samples);
      }
      await transcriber.finish();
    } finally {
      transcriber.close();
      this.#tracks.delete(transcriber);
    }
  }

  async #tell(words: Words): Promise<void> {
    if (words.text === '') return;
    const { track, segmentId: id, text, startedAt, endedAt, confidence, isFinal } = words;
    const { trackId, identity } = track;
    const { language } = this.#transcription;
    if (isFinal) {
      const name = track.name() || null;
      this.#notes.add({ id, trackId, identity, name, text, language, startedAt, endedAt, confidence });
    }
    this.#show({ segmentId: id, trackId, identity, text, language, isFinal });
  }

  /** A caption that cannot be sent, or not in time, is none: the segment is stored all the same. */
  #show(caption: Parameters<RoomEar['showCaption']>[0]): void {
    const ear = this.#ear;
    if (ear === undefined || this.#waiting >= MOST_WAITING) return;
    this.#waiting += 1;
    this.#shown = this.#shown
      .then(() => ear.showCaption(caption))
      .catch((error: unknown) => {
        this.#deps.log.debug(
          { transcriptionId: this.#transcription.id, err: error },
          'a caption was not shown',
        );
      })
      .finally(() => {
        this.#waiting -= 1;
      });
  }
}

/** Captions that wait to be sent. */
const MOST_WAITING = 100;

/** The same for every worker: who takes a transcription over takes the place of who had it. */
function agentIdentity(transcriptionId: string): string {
  return `stt-live-${transcriptionId}`;
}
