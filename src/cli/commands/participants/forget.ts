import { plural } from '../../../contract/amounts.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import type { ForgottenWords } from '../../../contract/words.ts';
import { YES } from '../../framework/common-options.ts';
import { confirmOnService } from '../../framework/confirm-on-service.ts';
import { argument, defineCommand, flag } from '../../framework/parameters.ts';
import { type Column, record } from '../../terminal/result.ts';

export const forget = defineCommand({
  verb: 'forget',
  summary: 'Delete what a participant said from every transcript, or everything about the participant',
  description:
    'Deletes it from the room’s transcriptions, live and of recordings, and from the search. Recordings stay: delete them to delete their sound. With --everything, which needs a key with the scope admin, identity, name and metadata are also erased from events, deliveries, sessions and the audit log, and blocks are ended; counts and durations stay. After an error, repeat it: it erases the rest.',
  fields: ['segments', 'transcriptions', 'running', 'recordings', 'traces'],
  arguments: {
    room: argument('name of the room, which may have ended'),
    identity: argument('identity of the participant, who may have left'),
  },
  options: {
    allRooms: flag('--all-rooms', 'delete what was said in all rooms'),
    everything: flag('--everything', 'also erase identity, name and metadata wherever they are stored'),
    yes: YES,
  },
  examples: [
    { line: 'rtc participants forget demo ada', does: 'Asks first' },
    { line: 'rtc participants forget demo ada --all-rooms --yes', does: 'In every room, at once' },
    {
      line: 'rtc participants forget demo ada --everything --all-rooms',
      does: 'All traces of a person',
    },
  ],
  async run(context, { room, identity, allRooms, everything, yes }) {
    const client = await context.client();
    const place = allRooms ? 'in every room' : `in ${room}`;
    await confirmOnService(context, {
      isSure: yes || context.flags.isCurl,
      what: everything ? 'erasing a participant' : 'deleting what a participant said',
      question: async () =>
        everything
          ? `Erase ${identity} ${place}? What was said is deleted, a pseudonym replaces the person in events and sessions, and blocks end.`
          : `Delete all that ${identity} said ${place}? It will be gone from every transcript and from the search.`,
    });
    const { signal } = context.io;
    const options = { allRooms, everything, signal };
    const response = await client.participants.forgetWords(room, identity, options);
    const columns = response.traces === undefined ? COLUMNS : [...COLUMNS, ...TRACE_COLUMNS];
    return record(response, columns, { notes: writeNotes(response, room) });
  },
});

const COLUMNS: readonly Column<ForgottenWords>[] = [
  { heading: 'SEGMENTS', value: ({ segments }) => segments },
  { heading: 'TRANSCRIPTIONS', value: ({ transcriptions }) => transcriptions },
  { heading: 'STILL-RUNNING', value: ({ running }) => running },
  { heading: 'RECORDINGS-LEFT', value: ({ recordings }) => recordings },
];

const TRACE_COLUMNS: readonly Column<ForgottenWords>[] = [
  { heading: 'EVENTS', value: ({ traces }) => traces?.events },
  { heading: 'CONNECTIONS', value: ({ traces }) => traces?.connections },
  { heading: 'SPEAKER-NAMES', value: ({ traces }) => traces?.speakers },
  { heading: 'BLOCKS-ENDED', value: ({ traces }) => traces?.blocks },
  { heading: 'AUDIT-ENTRIES', value: ({ traces }) => traces?.auditEntries },
  { heading: 'PRESENT-IN', value: ({ traces }) => traces?.presentIn },
];

function writeNotes({ running, recordings, traces }: ForgottenWords, room: string): readonly string[] {
  const notes = traces === undefined ? [] : writeTraceNotes(traces);
  if (running > 0) {
    const transcriptions =
      running === 1
        ? '1 transcription still stores what is said. Stop it'
        : `${running} transcriptions still store what is said. Stop them`;
    notes.push(`${transcriptions} and repeat this command: rtc transcription stop ${shellQuote(room)}`);
  }
  if (recordings > 0) {
    const where = plural(recordings, 'recording');
    notes.push(`The voice can still be heard in ${where}: rtc recordings list, rtc recordings delete ID`);
  }
  return notes;
}

function writeTraceNotes(traces: NonNullable<ForgottenWords['traces']>): string[] {
  const { presentIn, blocks, blocksUntil, auditEntries, auditEntriesUntil } = traces;
  const notes: string[] = [];
  if (presentIn > 0) {
    const where = plural(presentIn, 'session');
    notes.push(
      `The participant is in ${where}, which were left out. Repeat this command afterwards, or first: rtc participants remove`,
    );
  }
  if (blocksUntil !== null)
    notes.push(`Rows of ended blocks have the identity until ${blocksUntil}, then they are deleted.`);
  if (blocks > 0) {
    const ended = plural(blocks, 'block');
    notes.push(`${ended} ended. To keep the participant out, block again: rtc participants remove --block`);
  }
  // One more is the entry of this request, which is stored after its response.
  const entries = plural(auditEntries + 1, 'entry', 'entries');
  notes.push(
    `The audit log keeps ${entries} of this and earlier requests, without the identity, until ${auditEntriesUntil}.`,
  );
  return notes;
}
