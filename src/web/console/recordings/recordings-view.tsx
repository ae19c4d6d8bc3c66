import { useQuery } from '@tanstack/react-query';
import { Captions, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Recording } from '../../../contract/recordings.ts';
import type { PostTranscriptionDetail } from '../../../contract/transcription.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { CellLink, type TableColumn } from '../parts/data-table.tsx';
import { FileLink, useFileAddress } from '../parts/file-link.tsx';
import { ChoiceFilter, RoomFilter } from '../parts/find-and-save.tsx';
import { Rows } from '../parts/list-view.tsx';
import { describePosition } from '../parts/position.ts';
import { Problem } from '../parts/problem.tsx';
import { isUnderWay, TranscriptionStatus } from '../parts/status.tsx';
import { Clock } from '../parts/time.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useDebounced, usePages } from '../parts/use-pages.ts';
import { Empty, FactList, Loading, View } from '../parts/view.tsx';
import { WhatHappened } from '../parts/what-happened.tsx';
import { Transcript } from '../transcriptions/transcript.tsx';
import { describeBytes, filePath, RECORDING_STATES, RecordingStatus } from './recording-status.tsx';

const PAGE_SIZE = 100;

/** The library of recordings, newest first. */
export function Recordings() {
  const { read } = useAddress();
  const [, navigate] = useLocation();
  const roomId = useDebounced(read('room').trim()) || undefined;
  const status = RECORDING_STATES.find((state) => state === read('status'));
  const { items, count, error, refetch, loadMore } = usePages({
    queryKey: [...KEYS.recordings(), roomId ?? '', status ?? ''],
    read: (cursor) =>
      client.recordings.list({
        roomId,
        status,
        limit: PAGE_SIZE,
        cursor,
      }),
    items: ({ recordings }) => recordings,
  });
  return (
    <View
      title="Recordings"
      note={count}
      command={writeCommand('recordings', 'list', { '--room': roomId, '--status': status })}
      isFilled
    >
      <div className="filters">
        <RoomFilter what="recordings" />
        <ChoiceFilter
          name="status"
          label="Only recordings in this state"
          all="All states"
          choices={RECORDING_STATES}
        />
      </div>
      <Rows
        label="Recordings"
        columns={COLUMNS}
        rows={items}
        error={error}
        onRetry={refetch}
        empty={roomId === undefined && status === undefined ? NOTHING_RECORDED : NONE_ALIKE}
        getId={({ recordingId }) => recordingId}
        onEnd={loadMore}
        onSelect={({ recordingId }) => navigate(toLink(recordingId))}
      />
    </View>
  );
}

const NONE_ALIKE = { title: 'No recording is like that', text: 'Try other filters.' };

const NOTHING_RECORDED = {
  title: 'Nothing was recorded yet',
  text: 'Open a room and press Record: its recording appears here.',
};

function toLink(recordingId: string): string {
  return `/recordings/${encodeURIComponent(recordingId)}`;
}

const COLUMNS: readonly TableColumn<Recording>[] = [
  {
    heading: 'Room',
    width: 'minmax(7rem, 2fr)',
    cell: ({ recordingId, roomId }) => <CellLink href={toLink(recordingId)}>{roomId}</CellLink>,
  },
  {
    heading: 'State',
    width: 'minmax(6.5rem, 1fr)',
    cell: ({ status }) => <RecordingStatus status={status} />,
  },
  {
    heading: 'Started',
    width: 'minmax(5.5rem, 1fr)',
    cell: ({ startedAt }) => <Clock at={startedAt} />,
  },
  {
    heading: 'Duration',
    width: 'minmax(4.5rem, 0.6fr)',
    isSecondary: true,
    cell: ({ durationMs }) => (durationMs === null ? '—' : describePosition(durationMs / 1000)),
  },
  {
    heading: 'Size',
    width: 'minmax(4.5rem, 0.6fr)',
    isSecondary: true,
    cell: ({ sizeBytes }) => (sizeBytes === null ? '—' : describeBytes(sizeBytes)),
  },
  {
    heading: 'Recording',
    width: 'minmax(13.25rem, 1.4fr)',
    isSecondary: true,
    cell: ({ recordingId }) => <code className="faint">{recordingId}</code>,
  },
];

const PROGRESS_MS = 1_000;

/** A player of a recording, beside its transcript. */
export function RecordingView({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...KEYS.recordings(), 'one', id],
    queryFn: () => client.recordings.get(id),
  });
  const transcription = useQuery({
    queryKey: [...KEYS.transcriptions(), 'of', id],
    queryFn: () => readTranscription(id),
    // Progress causes no event, so it is polled.
    refetchInterval: ({ state }) => (isUnderWay(state.data) ? PROGRESS_MS : false),
  });
  return (
    <View
      title={data?.roomId ?? 'Recording'}
      note={data === undefined ? undefined : <RecordingStatus status={data.status} />}
      command={writeCommand('recordings', 'get', id)}
      actions={
        data === undefined ? undefined : (
          <>
            <WhatHappened kind="recording" id={id} />
            <RecordingActions recording={data} hasTranscript={transcription.data?.status === 'completed'} />
          </>
        )
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && <Playback recording={data} transcription={transcription.data ?? null} />}
      {transcription.error !== null && <Problem error={transcription.error} />}
    </View>
  );
}

type PlaybackProps = {
  readonly recording: Recording;
  readonly transcription: PostTranscriptionDetail | null;
};

function Playback({ recording, transcription }: PlaybackProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [position, setPosition] = useState(0);
  const [isBroken, setBroken] = useState(false);
  const { recordingId, file } = recording;
  const address = useFileAddress(filePath(recordingId));
  const seek = (seconds: number): void => {
    if (video.current === null) return;
    video.current.currentTime = seconds;
    void video.current.play().catch(() => undefined);
  };
  return (
    <div className="playback">
      <div className="player">
        {file === null ? (
          <Empty title={recording.status === 'recording' ? 'It is being recorded' : 'It has no file'}>
            <p>{recording.error ?? 'Its file is complete some seconds after the end.'}</p>
          </Empty>
        ) : (
          // biome-ignore lint/a11y/useMediaCaption: what is said is beside it, as text
          <video
            ref={video}
            src={address}
            controls
            preload="metadata"
            onTimeUpdate={(event) => setPosition(event.currentTarget.currentTime)}
            onError={() => setBroken(true)}
          />
        )}
        {isBroken && (
          <p role="alert" className="faint">
            The browser cannot play this file. Download it, or see whether it is where it was stored.
          </p>
        )}
        <RecordingFacts recording={recording} />
      </div>
      <TranscriptBeside transcription={transcription} position={position} onSeek={seek} />
    </div>
  );
}

function RecordingFacts({ recording }: { readonly recording: Recording }) {
  const { startedAt, durationMs, sizeBytes, file } = recording;
  return (
    <FactList
      rows={{
        Started: <Clock at={startedAt} />,
        Duration: durationMs === null ? '—' : describePosition(durationMs / 1000),
        Size: sizeBytes === null ? '—' : describeBytes(sizeBytes),
        File: (
          <span title={file?.path}>
            {file === null ? '—' : file.bucket === null ? file.path : `${file.bucket}/${file.path}`}
          </span>
        ),
      }}
    />
  );
}

type BesideProps = {
  readonly transcription: PostTranscriptionDetail | null;
  readonly position: number;
  readonly onSeek: (seconds: number) => void;
};

function TranscriptBeside({ transcription, position, onSeek }: BesideProps) {
  if (transcription === null) {
    return (
      <Empty title="No transcript">
        <p>Press Transcribe: what is said appears here, and follows the recording as it plays.</p>
      </Empty>
    );
  }
  const { transcriptionId, status, progress, error, segments } = transcription;
  return (
    <section className="transcript-beside" aria-label="Transcript">
      <div className="section-head">
        <h2>Transcript</h2>
        <TranscriptionStatus status={status} progress={progress} />
      </div>
      {error !== null && <p className="faint">{error.message}</p>}
      {status === 'completed' && segments.length === 0 && <p className="faint">Nothing was said.</p>}
      <Transcript
        segments={segments}
        position={position}
        onSeek={onSeek}
        onRename={(speaker, name) => client.transcriptions.nameSpeakers(transcriptionId, { [speaker]: name })}
      />
    </section>
  );
}

async function readTranscription(recordingId: string): Promise<PostTranscriptionDetail | null> {
  const { transcriptions } = await client.transcriptions.list({ recordingId, limit: 1 });
  const [newest] = transcriptions;
  if (newest === undefined) return null;
  const detail = await client.transcriptions.get(newest.transcriptionId);
  return 'recordingId' in detail ? detail : null;
}

type Props = { readonly recording: Recording; readonly hasTranscript: boolean };

/** The actions on a recording. */
function RecordingActions({ recording, hasTranscript }: Props) {
  const { recordingId, roomId, status, file } = recording;
  const [, navigate] = useLocation();
  return (
    <>
      {file !== null && <FileLink path={`${filePath(recordingId)}?download`}>Download</FileLink>}
      <ChangeButton
        isDisabled={file === null || hasTranscript}
        question="Transcribe this recording?"
        consequence="A worker takes it up as soon as one is free."
        verb="Transcribe"
        command={writeCommand('transcriptions', 'create', recordingId)}
        run={() => client.transcriptions.create(recordingId)}
      >
        <Captions aria-hidden /> Transcribe
      </ChangeButton>
      <ChangeButton
        className="danger-quiet"
        isDisabled={status === 'recording'}
        question={`Delete this recording of ${roomId}?`}
        consequence="Its file and its record are lost."
        verb="Delete the recording"
        isDestructive
        command={writeCommand('recordings', 'delete', recordingId)}
        run={async () => {
          await client.recordings.delete(recordingId);
          navigate('/recordings');
        }}
      >
        <Trash2 aria-hidden /> Delete
      </ChangeButton>
    </>
  );
}
