import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { SessionDetail } from '../../../contract/sessions.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { CommandLine, commandOf } from '../parts/command-line.tsx';
import { Problem } from '../parts/problem.tsx';
import { Clock, describePosition } from '../parts/time.tsx';
import { Empty, Loading, View } from '../parts/view.tsx';
import { roomLink } from '../rooms/room-facts.ts';
import { SessionOutput } from './session-output.tsx';
import { SessionStatus } from './session-status.tsx';
import { Timeline } from './timeline.tsx';

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
      command={commandOf('sessions', 'get', id)}
      actions={
        data?.status === 'open' ? (
          <Link className="button" href={roomLink(data.roomId)}>
            Go to the room
          </Link>
        ) : undefined
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
  const { createdAt, startedAt, endedAt, durationMs } = session;
  return (
    <dl className="facts facts-of-session">
      <Fact name="Opened">
        <Clock at={createdAt} />
      </Fact>
      <Fact name="First participant">
        <Clock at={startedAt} />
      </Fact>
      <Fact name="Ended">{endedAt === null ? 'It is open' : <Clock at={endedAt} />}</Fact>
      <Fact name="Duration">{describePosition(durationMs / 1000)}</Fact>
      <Fact name="People">{session.totalParticipants}</Fact>
      <Fact name="Most at once">{session.peakParticipants}</Fact>
      <Fact name="Participant minutes">{session.participantMinutes.toLocaleString()}</Fact>
      <Fact name="Session">
        <code>{session.sessionId}</code>
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
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
        <CommandLine command={commandOf('sessions', 'participants', sessionId)} />
        <a
          className="button"
          href={`/console/sessions/${sessionId}/participants.csv`}
          download={`${sessionId}.csv`}
        >
          <Download aria-hidden /> Save as CSV
        </a>
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
