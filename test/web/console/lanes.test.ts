import { describe, expect, it } from 'vitest';
import type { SessionDetail, SessionParticipant } from '../../../src/contract/sessions.ts';
import { drawLanes, spanIn } from '../../../src/web/console/sessions/lanes.ts';

const at = (minute: number): string => `2026-01-31T09:${String(minute).padStart(2, '0')}:00.000Z`;

const visit = (identity: string, joined: number, left: number | null): SessionParticipant => ({
  sid: `PA_${identity}${joined}`,
  identity,
  name: identity === 'ada' ? 'Ada' : '',
  role: 'host',
  joinedAt: at(joined),
  leftAt: left === null ? null : at(left),
  durationMs: ((left ?? 10) - joined) * 60_000,
});

const session = (endedAt: string | null, ...participants: SessionParticipant[]): SessionDetail => ({
  ...{ sessionId: 'RM_1', roomId: 'demo', status: endedAt === null ? 'open' : 'ended' },
  ...{ createdAt: at(0), startedAt: at(0), endedAt, metadata: '', durationMs: 600_000 },
  ...{ totalParticipants: 2, peakParticipants: 2, participantMinutes: 10 },
  ...{ recordings: [], transcriptions: [], participants },
});

describe('the timeline of a session', () => {
  it('has one lane for a participant who joins twice, from the first join to the last leave', () => {
    const ended = session(at(10), visit('ada', 0, 2), visit('bob', 1, 10), visit('ada', 5, 7));
    expect(drawLanes(ended, 0)).toEqual([
      {
        ...{ id: 'ada', name: 'Ada', role: 'host', joinedAt: at(0), leftAt: at(7), durationMs: 240_000 },
        spans: [
          { from: 0, to: 0.2, isOpen: false },
          { from: 0.5, to: 0.7, isOpen: false },
        ],
      },
      {
        ...{ id: 'bob', name: 'bob', role: 'host', joinedAt: at(1), leftAt: at(10), durationMs: 540_000 },
        spans: [{ from: 0.1, to: 1, isOpen: false }],
      },
    ]);
  });

  it('extends to the present for a participant in an open session', () => {
    const [ada] = drawLanes(session(null, visit('ada', 0, 2), visit('ada', 5, null)), Date.parse(at(10)));
    expect(ada?.leftAt).toBeNull();
    expect(ada?.spans.at(-1)).toEqual({ from: 0.5, to: 1, isOpen: true });
  });

  it('draws nothing outside of the session, and only numbers for a session without length', () => {
    const short = session(at(0));
    expect(spanIn(short, 0)(at(0), at(5))).toEqual({ from: 0, to: 1, isOpen: false });
    expect(spanIn(short, 0)('2026-01-31T08:00:00.000Z', at(0))).toEqual({ from: 0, to: 0, isOpen: false });
  });
});
