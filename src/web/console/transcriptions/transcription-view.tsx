import { useQuery } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { Problem } from '../parts/problem.tsx';
import { Loading, View } from '../parts/view.tsx';
import { ExportLinks } from './export-links.tsx';
import { Transcript } from './transcript.tsx';
import { isUnderWay, TranscriptionStatus } from './transcription-status.tsx';

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
          <ExportLinks path={`/v1/transcriptions/${id}`} fileName={data?.roomId ?? id} />
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
      change={() => ({
        question: 'Delete this transcription?',
        consequence: 'All its segments are lost. The recording stays.',
        verb: 'Delete the transcription',
        isDestructive: true,
        command: writeCommand('transcriptions', 'delete', id),
        run: async () => {
          await client.transcriptions.delete(id);
          navigate('/transcriptions');
        },
      })}
    >
      <Trash2 aria-hidden /> Delete
    </ChangeButton>
  );
}
