import { TRACK_SOURCES } from '../../../contract/choices.ts';
import type { RoomMute, RoomMuted } from '../../../contract/participants.ts';
import { defineCommand } from '../../framework/command.ts';
import { existing, listOption, oneOf } from '../../framework/parameters.ts';
import { type Column, list } from '../../terminal/result.ts';

type MutedTrack = RoomMuted['muted'][number];

const FIELDS = ['identity', 'trackSid'] as const satisfies readonly (keyof MutedTrack)[];

const COLUMNS: readonly Column<MutedTrack>[] = [
  { heading: 'IDENTITY', value: ({ identity }) => identity, paint: 'name' },
  { heading: 'TRACK', value: ({ trackSid }) => trackSid },
];

const source = oneOf(TRACK_SOURCES);

export const mute = defineCommand({
  noun: 'rooms',
  verb: 'mute',
  summary: 'Mute everybody in a room',
  description:
    'Mutes the tracks that are published now. Participants can unmute themselves, and publish new tracks.',
  needs: 'service',
  fields: FIELDS,
  arguments: { room: existing('name of the room', 'rooms') },
  options: {
    except: listOption('--except <identity>', 'identity that is not muted'),
    source: listOption('--source <source>', 'only tracks of this source', {
      choices: TRACK_SOURCES,
      checkEach: (text) => void source.parse(text),
    }),
  },
  examples: [
    { line: 'rtc rooms mute demo', does: 'Every published track' },
    { line: 'rtc rooms mute demo --except ada --source microphone', does: 'Everybody but ada' },
  ],
  async run(context, input) {
    const body: RoomMute = {
      ...(input.except.length === 0 ? {} : { except: [...input.except] }),
      ...(input.source.length === 0 ? {} : { sources: input.source.map((each) => source.parse(each)) }),
    };
    const client = await context.client();
    const response = await client.rooms.mute(input.room, body, { signal: context.io.signal });
    return list({
      response,
      records: response.muted,
      columns: COLUMNS,
      identify: ({ trackSid }) => trackSid,
      empty: `There is nothing to mute in ${input.room}.`,
    });
  },
});
