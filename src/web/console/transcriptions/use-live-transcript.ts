import { useCallback, useEffect, useState } from 'react';
import type { LiveTranscription as FollowedTranscription, Segment } from '../../../contract/transcription.ts';
import { client } from '../api/client.ts';

type LiveTranscript = {
  readonly segments: readonly Segment[];
  /** Undefined until the first response. */
  readonly state: FollowedTranscription['status'] | undefined;
  readonly error: unknown;
};

const NOTHING: LiveTranscript = { segments: [], state: undefined, error: undefined };

/** The segments of a room as they are stored, until its transcription is stopped. */
export function useLiveTranscript(room: string) {
  const [transcript, setTranscript] = useState(NOTHING);
  useEffect(() => {
    const controller = new AbortController();
    setTranscript(NOTHING);
    const follow = async (): Promise<void> => {
      const followed = client.transcription.follow(room, {
        signal: controller.signal,
        onStart: ({ status }) => setTranscript((before) => ({ ...before, state: status })),
      });
      for await (const segment of followed) {
        setTranscript((before) => ({ ...before, segments: [...before.segments, segment] }));
      }
      setTranscript((before) => ({ ...before, state: 'stopped' }));
    };
    follow().catch((error: unknown) => {
      if (!controller.signal.aborted) setTranscript((before) => ({ ...before, error }));
    });
    return () => controller.abort();
  }, [room]);
  const rename = useCallback((speaker: string, name: string): void => {
    const isOf = ({ participantIdentity, trackId }: Segment): boolean =>
      (participantIdentity ?? trackId) === speaker;
    setTranscript((before) => ({
      ...before,
      segments: before.segments.map((segment) => (isOf(segment) ? { ...segment, speaker: name } : segment)),
    }));
  }, []);
  return { ...transcript, rename };
}
