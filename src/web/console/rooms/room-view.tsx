import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { RtcError } from '../../../client/rtc-error.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { commandOf } from '../parts/command-line.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { Ago, describeDuration } from '../parts/time.tsx';
import { Empty, Loading, View } from '../parts/view.tsx';
import { useConsole } from '../shell/console-state.tsx';
import { Blocks } from './blocks.tsx';
import { Participants } from './participants.tsx';
import { RoomActions } from './room-actions.tsx';
import { MetadataButton } from './room-buttons.tsx';
import { createdAtMs, isRecorded } from './room-facts.ts';

/** One room: its participants and the actions on it. */
export function RoomView({ room: name }: { readonly room: string }) {
  const { facts } = useConsole();
  const room = useQuery({
    queryKey: [...KEYS.rooms(), name],
    queryFn: () => client.rooms.get(name),
  });
  const participants = useQuery({
    queryKey: KEYS.participants(name),
    queryFn: () => client.participants.list(name),
    enabled: room.data !== undefined,
  });
  const transcription = useQuery({
    queryKey: KEYS.liveTranscription(name),
    queryFn: () => readTranscription(name),
  });
  const isClosed = room.error instanceof RtcError && room.error.code === 'room-not-found';
  const command = commandOf('participants', 'list', name);
  if (isClosed) {
    return (
      <View title={name} note="closed" command={commandOf('rooms', 'create', name)}>
        <Empty title="This room is not open">
          <p>It was closed, or nobody has joined it yet. It appears here again as soon as it opens.</p>
        </Empty>
        <Blocks room={name} />
      </View>
    );
  }
  const { data } = room;
  const isTranscribed = transcription.data?.status === 'active';
  return (
    <View
      title={name}
      command={command}
      actions={
        data === undefined ? undefined : (
          <RoomActions
            room={data}
            participants={participants.data?.participants.length ?? data.numParticipants}
            isRecorded={isRecorded(data, facts)}
            isTranscribed={isTranscribed}
          />
        )
      }
    >
      {room.error !== null && <Problem error={room.error} onRetry={() => void room.refetch()} />}
      {data !== undefined && (
        <dl className="facts">
          <Fact name="Opened">
            <Ago at={createdAtMs(data)} />
          </Fact>
          <Fact name="Recording">{isRecorded(data, facts) ? <Status tone="active">On</Status> : 'Off'}</Fact>
          <Fact name="Transcription">
            {isTranscribed ? <Status tone="active">On</Status> : 'Off'}{' '}
            {transcription.data !== null && transcription.data !== undefined && (
              <Link href={`/transcriptions/live/${encodeURIComponent(name)}`}>Read it</Link>
            )}
          </Fact>
          <Fact name="Limit">
            {data.maxParticipants === 0 ? 'No cap' : `${data.maxParticipants} participants`}
          </Fact>
          <Fact name="Closes when empty for">{describeDuration(data.departureTimeout * 1000)}</Fact>
          <Fact name="Session">
            <Link href={`/sessions/${data.sid}`}>
              <code>{data.sid}</code>
            </Link>
          </Fact>
          <Fact name="Metadata">
            <span className="fact-line">
              {data.metadata === '' ? 'None' : <code>{data.metadata}</code>}
              <MetadataButton room={data} />
            </span>
          </Fact>
        </dl>
      )}
      {participants.error !== null && <Problem error={participants.error} />}
      {participants.data === undefined && participants.error === null && room.error === null && <Loading />}
      {participants.data !== undefined && (
        <Participants room={name} participants={participants.data.participants} />
      )}
      <Blocks room={name} />
    </View>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Null for a room that was never transcribed. */
async function readTranscription(room: string) {
  try {
    // Segments are not shown here, so the request excludes all of them.
    return await client.transcription.get(room, { since: '9999-12-31T00:00:00Z' });
  } catch (error) {
    if (error instanceof RtcError && error.code === 'transcription-not-found') return null;
    throw error;
  }
}
