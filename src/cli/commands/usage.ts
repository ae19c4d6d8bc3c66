import { USAGE_GROUPS, type UsageGroup } from '../../contract/choices.ts';
import type { UsageLine } from '../../contract/usage.ts';
import { usageError } from '../errors/cli-error.ts';
import { NO_LIMIT, readPages } from '../framework/lists/read-pages.ts';
import { choice, defineCommand, flag, ofNoun, option } from '../framework/parameters.ts';
import { type Column, list } from '../terminal/result.ts';
import { isCalendarDay } from '../terminal/time.ts';

const FIELDS = [
  'group',
  'participantMinutes',
  'participantMinutesByRole',
  'roomMinutes',
  'recordedMinutes',
  'transcribedMinutes',
  'broadcastMinutes',
  'ingressMinutes',
  'peakParticipants',
  'recordingBytes',
  'isFinal',
] as const satisfies readonly (keyof UsageLine)[];

const PARTICIPANTS: Column<UsageLine> = {
  heading: 'PARTICIPANT-MINUTES',
  value: ({ participantMinutes }) => participantMinutes,
};

const REST: readonly Column<UsageLine>[] = [
  { heading: 'ROOM-MINUTES', value: ({ roomMinutes }) => roomMinutes },
  { heading: 'RECORDED-MINUTES', value: ({ recordedMinutes }) => recordedMinutes },
  { heading: 'TRANSCRIBED-MINUTES', value: ({ transcribedMinutes }) => transcribedMinutes },
  { heading: 'BROADCAST-MINUTES', value: ({ broadcastMinutes }) => broadcastMinutes },
  { heading: 'INGRESS-MINUTES', value: ({ ingressMinutes }) => ingressMinutes },
  { heading: 'LARGEST-ROOM', value: ({ peakParticipants }) => peakParticipants },
  { heading: 'RECORDING-BYTES', value: ({ recordingBytes }) => recordingBytes },
];

/** A spreadsheet gets the roles too. */
const CSV_COLUMNS: readonly Column<UsageLine>[] = [
  PARTICIPANTS,
  ...(['host', 'moderator', 'participant', 'viewer', 'other'] as const).map(
    (role): Column<UsageLine> => ({
      heading: `${role.toUpperCase()}-ROLE-MINUTES`,
      value: ({ participantMinutesByRole }) => participantMinutesByRole[role],
    }),
  ),
  ...REST,
  { heading: 'IS-FINAL', value: ({ isFinal }) => isFinal },
];

/** A figure that is zero in every line has no column on a terminal. */
function chooseColumns(lines: readonly UsageLine[]): readonly Column<UsageLine>[] {
  return [PARTICIPANTS, ...REST.filter(({ value }) => lines.some((line) => value(line) !== 0))];
}

function groupColumn(by: UsageGroup): Column<UsageLine> {
  return { heading: by.toUpperCase(), value: ({ group }) => group, paint: 'name' };
}

function parseDay(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text) && isCalendarDay(text)) return text;
  throw usageError(`${JSON.stringify(text)} is no day`, 'write a day in UTC, such as 2026-11-01');
}

const usage = defineCommand({
  summary: 'Add up minutes and bytes by day, month, room, prefix or key',
  description:
    'Adds up exact times by days in UTC. Rooms that are open are included; recordings, transcriptions and broadcasts when they have ended. --csv has the minutes of each role too.',
  fields: FIELDS,
  options: {
    from: option('--from <day>', 'the first day; default the first of this month', parseDay),
    to: option('--to <day>', 'the day after the last one; default tomorrow', parseDay),
    by: option('--by <group>', 'what each line is; default day', choice(USAGE_GROUPS)),
    room: option('--room <room>', 'only this room', { completes: 'rooms' }),
    prefix: option('--prefix <prefix>', 'only rooms whose names begin so'),
    csv: flag('--csv', 'comma-separated, with a header, for a spreadsheet'),
  },
  examples: [
    { line: 'rtc usage', does: 'This month, day by day' },
    { line: 'rtc usage --from 2026-11-01 --to 2026-12-01 --by room', does: 'November, room by room' },
    { line: 'rtc usage --from 2026-11-01 --by day --csv > usage.csv', does: 'For a spreadsheet' },
  ],
  async run(context, { from, to, by = 'day', room, prefix, csv }) {
    if (csv && context.terminal.json !== undefined)
      throw usageError('--csv and --json exclude each other', 'leave out one of them');
    const client = await context.client();
    const query = { from, to, by, roomId: room, prefix, signal: context.io.signal };
    let first: Awaited<ReturnType<typeof client.usage.get>> | undefined;
    const { records } = await readPages(NO_LIMIT, async (page) => {
      const read = await client.usage.get({ ...query, ...page });
      first ??= read;
      return { records: read.usage, nextCursor: read.nextCursor };
    });
    const total = first?.total.participantMinutes ?? 0;
    return list({
      response: { ...first, usage: records, nextCursor: null },
      records,
      columns: [groupColumn(by), ...(csv ? CSV_COLUMNS : chooseColumns(records))],
      isCsv: csv,
      identify: ({ group }) => group,
      empty: 'No usage.',
      notes: [`${total} participant minutes in all, until ${first?.asOf ?? 'now'}.`],
    });
  },
});

export const commands = ofNoun('usage', [usage]);
