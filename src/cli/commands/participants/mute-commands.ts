import { TRACK_SOURCES, type TrackSourceName } from '../../../contract/choices.ts';
import type { Participant } from '../../../contract/participants.ts';
import { usageError } from '../../errors/cli-error.ts';
import { defineCommand } from '../../framework/command.ts';
import type { Context } from '../../framework/context.ts';
import { forEachTarget } from '../../framework/for-each-target.ts';
import { flag, notEmpty, oneOf, option } from '../../framework/parameters.ts';
import { done, nothing, type Result } from '../../terminal/result.ts';
import { findParticipant } from './find-participant.ts';
import { describeTrack, IDENTITY, ROOM } from './participant-view.ts';

type Track = Participant['tracks'][number];

const TRACK_OPTIONS = {
  track: option('--track <sid>', 'this track', { parse: notEmpty }),
  source: option('--source <source>', 'the tracks of this source', oneOf(TRACK_SOURCES)),
};

export const mute = defineCommand({
  noun: 'participants',
  verb: 'mute',
  summary: "Mute a participant's tracks",
  description:
    'Without --track, --source or --all it mutes the only track, or asks on a terminal. Participants can unmute themselves.',
  needs: 'service',
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
  noun: 'participants',
  verb: 'unmute',
  summary: "Unmute a participant's tracks, if the media server allows it",
  description:
    'LiveKit allows this if its configuration has room.enable_remote_unmute. Otherwise only participants can unmute themselves, and the exit code is 5.',
  needs: 'service',
  arguments: { room: ROOM, identity: IDENTITY },
  options: { ...TRACK_OPTIONS, all: flag('--all', 'every track that is muted') },
  examples: [
    { line: 'rtc participants unmute demo ada --source microphone', does: 'Let the others hear ada again' },
  ],
  run: async (context, input) => await setMuted(context, { ...input, wanted: 'unmuted' }),
});

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
  const { exitCode, succeeded } = await forEachTarget(context, sids, (trackSid) =>
    wanted === 'muted'
      ? client.participants.mute({ room, identity, trackSid }, { signal })
      : client.participants.unmute({ room, identity, trackSid }, { signal }),
  );
  const verb = wanted === 'muted' ? 'Muted' : 'Unmuted';
  return succeeded.length === 0
    ? nothing({ exitCode })
    : done(`${verb} ${succeeded.join(', ')} of ${identity}.`, { exitCode });
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
