import type { RtcClient } from '../../../client/client.ts';
import type { Focus } from './draw-screen.ts';
import type { TopState } from './state.ts';

/** The action of a key: the change, and a question before it if something is lost. */
export type Action = {
  /** Undefined when nothing is lost, so that nothing is asked. */
  readonly question: string | undefined;
  /** The outcome, for the user. */
  readonly run: () => Promise<string>;
  /** The changed room. */
  readonly room: string | undefined;
};

export type Selection = {
  readonly client: RtcClient;
  readonly state: TopState;
  readonly focus: Focus;
  readonly selected: Readonly<Record<Focus, number>>;
  readonly signal: AbortSignal;
};

/** Returns the action of a key on the selected item; a text explains why there is none. */
export function findAction(key: string, selection: Selection): Action | string | undefined {
  switch (key) {
    case 'm':
      return selection.focus === 'people' ? mutePerson(selection) : muteRoom(selection);
    case 'x':
      return selection.focus === 'people' ? removePerson(selection) : closeRoom(selection);
    case 'r':
      return record(selection);
    case 's':
      return stopRecording(selection);
    case 'p':
      return replay(selection);
    default:
      return undefined;
  }
}

const NO_ROOM = 'choose a room first';
const NO_PERSON = 'nobody is selected; press Tab to go to the people of the room';

function findRoom({ state, selected }: Selection) {
  return state.rooms[selected.rooms];
}

function findPerson(selection: Selection) {
  return findRoom(selection)?.people[selection.selected.people];
}

function mutePerson(selection: Selection): Action | string {
  const { client, signal } = selection;
  const room = findRoom(selection)?.room.name;
  const person = findPerson(selection);
  if (room === undefined || person === undefined) return NO_PERSON;
  const tracks = person.tracks.filter(({ muted, type }) => !muted && type === 'AUDIO');
  if (tracks.length === 0) return `${person.identity} has no sound that is not muted`;
  return {
    question: undefined,
    room,
    run: async () => {
      for (const { sid } of tracks) {
        await client.participants.mute({ room, identity: person.identity, trackSid: sid }, { signal });
      }
      return `${person.identity} is muted.`;
    },
  };
}

function muteRoom(selection: Selection): Action | string {
  const { client, signal } = selection;
  const room = findRoom(selection)?.room.name;
  if (room === undefined) return NO_ROOM;
  return {
    question: `Mute everybody in ${room}?`,
    room,
    run: async () => {
      const { muted } = await client.rooms.mute(room, { sources: ['microphone'] }, { signal });
      return `${muted.length} muted in ${room}.`;
    },
  };
}

function removePerson(selection: Selection): Action | string {
  const { client, signal } = selection;
  const room = findRoom(selection)?.room.name;
  const person = findPerson(selection);
  if (room === undefined || person === undefined) return NO_PERSON;
  return {
    question: `Remove ${person.identity} from ${room}?`,
    room,
    run: async () => {
      await client.participants.remove(room, person.identity, { signal });
      return `${person.identity} was removed from ${room}.`;
    },
  };
}

function closeRoom(selection: Selection): Action | string {
  const { client, signal, focus } = selection;
  const found = findRoom(selection);
  if (found === undefined || focus !== 'rooms') return NO_ROOM;
  const { name } = found.room;
  return {
    question: `Delete room ${name}, with ${found.people.length} people in it?`,
    room: name,
    run: async () => {
      await client.rooms.delete(name, { signal });
      return `Room ${name} was deleted.`;
    },
  };
}

function record(selection: Selection): Action | string {
  const { client, signal } = selection;
  const found = findRoom(selection);
  if (found === undefined) return NO_ROOM;
  const { name } = found.room;
  if (found.isRecording) return `${name} is being recorded already: s stops it`;
  return {
    question: undefined,
    room: name,
    run: async () => {
      const { egressId } = await client.recordings.start(name, { signal });
      return `Recording ${name}: ${egressId}.`;
    },
  };
}

function stopRecording(selection: Selection): Action | string {
  const { client, signal } = selection;
  const found = findRoom(selection);
  if (found === undefined) return NO_ROOM;
  const { name } = found.room;
  if (!found.isRecording) return `${name} is not being recorded`;
  return {
    question: `Stop the recording of ${name}?`,
    room: name,
    run: async () => {
      const { egressId } = await client.recordings.stop(name, { signal });
      return `The recording ${egressId} of ${name} was stopped.`;
    },
  };
}

function replay({ client, signal, state, selected, focus }: Selection): Action | string {
  const found = state.deliveries[selected.deliveries];
  if (focus !== 'deliveries' || found === undefined) return 'choose a delivery first: Tab leads there';
  const { id, webhookId, status } = found.delivery;
  if (status === 'pending') return 'it is being tried already';
  return {
    question: undefined,
    room: undefined,
    run: async () => {
      await client.deliveries.replay(webhookId, id, { signal });
      return `${id} is sent again.`;
    },
  };
}
