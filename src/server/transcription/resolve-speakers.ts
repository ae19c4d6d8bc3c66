import type { Segment } from '../../contract/transcription.ts';
import type { StoredSegment, Transcription } from './store.ts';

/** Segments as they are read: speakers by the map as it is now, seconds from the transcription's start. */
export function toSegments(transcription: Transcription, stored: readonly StoredSegment[]): Segment[] {
  const speakerOf = speakers(transcription);
  return stored.map((segment) => ({
    id: segment.id,
    transcriptionId: transcription.id,
    trackId: segment.trackId,
    participantIdentity: segment.identity,
    speaker: speakerOf(segment),
    text: segment.text,
    language: segment.language,
    start: (segment.startedAt - transcription.originAt) / 1000,
    end: (segment.endedAt - transcription.originAt) / 1000,
    startedAt: new Date(segment.startedAt).toISOString(),
    endedAt: new Date(segment.endedAt).toISOString(),
    final: true,
    confidence: segment.confidence,
  }));
}

/**
 * Live: the map's name of the track, of the identity, then the participant's own name, then the identity. A
 * recording is one mixed track: its speaker is known when the map names exactly one.
 */
function speakers({ kind, speakers: map }: Transcription): (segment: StoredSegment) => string | null {
  if (kind === 'post') {
    const [only, ...others] = new Set(Object.values(map));
    return () => (others.length === 0 ? (only ?? null) : null);
  }
  const named = (key: string | null): string | undefined =>
    key !== null && Object.hasOwn(map, key) ? map[key] : undefined;
  return ({ trackId, identity, name }) => named(trackId) ?? named(identity) ?? (name || identity);
}
