import { useCallback, useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { LiveTranscription as FollowedTranscription, Segment } from '../../../contract/transcription.ts';
import { client } from '../api/client.ts';
import { writeCommand } from '../parts/command-line.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { Empty, Loading, View } from '../parts/view.tsx';
import { roomLink } from '../rooms/room-facts.ts';
import { ExportLinks } from './export-links.tsx';
import { Transcript } from './transcript.tsx';

/** Live captions of a room. */
export function LiveTranscription({ room }: { readonly room: string }) {
  const { segments, state, error, rename } = useLiveTranscript(room);
  return (
    <View
      title={room}
      note={
        <Status tone={state === 'active' ? 'active' : 'neutral'}>
          {state === 'active' ? 'Being transcribed' : (state ?? 'Live transcription')}
        </Status>
      }
      command={writeCommand('transcription', 'follow', room)}
      actions={
        state === undefined ? undefined : (
          <ExportLinks path={`/v1/rooms/${encodeURIComponent(room)}/transcription`} fileName={room} />
        )
      }
    >
      <p>
        <Link href={roomLink(room)}>The room {room}</Link>
      </p>
      {error !== undefined && <Problem error={error} />}
      {state === undefined && error === undefined && <Loading />}
      {state !== undefined && segments.length === 0 && (
        <Empty title="Nothing was said yet">
          <p>Each sentence appears here as soon as it is recognised.</p>
        </Empty>
      )}
      {segments.length > 0 && (
        <div className="transcript-card">
          <Transcript
            segments={segments}
            onRename={async (speaker, name) => {
              await client.transcription.nameSpeakers(room, { [speaker]: name });
              rename(speaker, name);
            }}
          />
        </div>
      )}
    </View>
  );
}

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
