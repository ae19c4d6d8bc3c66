import type { Clock } from '../../platform/clock.ts';
import type { Batcher } from '../../platform/jobs/batcher.ts';
import type { AudioTrack, RoomConnection } from '../../platform/livekit/room-audio.ts';
import type { Log } from '../../platform/log.ts';
import { createLeasedWriter } from '../leased-writer.ts';
import type { StoredSegment, Transcription, TranscriptionStores } from '../store.ts';
import { type StayDeps, visitRoom } from './stay-in-room.ts';
import { TrackTranscriber, type TranscribeTrackDeps, type Utterance } from './transcribe-track.ts';

/*
 * Transcribes one room: joins it, transcribes every audio track, and joins again when the connection is lost, as long
 * as the room is open. It ends when the service stops the transcription, when the room ends, or when the lease is lost.
 */

export type RoomTranscriberDeps = SegmentWriterDeps & InterimWriterDeps & TranscribeTrackDeps & StayDeps;

type RoomTranscriberSettings = {
  readonly transcription: Transcription;
  readonly owner: string;
  /** Called once when the store refuses segments: the transcription was stopped, deleted or taken over. */
  readonly onRefused: () => void;
  /**
   * Returns whether our lease is still valid. Without it another worker may be in the room, and joining would disconnect it.
   */
  readonly isHeld: () => boolean;
};

export type RoomTranscription = {
  /** Leaves the room at once and drops segments that are not stored yet. */
  readonly end: () => Promise<void>;
  /** Transcribes and stores everything said so far, then leaves the room. */
  readonly finish: () => Promise<void>;
};

export function startRoomTranscriber(
  deps: RoomTranscriberDeps,
  settings: RoomTranscriberSettings,
): RoomTranscription {
  const room = new RoomTranscriber(deps, settings);
  const leave = room.visit();
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
  readonly #deps: RoomTranscriberDeps;
  readonly #transcription: Transcription;
  readonly #isHeld: () => boolean;
  readonly #writer: Batcher<StoredSegment>;
  readonly #interims: InterimWriter;
  readonly #tracks = new Set<TrackTranscriber>();
  #connection: RoomConnection | undefined;
  /** Captions are sent one at a time, so that no interim caption arrives after its final one. */
  #captionsSent: Promise<void> = Promise.resolve();
  #queuedCaptions = 0;
  /** Samples that arrive after this is set are ignored. */
  #isEnded = false;

  constructor(
    deps: RoomTranscriberDeps,
    { transcription, owner, onRefused, isHeld }: RoomTranscriberSettings,
  ) {
    this.#deps = deps;
    this.#transcription = transcription;
    this.#isHeld = isHeld;
    this.#writer = createSegmentWriter(deps, { transcriptionId: transcription.id, owner, onRefused });
    this.#interims = new InterimWriter(deps, { transcriptionId: transcription.id, owner });
  }

  /** Returns how to leave the room. */
  visit(): () => Promise<void> {
    const { id: transcriptionId, room } = this.#transcription;
    const options = {
      room,
      identity: agentIdentity(transcriptionId),
      isHeld: this.#isHeld,
      fields: { transcriptionId },
      onTrack: (track: AudioTrack) => void this.#transcribeTrack(track),
      onConnection: (connection: RoomConnection | undefined) => {
        this.#connection = connection;
      },
    };
    return visitRoom(this.#deps, options, () => {
      for (const track of this.#tracks) track.checkForGap();
    });
  }

  async finish(): Promise<void> {
    this.#isEnded = true;
    await Promise.all([...this.#tracks].map((track) => track.finish()));
    await this.#writer.close();
    await this.#interims.close();
    await this.#captionsSent;
  }

  close(): void {
    this.#isEnded = true;
    this.#writer.abandon();
    void this.#interims.close();
    for (const track of this.#tracks) track.close();
    this.#tracks.clear();
  }

  /** Never rejects. */
  async #transcribeTrack(track: AudioTrack): Promise<void> {
    if (this.#isEnded) return;
    const fields = { transcriptionId: this.#transcription.id, trackId: track.trackId };
    const { log } = this.#deps;
    log.debug(fields, 'transcribing a track');
    try {
      await this.#transcribeToEnd(track);
    } catch (error) {
      log.error({ ...fields, err: error }, 'transcribing a track failed');
    }
  }

  async #transcribeToEnd(track: AudioTrack): Promise<void> {
    const { id: transcriptionId, language, options } = this.#transcription;
    const onUtterance = (utterance: Utterance): Promise<void> => this.#emit(utterance);
    const transcriber = new TrackTranscriber(this.#deps, {
      track,
      transcriptionId,
      language,
      options,
      onUtterance,
    });
    this.#tracks.add(transcriber);
    try {
      for await (const samples of track.audio) {
        if (!this.#isEnded) transcriber.push(samples);
      }
      await transcriber.finish();
    } finally {
      transcriber.close();
      this.#tracks.delete(transcriber);
    }
  }

  async #emit(utterance: Utterance): Promise<void> {
    if (utterance.text === '') return;
    const {
      track,
      segmentId: id,
      text,
      language,
      startedAt,
      endedAt,
      confidence,
      words,
      isFinal,
    } = utterance;
    const { trackId, identity } = track;
    const { options } = this.#transcription;
    const name = track.name() || null;
    const about = { id, trackId, identity, name, text, language, confidence };
    const segment = { ...about, startedAt, endedAt, words, overlapMs: null };
    if (isFinal) {
      this.#interims.discard(trackId);
      void this.#writer.add(segment);
    } else {
      this.#interims.put(segment);
    }
    if (options.captions) this.#queueCaption({ segmentId: id, trackId, identity, text, language, isFinal });
  }

  /** A caption that cannot be sent is dropped: its segment is stored in any case. */
  #queueCaption(caption: Parameters<RoomConnection['sendCaption']>[0]): void {
    const connection = this.#connection;
    if (connection === undefined || this.#queuedCaptions >= MAX_QUEUED_CAPTIONS) return;
    this.#queuedCaptions += 1;
    this.#captionsSent = this.#captionsSent
      .then(() => connection.sendCaption(caption))
      .catch((error: unknown) => {
        this.#deps.log.debug(
          { transcriptionId: this.#transcription.id, err: error },
          'a caption was not sent',
        );
      })
      .finally(() => {
        this.#queuedCaptions -= 1;
      });
  }
}

/** Further captions are dropped: the connection is too slow for them. */
const MAX_QUEUED_CAPTIONS = 100;

/** Every worker uses the same identity, so that LiveKit disconnects the previous one when a worker takes over. */
function agentIdentity(transcriptionId: string): string {
  return `stt-live-${transcriptionId}`;
}

type InterimWriterDeps = {
  readonly store: { readonly transcriptions: Pick<TranscriptionStores['transcriptions'], 'putInterims'> };
  readonly clock: Clock;
  readonly log: Log;
};

type InterimWriterSettings = { readonly transcriptionId: string; readonly owner: string };

/**
 * Stores the latest interim result of each track. While one write runs, later results replace earlier ones, so that a
 * slow database gets fewer writes. A write that fails is dropped: the next result replaces it soon.
 */
class InterimWriter {
  readonly #deps: InterimWriterDeps;
  readonly #settings: InterimWriterSettings;
  readonly #pending = new Map<string, StoredSegment>();
  #writing: Promise<void> | undefined;

  constructor(deps: InterimWriterDeps, settings: InterimWriterSettings) {
    this.#deps = deps;
    this.#settings = settings;
  }

  put(segment: StoredSegment): void {
    this.#pending.set(segment.trackId ?? '', segment);
    this.#writing ??= this.#write();
  }

  /** Drops the interim result of a track, whose segment has become final. */
  discard(trackId: string): void {
    this.#pending.delete(trackId);
  }

  /** Drops what is not stored, and resolves when the running write has ended. */
  async close(): Promise<void> {
    this.#pending.clear();
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { store, clock, log } = this.#deps;
    const { transcriptionId, owner } = this.#settings;
    while (this.#pending.size > 0) {
      const segments = [...this.#pending.values()];
      this.#pending.clear();
      try {
        await store.transcriptions.putInterims(transcriptionId, owner, { segments, updatedAt: clock.now() });
      } catch (error) {
        log.debug({ transcriptionId, err: error }, 'storing interim results failed');
      }
    }
    this.#writing = undefined;
  }
}

type SegmentWriterDeps = {
  readonly store: { readonly transcriptions: Pick<TranscriptionStores['transcriptions'], 'addSegments'> };
  readonly clock: Clock;
  readonly log: Log;
};

type SegmentWriterSettings = InterimWriterSettings & Pick<RoomTranscriberSettings, 'onRefused'>;

export function createSegmentWriter(
  { store, clock, log }: SegmentWriterDeps,
  { transcriptionId, owner, onRefused }: SegmentWriterSettings,
): Batcher<StoredSegment> {
  return createLeasedWriter<StoredSegment>({
    clock,
    log,
    fields: { transcriptionId },
    failure: 'storing segments failed; trying again',
    store: async (segments) => {
      const isStored = await store.transcriptions.addSegments(transcriptionId, owner, segments);
      if (isStored) log.debug({ transcriptionId, ids: segments.map(({ id }) => id) }, 'stored segments');
      return isStored;
    },
    onRefused,
  });
}
