import { useQuery } from '@tanstack/react-query';
import { Captions, Circle, CircleStop, ExternalLink } from 'lucide-react';
import { Link } from 'wouter';
import { RtcError } from '../../../client/rtc-error.ts';
import type { Room } from '../../../contract/rooms.ts';
import { client } from '../api/client.ts';
import { openRoom } from '../api/console-calls.ts';
import { KEYS } from '../api/query-keys.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { Ago, describeDuration } from '../parts/time.tsx';
import { usePages } from '../parts/use-pages.ts';
import { Empty, FactList, Loading, View } from '../parts/view.tsx';
import { WhatHappened } from '../parts/what-happened.tsx';
import { Outside } from './outside.tsx';
import { Participants } from './participants.tsx';
import { CloseButton, MetadataButton } from './room-buttons.tsx';
import { createdAtMs, useRecordedRooms } from './room-facts.ts';

/** One room: its participants and the actions on it. */
export function RoomView({ room: name }: { readonly room: string }) {
  const isRecorded = useRecordedRooms().has(name);
  const { room, participants, transcription } = useRoom(name);
  const { data } = room;
  const isClosed = room.error instanceof RtcError && room.error.code === 'room-not-found';
  if (isClosed) return <ClosedRoom name={name} />;
  // All of it is shown at once, so that nothing moves.
  const isReading = participants.items === undefined && participants.error === null && room.error === null;
  return (
    <View
      title={name}
      command={writeCommand('participants', 'list', name)}
      actions={
        data === undefined ? undefined : (
          <RoomActions
            room={data}
            participants={participants.items?.length ?? data.numParticipants}
            isRecorded={isRecorded}
            isTranscribed={transcription.data?.status === 'active'}
          />
        )
      }
    >
      {room.error !== null && <Problem error={room.error} onRetry={() => void room.refetch()} />}
      {participants.error !== null && <Problem error={participants.error} />}
      {isReading && <Loading />}
      {data !== undefined && !isReading && (
        <RoomFacts room={data} isRecorded={isRecorded} transcription={transcription.data} />
      )}
      {participants.items !== undefined && (
        <Participants
          room={name}
          participants={participants.items}
          count={participants.count ?? ''}
          loadMore={participants.loadMore}
        />
      )}
      {!isReading && <Outside room={name} />}
    </View>
  );
}

/** Participants of a page, which is enough for most rooms. */
const PAGE_SIZE = 200;

/** A raised hand, and another name of somebody, cause no event. */
const REFRESH_MS = 10_000;

/** The room, and what is read of it besides. */
function useRoom(name: string) {
  const room = useQuery({
    queryKey: [...KEYS.rooms(), name],
    queryFn: () => client.rooms.get(name),
  });
  const participants = usePages({
    queryKey: KEYS.participants(name),
    read: (cursor) => client.participants.list(name, { limit: PAGE_SIZE, cursor }),
    items: ({ participants }) => participants,
    isEnabled: room.data !== undefined,
    refreshMs: REFRESH_MS,
  });
  const transcription = useQuery({
    queryKey: KEYS.liveTranscription(name),
    queryFn: () => readTranscription(name),
  });
  return { room, participants, transcription };
}

function ClosedRoom({ name }: { readonly name: string }) {
  return (
    <View
      title={name}
      note="closed"
      command={writeCommand('rooms', 'create', name)}
      actions={<WhatHappened kind="room" id={name} />}
    >
      <Empty title="This room is not open">
        <p>It was closed, or nobody has joined it yet. It appears here again as soon as it opens.</p>
      </Empty>
      <Outside room={name} />
    </View>
  );
}

type FactsProps = {
  readonly room: Room;
  readonly isRecorded: boolean;
  readonly transcription: Awaited<ReturnType<typeof readTranscription>> | undefined;
};

function RoomFacts({ room, isRecorded, transcription }: FactsProps) {
  const { name, sid, metadata, maxParticipants, activeBroadcast, departureTimeout } = room;
  return (
    <FactList
      rows={{
        Opened: <Ago at={createdAtMs(room)} />,
        Recording: isRecorded ? <Status tone="active">On</Status> : 'Off',
        Broadcast: activeBroadcast ? (
          <>
            <Status tone="active">On</Status>{' '}
            <Link href={`/broadcasts?room=${encodeURIComponent(name)}`}>See its URLs</Link>
          </>
        ) : (
          'Off'
        ),
        Transcription: (
          <>
            {transcription?.status === 'active' ? <Status tone="active">On</Status> : 'Off'}{' '}
            {transcription !== null && transcription !== undefined && (
              <Link href={`/transcriptions/live/${encodeURIComponent(name)}`}>Read it</Link>
            )}
          </>
        ),
        Limit: maxParticipants === 0 ? 'No cap' : `${maxParticipants} participants`,
        'Closes when empty for': describeDuration(departureTimeout * 1000),
        Session: (
          <Link href={`/sessions/${sid}`}>
            <code>{sid}</code>
          </Link>
        ),
        Metadata: (
          <span className="fact-line">
            {metadata === '' ? 'None' : <code>{metadata}</code>}
            <MetadataButton room={room} />
          </span>
        ),
      }}
    />
  );
}

/** Null for a room that was never transcribed. */
async function readTranscription(room: string) {
  try {
    // Segments are not shown here.
    return await client.transcription.get(room, { limit: 1 });
  } catch (error) {
    if (error instanceof RtcError && error.code === 'transcription-not-found') return null;
    throw error;
  }
}

type Props = {
  readonly room: Room;
  readonly participants: number;
  readonly isRecorded: boolean;
  readonly isTranscribed: boolean;
};

/** The actions on an open room. */
function RoomActions({ room, participants, isRecorded, isTranscribed }: Props) {
  return (
    <>
      <JoinButton room={room.name} />
      <RecordButton room={room.name} isRecorded={isRecorded} />
      <TranscribeButton room={room.name} isTranscribed={isTranscribed} />
      <WhatHappened kind="room" id={room.name} />
      <CloseButton room={room} participants={participants} isRecorded={isRecorded} />
    </>
  );
}

function JoinButton({ room }: { readonly room: string }) {
  return (
    <ChangeButton
      className="primary"
      question={`Join ${room} in the browser?`}
      consequence="You join as a host, in a new tab; the others see you."
      verb="Open the room"
      command={writeCommand('rooms', 'open', room)}
      run={async () => {
        const link = await openRoom(room);
        // A browser opens a tab only during a click. If it did not, the link is shown.
        const tab = window.open(link, '_blank');
        if (tab !== null) return undefined;
        return (
          <p>
            <a href={link} target="_blank" rel="noreferrer">
              Join {room}
            </a>
          </p>
        );
      }}
    >
      <ExternalLink aria-hidden /> Join
    </ChangeButton>
  );
}

type RecordProps = { readonly room: string; readonly isRecorded: boolean };

function RecordButton({ room: name, isRecorded }: RecordProps) {
  if (isRecorded) {
    return (
      <ChangeButton
        question={`Stop the recording of ${name}?`}
        consequence="Its file is complete some seconds later."
        verb="Stop the recording"
        command={writeCommand('recordings', 'stop', name)}
        run={() => client.recordings.stop(name)}
      >
        <CircleStop aria-hidden /> Stop recording
      </ChangeButton>
    );
  }
  return (
    <ChangeButton
      question={`Record ${name}?`}
      consequence="Everybody in the room is recorded. A recorder may take half a minute to start."
      verb="Record"
      command={writeCommand('recordings', 'start', name)}
      run={() => client.recordings.start(name)}
    >
      <Circle aria-hidden /> Record
    </ChangeButton>
  );
}

type TranscribeProps = { readonly room: string; readonly isTranscribed: boolean };

function TranscribeButton({ room, isTranscribed }: TranscribeProps) {
  if (isTranscribed) {
    return (
      <ChangeButton
        question={`Stop the transcription of ${room}?`}
        verb="Stop the transcription"
        command={writeCommand('transcription', 'stop', room)}
        run={() => client.transcription.stop(room)}
      >
        <Captions aria-hidden /> Stop transcription
      </ChangeButton>
    );
  }
  return (
    <ChangeButton
      question={`Transcribe ${room}?`}
      consequence="What is said appears as captions in the room, and is stored."
      verb="Transcribe"
      command={writeCommand('transcription', 'start', room)}
      run={() => client.transcription.start(room)}
    >
      <Captions aria-hidden /> Transcribe
    </ChangeButton>
  );
}
