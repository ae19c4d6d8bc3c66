import type { CSSProperties } from 'react';
import type { SessionDetail } from '../../../contract/sessions.ts';
import { Clock, describePosition } from '../parts/time.tsx';
import { type Lane, lanesOf, type Span, spanIn } from './lanes.ts';

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
      {lanesOf(session, readAtMs).map((lane) => (
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
