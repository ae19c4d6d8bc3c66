import { useQuery } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { LiveTranscription as FollowedTranscription, Segment } from '../../../contract/transcription.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { FileLink } from '../parts/file-link.tsx';
import { Problem } from '../parts/problem.tsx';
import { isUnderWay, Status, TranscriptionStatus } from '../parts/status.tsx';
import { Empty, Loading, View } from '../parts/view.tsx';
import { roomLink } from '../rooms/room-facts.ts';
import { Transcript } from './transcript.tsx';

const PROGRESS_MS = 1_000;

/** The transcript of a recording. */
export function TranscriptionView({ id }: { readonly id: string }) {
  const [parameters] = useSearchParams();
  const at = parameters.get('at');
  const { data, error, refetch } = useTranscription(id);
  return (
    <View
      title={data?.roomId ?? 'Transcription'}
      note={
        data !== undefined && 'recordingId' in data ? (
          <TranscriptionStatus status={data.status} progress={data.progress} />
        ) : undefined
      }
      command={writeCommand('transcriptions', 'get', id)}
      actions={
        <>
          <ExportLinks path={`/v1/transcriptions/${encodeURIComponent(id)}`} fileName={data?.roomId ?? id} />
          <DeleteButton id={id} />
        </>
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && 'recordingId' in data && (
        <>
          <p>
            <Link href={`/recordings/${encodeURIComponent(data.recordingId)}`}>
              Play it beside its recording
            </Link>
          </p>
          {data.error !== null && <p>{data.error.message}</p>}
        </>
      )}
      {data !== undefined && (
        <div className="transcript-card">
          <Transcript
            segments={data.segments}
            {...(at === null ? {} : { position: Number(at) })}
            onRename={(speaker, name) => client.transcriptions.nameSpeakers(id, { [speaker]: name })}
          />
          {data.segments.length === 0 && <p className="faint">Nothing was said.</p>}
        </div>
      )}
    </View>
  );
}

function useTranscription(id: string) {
  return useQuery({
    queryKey: [...KEYS.transcriptions(), 'one', id],
    queryFn: () => client.transcriptions.get(id),
    refetchInterval: ({ state }) =>
      state.data !== undefined && 'recordingId' in state.data && isUnderWay(state.data) ? PROGRESS_MS : false,
  });
}

function DeleteButton({ id }: { readonly id: string }) {
  const [, navigate] = useLocation();
  return (
    <ChangeButton
      className="danger-quiet"
      question="Delete this transcription?"
      consequence="All its segments are lost. The recording stays."
      verb="Delete the transcription"
      isDestructive
      command={writeCommand('transcriptions', 'delete', id)}
      run={async () => {
        await client.transcriptions.delete(id);
        navigate('/transcriptions');
      }}
    >
      <Trash2 aria-hidden /> Delete
    </ChangeButton>
  );
}

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

const FORMATS = [
  { format: 'text', ending: 'txt', name: 'Text' },
  { format: 'md', ending: 'md', name: 'Markdown' },
  { format: 'vtt', ending: 'vtt', name: 'WebVTT' },
  { format: 'srt', ending: 'srt', name: 'SubRip' },
] as const;

type Props = {
  /** Path of the transcript at the service. */
  readonly path: string;
  /** The name of the saved files, without their ending. */
  readonly fileName: string;
};

/** The transcript as files. */
export function ExportLinks({ path, fileName }: Props) {
  return (
    <>
      {FORMATS.map(({ format, ending, name }) => (
        <FileLink
          key={format}
          path={`/api${path}?format=${format}`}
          name={`${fileName}.${ending}`}
          label={`Download as ${name}`}
        >
          {name}
        </FileLink>
      ))}
    </>
  );
}
