import { formatDuration, plural } from '../../../contract/amounts.ts';
import { type BlockDuration, MAX_BLOCK_SECONDS } from '../../../contract/blocks.ts';
import { ROLES, TRACK_SOURCES, type TrackSourceName } from '../../../contract/choices.ts';
import type { Participant, ParticipantPatch } from '../../../contract/participants.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { usageError } from '../../errors/cli-error.ts';
import { WATCH, YES } from '../../framework/common-options.ts';
import { confirmOnService } from '../../framework/confirm-on-service.ts';
import type { Context } from '../../framework/context.ts';
import { MAX_LIMIT, NO_LIMIT, pagedList } from '../../framework/lists/read-pages.ts';
import {
  choice,
  defineCommand,
  existing,
  flag,
  jsonObject,
  ofNoun,
  option,
  wholeNumber,
  wholeSeconds,
} from '../../framework/parameters.ts';
import { forEachTarget, nameSucceeded } from '../../framework/report-error.ts';
import { type Column, done, type Result, record } from '../../terminal/result.ts';

import { findParticipant } from './find-participant.ts';
import { forget } from './forget.ts';

export const PARTICIPANT_FIELDS = [
  'sid',
  'identity',
  'name',
  'state',
  'kind',
  'metadata',
  'joinedAt',
  'isPublisher',
  'attributes',
  'tracks',
] as const satisfies readonly (keyof Participant)[];

export const ROOM = existing('name of the room', 'rooms');

const listParticipants = defineCommand({
  verb: 'list',
  summary: 'List the participants of a room',
  description: 'By identity. Recorders are not listed.',
  fields: PARTICIPANT_FIELDS,
  arguments: { room: ROOM },
  options: {
    limit: option('--limit <n>', 'maximum number; default: everyone', wholeNumber(1, MAX_LIMIT)),
    watch: WATCH,
  },
  examples: [
    { line: 'rtc participants list demo', does: 'Who is there, and what they publish' },
    { line: 'rtc participants list demo --watch', does: 'See them join and leave' },
    { line: 'rtc participants list demo --json identity,tracks', does: 'With the sids of their tracks' },
  ],
  async run(context, { room, limit = NO_LIMIT, watch }) {
    const client = await context.client();
    return pagedList(
      context,
      { limit, watch },
      {
        name: 'participants',
        read: async (page) => {
          const options = { ...page, signal: context.io.signal };
          const { participants, nextCursor = null } = await client.participants.list(room, options);
          return { participants, nextCursor };
        },
        columns: PARTICIPANT_COLUMNS,
        identify: ({ sid }) => sid,
        empty: `Nobody is in ${room}. Let somebody in: rtc tokens create --room ${shellQuote(room)} --identity ada --role host`,
      },
    );
  },
});

const parseSeconds = wholeSeconds(1, MAX_BLOCK_SECONDS);

export const IDENTITY = existing('identity of the participant', 'participants');

const remove = defineCommand({
  verb: 'remove',
  summary: 'Disconnect a participant',
  description:
    'Without --block, a participant with a valid token can come back. With --block, the identity gets no token for this room, and is removed at once if it joins with an older one. You can block somebody who is not in the room.',
  arguments: { room: ROOM, identity: IDENTITY },
  options: {
    block: option(
      '--block <duration>',
      'keep the identity out for this long, such as 1h, or forever',
      blockDuration,
    ),
    yes: YES,
  },
  examples: [
    { line: 'rtc participants remove demo ada', does: 'Asks first' },
    { line: 'rtc participants remove demo ada --yes', does: 'At once' },
    { line: 'rtc participants remove demo ada --block 1h', does: 'And keeps ada out for an hour' },
    { line: 'rtc participants remove demo ada --block forever', does: 'Until rtc blocks remove demo ada' },
  ],
  async run(context, { room, identity, block, yes }) {
    const client = await context.client();
    await confirmOnService(context, {
      isSure: yes || context.flags.isCurl,
      what: 'removing a participant',
      question: async () => {
        const loss = await describeLoss(context, { room, identity, block });
        return `Remove ${identity} from ${room}${describeBlock(', and keep it out', block)}? ${loss}.`;
      },
    });
    const { signal } = context.io;
    const { removed } = await client.participants.remove(room, identity, { block, signal });
    const blocked = describeBlock(' and blocked it', block);
    return done(
      removed
        ? `Removed ${identity} from ${room}${blocked}.`
        : `Found no participant ${identity} in ${room}${blocked}.`,
    );
  },
});

function blockDuration(text: string): BlockDuration {
  return text === 'forever' ? text : parseSeconds(text);
}

function describeBlock(words: string, block: BlockDuration | undefined): string {
  if (block === undefined) return '';
  return block === 'forever' ? `${words} for ever` : `${words} for ${formatDuration(block)}`;
}

type Removal = {
  readonly room: string;
  readonly identity: string;
  readonly block: BlockDuration | undefined;
};

async function describeLoss(context: Context, { room, identity, block }: Removal): Promise<string> {
  // A blocked participant need not be in the room.
  if (block !== undefined) return 'The participant with this identity is disconnected';
  const { tracks } = await findParticipant(context, room, identity);
  return tracks.length === 0
    ? 'The participant publishes nothing'
    : `${plural(tracks.length, 'track')} will end`;
}

type Attributes = NonNullable<ParticipantPatch['attributes']>;

export const update = defineCommand({
  verb: 'update',
  summary: "Change a participant's name, metadata, attributes or role",
  description:
    'Everyone in the room sees the change at once. The role lasts until the participant leaves. LiveKit grants room administration by token only.',
  fields: PARTICIPANT_FIELDS,
  arguments: { room: ROOM, identity: IDENTITY },
  options: {
    role: option('--role <role>', 'what the participant may do from now on', choice(ROLES)),
    name: option('--name <name>', 'new name that others see', { source: 'typed-or-stdin' }),
    metadata: option('--metadata <json>', 'JSON object that replaces the metadata', {
      parse: jsonObject,
      source: 'typed-or-file',
    }),
    attributes: option('--attributes <json>', 'JSON object of texts to set; null removes one', {
      parse: attributeTexts,
      source: 'typed-or-file',
    }),
  },
  examples: [
    { line: 'rtc participants update demo ada --role viewer', does: 'From now on ada can only listen' },
    {
      line: `rtc participants update demo ada --attributes '{"hand":"raised","seat":null}'`,
      does: 'Set one attribute, and remove another',
    },
  ],
  async run(context, { room, identity, role, name, metadata, attributes }) {
    const patch: ParticipantPatch = {
      ...(role === undefined ? {} : { role }),
      ...(name === undefined ? {} : { name }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(attributes === undefined ? {} : { attributes }),
    };
    if (Object.keys(patch).length === 0)
      throw usageError('nothing to change', 'give --role, --name, --metadata or --attributes');
    const client = await context.client();
    const { signal } = context.io;
    const updated = await client.participants.update({ room, identity }, patch, { signal });
    return record(updated, PARTICIPANT_COLUMNS);
  },
});

function attributeTexts(text: string): Attributes {
  const given = Object.entries(jsonObject(text));
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (value === null || typeof value === 'string') return [name, value];
      throw usageError(`has ${JSON.stringify(name)} that is neither a text nor null`);
    }),
  );
}

const TRACK_OPTIONS = {
  track: option('--track <sid>', 'this track'),
  source: option('--source <source>', 'the tracks of this source', choice(TRACK_SOURCES)),
};

export const mute = defineCommand({
  verb: 'mute',
  summary: "Mute a participant's tracks",
  description:
    'Without --track, --source or --all it mutes the only track, or asks on a terminal. Participants can unmute themselves.',
  arguments: { room: ROOM, identity: IDENTITY },
  options: { ...TRACK_OPTIONS, all: flag('--all', 'every track that is not muted') },
  examples: [
    { line: 'rtc participants mute demo ada --all', does: 'Everything that ada publishes' },
    { line: 'rtc participants mute demo ada --source microphone', does: 'Only the microphone of ada' },
    { line: 'rtc participants mute demo ada --track TR_AMDuaW8eDvbDmz', does: 'One track' },
  ],
  run: async (context, input) => await setMuted(context, { ...input, wanted: 'muted' }),
});

export const unmute = defineCommand({
  verb: 'unmute',
  summary: "Unmute a participant's tracks, if the media server allows it",
  description:
    'LiveKit allows this if its configuration has room.enable_remote_unmute. Otherwise only participants can unmute themselves, and the exit code is 5.',
  arguments: { room: ROOM, identity: IDENTITY },
  options: { ...TRACK_OPTIONS, all: flag('--all', 'every track that is muted') },
  examples: [
    { line: 'rtc participants unmute demo ada --source microphone', does: 'Let the others hear ada again' },
  ],
  run: async (context, input) => await setMuted(context, { ...input, wanted: 'unmuted' }),
});

export const PARTICIPANT_COLUMNS: readonly Column<Participant>[] = [
  { heading: 'IDENTITY', value: (participant) => participant.identity, paint: 'name' },
  { heading: 'NAME', value: (participant) => participant.name },
  { heading: 'ROLE', value: (participant) => participant.attributes['rtc.role'] },
  {
    heading: 'STATE',
    value: (participant) => participant.state,
    display: (participant) => participant.state.toLowerCase(),
    paint: (participant) => (participant.state === 'ACTIVE' ? 'good' : 'faint'),
  },
  {
    heading: 'TRACKS',
    value: (participant) => participant.tracks.map((track) => track.sid).join(','),
    display: (participant) => participant.tracks.map(describeTrack).join(', '),
  },
  { heading: 'JOINED', value: joinedAt },
];

export const commands = ofNoun('participants', [listParticipants, update, remove, forget, mute, unmute]);

type Track = Participant['tracks'][number];

type Wanted = 'muted' | 'unmuted';

type Input = {
  readonly room: string;
  readonly identity: string;
  readonly track: string | undefined;
  readonly source: TrackSourceName | undefined;
  readonly all: boolean;
  readonly wanted: Wanted;
};

async function setMuted(context: Context, input: Input): Promise<Result> {
  const { room, identity, track, source, all, wanted } = input;
  if ([track, source, all || undefined].filter((given) => given !== undefined).length > 1)
    throw usageError('--track, --source and --all exclude each other', 'give one of them');
  const client = await context.client();
  const sids = track === undefined ? await chooseTracks(context, input) : [track];
  if (sids.length === 0) {
    const what = source === undefined ? 'nothing' : `no ${source}`;
    return done(`${identity} publishes ${what} that is ${wanted === 'muted' ? 'not muted' : 'muted'}.`);
  }
  const { signal } = context.io;
  const muted = await forEachTarget(context, sids, (trackSid) =>
    wanted === 'muted'
      ? client.participants.mute({ room, identity, trackSid }, { signal })
      : client.participants.unmute({ room, identity, trackSid }, { signal }),
  );
  const verb = wanted === 'muted' ? 'Muted' : 'Unmuted';
  return nameSucceeded(muted, (names) => `${verb} ${names} of ${identity}.`);
}

async function chooseTracks(context: Context, input: Input): Promise<readonly string[]> {
  const { room, identity, source, all, wanted } = input;
  const { tracks } = await findParticipant(context, room, identity);
  const isOfSource = (track: Track): boolean => source === undefined || track.source.toLowerCase() === source;
  const open = tracks.filter((track) => track.muted !== (wanted === 'muted') && isOfSource(track));
  if (all || source !== undefined || open.length <= 1) return open.map((track) => track.sid);
  const labels = open.map((track) => `${track.sid} ${describeTrack(track)}`);
  if (!context.prompter.isInteractive) {
    throw usageError(
      `${identity} has ${open.length} tracks: ${labels.join(', ')}`,
      'add --track SID, --source SOURCE or --all',
    );
  }
  const chosen = await context.prompter.choose('Which track?', [...labels, 'all of them']);
  const sid = chosen.split(' ')[0] ?? '';
  return chosen === 'all of them' ? open.map((track) => track.sid) : [sid];
}

type ShownTrack = Participant['tracks'][number];

/** Describes a track, such as `microphone` or `screen share (muted)`. */
export function describeTrack(track: ShownTrack): string {
  const source = track.source === 'UNKNOWN' ? track.type : track.source;
  const words = source.toLowerCase().replaceAll('_', ' ');
  return track.muted ? `${words} (muted)` : words;
}

function joinedAt(participant: Participant): { instantMs: number } | undefined {
  const seconds = Number(participant.joinedAt);
  return seconds > 0 ? { instantMs: seconds * 1000 } : undefined;
}
