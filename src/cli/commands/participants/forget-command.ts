import { shellQuote } from '../../../contract/shell-quote.ts';
import type { ForgottenWords } from '../../../contract/words.ts';
import { defineCommand } from '../../framework/command.ts';
import { YES } from '../../framework/common-options.ts';
import { confirmOnService } from '../../framework/confirm-on-service.ts';
import { argument, flag } from '../../framework/parameters.ts';
import { type Column, record } from '../../terminal/result.ts';
import { plural } from '../../terminal/time.ts';

export const forget = defineCommand({
  noun: 'participants',
  verb: 'forget',
  summary: 'Delete what a participant said from every transcript',
  description:
    'Deletes it from the room’s transcriptions, live and of recordings, and from the search. The room may have ended and the participant may have left. Recordings stay: delete them to delete their sound.',
  needs: 'service',
  fields: ['segments', 'transcriptions', 'running', 'recordings'],
  arguments: {
    room: argument('name of the room, which may have ended'),
    identity: argument('identity of the participant, who may have left'),
  },
  options: { allRooms: flag('--all-rooms', 'delete what was said in all rooms'), yes: YES },
  examples: [
    { line: 'rtc participants forget demo ada', does: 'Asks first' },
    { line: 'rtc participants forget demo ada --all-rooms --yes', does: 'In every room, at once' },
  ],
  async run(context, { room, identity, allRooms, yes }) {
    const client = await context.client();
    const place = allRooms ? 'in every room' : `in ${room}`;
    await confirmOnService(context, {
      isSure: yes || context.flags.isCurl,
      what: 'deleting what a participant said',
      question: async () =>
        `Delete all that ${identity} said ${place}? It will be gone from every transcript and from the search.`,
    });
    const { signal } = context.io;
    const response = await client.participants.forgetWords(room, identity, { allRooms, signal });
    return record({ response, record: response, columns: COLUMNS, notes: notesOf(response, room) });
  },
});

const COLUMNS: readonly Column<ForgottenWords>[] = [
  { heading: 'SEGMENTS', value: ({ segments }) => segments },
  { heading: 'TRANSCRIPTIONS', value: ({ transcriptions }) => transcriptions },
  { heading: 'STILL-RUNNING', value: ({ running }) => running },
  { heading: 'RECORDINGS-LEFT', value: ({ recordings }) => recordings },
];

function notesOf({ running, recordings }: ForgottenWords, room: string): readonly string[] {
  return [
    ...(running === 0
      ? []
      : [
          `${plural(running, 'transcription')} still store what is said. Stop it and repeat this command: rtc transcription stop ${shellQuote(room)}`,
        ]),
    ...(recordings === 0
      ? []
      : [
          `The voice can still be heard in ${plural(recordings, 'recording')}: rtc recordings list, rtc recordings delete ID`,
        ]),
  ];
}
