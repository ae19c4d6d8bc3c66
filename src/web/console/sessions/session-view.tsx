import { useQuery } from '@tanstack/react-query';
import type { CSSProperties } from 'react';
import { Link } from 'wouter';
import type { Recording } from '../../../contract/recordings.ts';
import type { SessionDetail, SessionTranscription } from '../../../contract/sessions.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { CommandLine, writeCommand } from '../parts/command-line.tsx';
import { FileLink } from '../parts/file-link.tsx';
import { describePosition } from '../parts/position.ts';
import { Problem } from '../parts/problem.tsx';
import { SessionStatus, TranscriptionStatus } from '../parts/status.tsx';
import { Clock } from '../parts/time.tsx';
import { Empty, FactList, Loading, View } from '../parts/view.tsx';
import { WhatHappened } from '../parts/what-happened.tsx';
import { describeBytes, RecordingStatus } from '../recordings/recording-status.tsx';
import { roomLink } from '../rooms/room-facts.ts';
import { drawLanes, type Lane, type Span, spanIn } from './lanes.ts';

/** One session: its figures, the presence of participants, and its recordings and transcriptions. */
export function SessionView({ id }: { readonly id: string }) {
  const { data, dataUpdatedAt, error, refetch } = useQuery({
    queryKey: [...KEYS.sessions(), 'one', id],
    queryFn: () => client.sessions.get(id),
  });
  return (
    <View
      title={data?.roomId ?? 'Session'}
      note={data === undefined ? undefined : <SessionStatus status={data.status} />}
      command={writeCommand('sessions', 'get', id)}
      actions={
        <>
          <WhatHappened kind="session" id={id} />
          {data?.status === 'open' && (
            <Link className="button" href={roomLink(data.roomId)}>
              Go to the room
            </Link>
          )}
        </>
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <>
          <Figures session={data} />
          <Presence session={data} readAtMs={dataUpdatedAt} />
          <SessionOutput session={data} />
        </>
      )}
    </View>
  );
}

function Figures({ session }: { readonly session: SessionDetail }) {
  const { createdAt, startedAt, endedAt, durationMs, metadata, metadataBytes } = session;
  return (
    <FactList
      className="facts facts-of-session"
      rows={{
        Opened: <Clock at={createdAt} />,
        'First participant': <Clock at={startedAt} />,
        Ended: endedAt === null ? 'It is open' : <Clock at={endedAt} />,
        Duration: describePosition(durationMs / 1000),
        People: session.totalParticipants,
        'Most at once': session.peakParticipants,
        'Participant minutes': session.participantMinutes.toLocaleString(),
        Metadata:
          metadataBytes === undefined ? (
            metadata ? (
              <code>{metadata}</code>
            ) : undefined
          ) : (
            `${describeBytes(metadataBytes)}, which are not kept`
          ),
        Session: <code>{session.sessionId}</code>,
      }}
    />
  );
}

type PresenceProps = { readonly session: SessionDetail; readonly readAtMs: number };

function Presence({ session, readAtMs }: PresenceProps) {
  const { sessionId, participants, participantsTruncated } = session;
  if (participants.length === 0) return <Empty title="Nobody joined" />;
  return (
    <section aria-labelledby="presence-title">
      <div className="section-head">
        <h2 id="presence-title">Who was there</h2>
        <CommandLine command={writeCommand('sessions', 'participants', sessionId)} />
        <FileLink path={`/console/sessions/${sessionId}/participants.csv`} name={`${sessionId}.csv`}>
          Save as CSV
        </FileLink>
      </div>
      {participantsTruncated === true && (
        <p className="faint">
          These are the first {participants.length.toLocaleString()} connections. The file and the command
          have all of them.
        </p>
      )}
      <Timeline session={session} readAtMs={readAtMs} />
    </section>
  );
}

/** The recordings and transcriptions of a session, with links; nothing when there are none. */
export function SessionOutput({ session }: { readonly session: SessionDetail }) {
  const { roomId, recordings, transcriptions } = session;
  return (
    <>
      {recordings.length > 0 && (
        <section aria-labelledby="recordings-title">
          <h2 id="recordings-title">
            Recordings <span className="count">{showCount(recordings, session.recordingsTruncated)}</span>
          </h2>
          <div className="plain-scroll">
            <table className="plain">
              <tbody>
                {recordings.map((recording) => (
                  <RecordingRow key={recording.recordingId} recording={recording} />
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
      {transcriptions.length > 0 && (
        <section aria-labelledby="transcriptions-title">
          <h2 id="transcriptions-title">
            Transcriptions{' '}
            <span className="count">{showCount(transcriptions, session.transcriptionsTruncated)}</span>
          </h2>
          <div className="plain-scroll">
            <table className="plain">
              <tbody>
                {transcriptions.map((transcription) => (
                  <TranscriptionRow
                    key={transcription.transcriptionId}
                    room={roomId}
                    transcription={transcription}
                  />
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
    </>
  );
}

function showCount({ length }: readonly unknown[], isTruncated = false): string {
  return isTruncated ? `the first ${length}` : String(length);
}

function RecordingRow({ recording }: { readonly recording: Recording }) {
  const { recordingId, status, startedAt, durationMs, sizeBytes } = recording;
  return (
    <tr>
      <th scope="row">
        <Link href={`/recordings/${encodeURIComponent(recordingId)}`}>{recordingId}</Link>
      </th>
      <td>
        <RecordingStatus status={status} />
      </td>
      <td>
        <Clock at={startedAt} />
      </td>
      <td>{durationMs === null ? '—' : describePosition(durationMs / 1000)}</td>
      <td>{sizeBytes === null ? '—' : describeBytes(sizeBytes)}</td>
    </tr>
  );
}

type TranscriptionProps = { readonly room: string; readonly transcription: SessionTranscription };

function TranscriptionRow({ room, transcription }: TranscriptionProps) {
  const { transcriptionId, kind, status, language, startedAt } = transcription;
  const isLive = status === 'active';
  const link = isLive
    ? `/transcriptions/live/${encodeURIComponent(room)}`
    : `/transcriptions/${transcriptionId}`;
  return (
    <tr>
      <th scope="row">
        <Link href={link}>{transcriptionId}</Link>
      </th>
      <td>
        <TranscriptionStatus status={status} />
      </td>
      <td>
        <Clock at={startedAt} />
      </td>
      <td>{kind === 'live' ? 'of the room, live' : 'of a recording'}</td>
      <td>{language}</td>
    </tr>
  );
}

type Props = {
  readonly session: SessionDetail;
  /** When the session was read: an open one is drawn until then. */
  readonly readAtMs: number;
};

/** The presence of each identity, one line each, and the recordings. */
export function Timeline({ session, readAtMs }: Props) {
  const { createdAt, endedAt, recordings } = session;
  const recorded = recordings.flatMap(({ startedAt, endedAt: stoppedAt }) =>
    startedAt === null ? [] : [spanIn(session, readAtMs)(startedAt, stoppedAt)],
  );
  return (
    <ol className="timeline" aria-label="Who was there when">
      <li className="lane lane-axis" aria-hidden>
        <span className="lane-track">
          <Clock at={createdAt} />
          {endedAt === null ? <span>now</span> : <Clock at={endedAt} />}
        </span>
      </li>
      {recorded.length > 0 && (
        <li className="lane">
          <span className="lane-who">Recorded</span>
          <span className="lane-when faint">
            {recorded.length === 1 ? 'once' : `${recorded.length} times`}
          </span>
          <Track spans={recorded} kind="recorded" />
        </li>
      )}
      {drawLanes(session, readAtMs).map((lane) => (
        <Person key={lane.id} lane={lane} />
      ))}
    </ol>
  );
}

function Person({ lane }: { readonly lane: Lane }) {
  const { id, name, role, joinedAt, leftAt, durationMs, spans } = lane;
  return (
    <li className="lane">
      <span className="lane-who">
        <span className="name">{name}</span> {name !== id && <code className="faint">{id}</code>}{' '}
        {role !== null && <span className={`role role-${role}`}>{role}</span>}
      </span>
      <span className="lane-when faint">
        <Clock at={joinedAt} /> – {leftAt === null ? 'there now' : <Clock at={leftAt} />}
        {spans.length > 1 && `, ${spans.length} times`} · {describePosition(durationMs / 1000)}
      </span>
      <Track spans={spans} kind="there" />
    </li>
  );
}

type TrackProps = { readonly spans: readonly Span[]; readonly kind: 'there' | 'recorded' };

/** The bars; the text beside them has the same information. */
function Track({ spans, kind }: TrackProps) {
  return (
    <span className="lane-track" aria-hidden>
      {spans.map(({ from, to, isOpen }) => (
        <span
          key={`${from}-${to}`}
          className={`bar bar-${kind}${isOpen ? ' bar-open' : ''}`}
          style={{ '--from': `${from * 100}%`, '--width': `${(to - from) * 100}%` } as CSSProperties}
        />
      ))}
    </span>
  );
}
