import type { Segment } from '../../contract/transcription.ts';
import type { StoredSegment, StoredWord, Transcription } from './store.ts';

/** Converts final segments to the API's form: speakers by the current map, times in seconds from the start. */
export function toSegments(transcribed: Transcribed, stored: readonly StoredSegment[]): Segment[] {
  const findSpeaker = speakers(transcribed);
  return stored.map((segment) => wireSegment(transcribed.transcription, segment, findSpeaker(segment)));
}

/** Converts one final segment. */
export function toSegment({ segment, ...found }: FoundSegment): Segment {
  return wireSegment(found.transcription, segment, speakers(found)(segment));
}

type FoundSegment = Transcribed & { readonly segment: StoredSegment };

type Transcribed = {
  readonly transcription: Transcription;
  /** Whether any segment of the transcription is of a known track. */
  readonly hasTracks: boolean;
};

function wireSegment(
  { id: transcriptionId, originAt }: Transcription,
  segment: StoredSegment,
  speaker: string | null,
): Segment {
  return {
    id: segment.id,
    transcriptionId,
    trackId: segment.trackId,
    participantIdentity: segment.identity,
    speaker,
    text: segment.text,
    language: segment.language,
    start: (segment.startedAt - originAt) / 1000,
    end: (segment.endedAt - originAt) / 1000,
    startedAt: new Date(segment.startedAt).toISOString(),
    endedAt: new Date(segment.endedAt).toISOString(),
    final: true,
    confidence: segment.confidence,
    ...(segment.words === undefined ? {} : { words: segment.words.map((word) => wireWord(word, originAt)) }),
    ...(isOverlap(segment) ? { overlap: true as const } : {}),
  };
}

function wireWord({ text, startedAt, endedAt, confidence }: StoredWord, originAt: number) {
  return { text, start: (startedAt - originAt) / 1000, end: (endedAt - originAt) / 1000, confidence };
}

/** A shorter overlap is ignored, because speech detectors are not exact at the end of a turn. */
export const OVERLAP_MS = 200;

function isOverlap({ overlapMs }: StoredSegment): boolean {
  return overlapMs !== null && overlapMs >= OVERLAP_MS;
}

/**
 * Resolves the speaker of a segment: the map's name for the track, else for the identity, else the participant's own
 * name, else the identity. A recording to which no worker listened is one mixed track, whose speaker is known only when
 * the map has exactly one name.
 */
function speakers({ transcription, hasTracks }: Transcribed): (segment: StoredSegment) => string | null {
  const { kind, speakers: map } = transcription;
  if (kind === 'post' && !hasTracks) {
    const [only, ...others] = new Set(Object.values(map));
    return () => (others.length === 0 ? (only ?? null) : null);
  }
  const named = (key: string | null): string | undefined =>
    key !== null && Object.hasOwn(map, key) ? map[key] : undefined;
  return ({ trackId, identity, name }) => named(trackId) ?? named(identity) ?? (name || identity);
}
