import { RtcError } from '../../../client/rtc-error.ts';
import { SESSION_STATUSES } from '../../../contract/choices.ts';
import type { SessionDetail } from '../../../contract/sessions.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { usageError } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { LIMIT, NO_LIMIT, pagedList } from '../../framework/lists/read-pages.ts';
import { choice, defineCommand, existing, flag, ofNoun, option } from '../../framework/parameters.ts';
import { record } from '../../terminal/result.ts';
import { printStatus, type Terminal } from '../../terminal/terminal.ts';
import { pastMoment } from '../../terminal/time.ts';
import {
  DETAIL_FIELDS,
  PARTICIPANT_FIELDS,
  PARTICIPANT_LIST,
  participantCsv,
  SESSION_CSV,
  SESSION_FIELDS,
  SESSION_RECORD,
  sessionColumns,
} from './session-view.ts';

/** The option of lists that are read in a spreadsheet: `list({ isCsv })` writes them. */
const CSV = flag('--csv', 'comma-separated, with a header, for a spreadsheet');

const SESSION = existing(
  'id of the session (RM_…, room.id of events), or the name of a room for its last session',
  'sessions',
);

const listSessions = defineCommand({
  verb: 'list',
  summary: 'List sessions of rooms, newest first',
  description:
    'A session is a room from its opening to its end. For an open session, the figures are those of this moment. --csv writes every session that matches, unless you set --limit.',
  fields: SESSION_FIELDS,
  options: {
    room: option('--room <room>', 'only those of this room', { completes: 'rooms' }),
    status: option('--status <status>', 'only these', choice(SESSION_STATUSES)),
    since: option('--since <time>', 'only rooms opened since then: 10m, 7d or an instant', pastMoment),
    until: option('--until <time>', 'only rooms opened before then: 10m, 7d or an instant', pastMoment),
    limit: LIMIT,
    csv: CSV,
  },
  examples: [
    { line: 'rtc sessions list', does: 'The newest 50' },
    { line: 'rtc sessions list --room demo --since 7d', does: 'One room in the last week' },
    {
      line: 'rtc sessions list --since 2026-01-01 --until 2026-02-01 --csv > january.csv',
      does: 'A month for a spreadsheet, each session once',
    },
  ],
  async run(context, { room, status, since, until, limit, csv }) {
    if (csv) refuseCsvWithJson(context.terminal);
    const client = await context.client();
    const nowMs = context.io.clock();
    const filter = { roomId: room, status, since: since?.(nowMs), until: until?.(nowMs) };
    return pagedList(
      context,
      { limit: limit ?? (csv ? NO_LIMIT : undefined) },
      {
        name: 'sessions',
        read: (page) => client.sessions.list({ ...filter, ...page, signal: context.io.signal }),
        columns: csv ? SESSION_CSV : sessionColumns(context.terminal),
        isCsv: csv,
        identify: ({ sessionId }) => sessionId,
        empty: 'No sessions.',
      },
    );
  },
});

const get = defineCommand({
  verb: 'get',
  summary: 'Show one session: its figures, recordings and transcriptions',
  fields: DETAIL_FIELDS,
  arguments: { session: SESSION },
  examples: [
    { line: 'rtc sessions get RM_hycBMAjmt6Ub', does: 'Its times, recordings and transcriptions' },
    { line: 'rtc sessions get demo', does: 'The open session of the room demo, or else the last one' },
    { line: 'rtc sessions get RM_hycBMAjmt6Ub --json participantMinutes', does: 'One figure, as JSON' },
  ],
  async run(context, { session: named }) {
    const session = await findSession(context, named);
    return record(session, SESSION_RECORD, {
      notes: [`Who was there when: rtc sessions participants ${session.sessionId}`],
    });
  },
});

/** The API's largest page. */
const PARTICIPANT_PAGE = 1000;

const participants = defineCommand({
  verb: 'participants',
  summary: 'List the participants of a session, and when they were there',
  description:
    'Lists all of them in the order in which they joined. Somebody who joined several times has several lines.',
  fields: PARTICIPANT_FIELDS,
  arguments: { session: SESSION },
  options: { csv: CSV },
  examples: [
    { line: 'rtc sessions participants RM_hycBMAjmt6Ub', does: 'Who was there, from when to when' },
    { line: 'rtc sessions participants RM_hycBMAjmt6Ub --csv > lesson.csv', does: 'For a spreadsheet' },
  ],
  async run(context, { session: named, csv }) {
    if (csv) refuseCsvWithJson(context.terminal);
    const client = await context.client();
    const { signal } = context.io;
    const session = await findSession(context, named);
    const id = session.sessionId;
    return pagedList(
      context,
      { limit: NO_LIMIT },
      {
        name: 'participants',
        read: ({ cursor }) =>
          client.sessions.listParticipants(id, { limit: PARTICIPANT_PAGE, cursor, signal }),
        columns: csv ? participantCsv(session) : PARTICIPANT_LIST,
        isCsv: csv,
        identify: ({ sid }) => sid,
        empty: 'Nobody joined.',
      },
    );
  },
});

export const commands = ofNoun('sessions', [listSessions, get, participants]);

/**
 * Finds a session by its id, or the last one of a room by the room's name. When the room had others, it reports which one it
 * is. A room may be named like an id: the session of that id is preferred.
 */
async function findSession(context: Context, named: string): Promise<SessionDetail> {
  const client = await context.client();
  const { signal } = context.io;
  try {
    return await client.sessions.get(named, { signal });
  } catch (error) {
    if (!(error instanceof RtcError && error.code === 'session-not-found')) throw error;
    const { sessions } = await client.sessions.list({ roomId: named, limit: 2, signal });
    const [last, earlier] = sessions;
    if (last === undefined) throw error;
    if (earlier !== undefined) {
      const { sessionId, createdAt } = last;
      printStatus(
        context.terminal,
        `${named} had several sessions. This is the last one, ${sessionId}, opened ${createdAt}. To list all: rtc sessions list --room ${shellQuote(named)}`,
      );
    }
    return await client.sessions.get(last.sessionId, { signal });
  }
}

/** Must be called first with --csv: it throws a usage error when JSON is requested too. */
function refuseCsvWithJson({ json }: Terminal): void {
  if (json === undefined) return;
  throw usageError('--csv and --json exclude each other', 'leave out one of them');
}
