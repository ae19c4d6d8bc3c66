import { DoorClosed, MessageSquare, MicOff, Pencil } from 'lucide-react';

import { useLocation } from 'wouter';
import type { Room } from '../../../contract/rooms.ts';
import { client } from '../api/client.ts';
import { askForDraft, ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { LongField, SelectField, TextField } from '../parts/fields.tsx';

/* The actions on a room and on all of its participants. */

const WHAT = [
  { name: 'Microphones', source: 'microphone' },
  { name: 'Microphones, cameras and screens', source: undefined },
] as const;

type What = (typeof WHAT)[number];

export function MuteAllButton({ room }: { readonly room: string }) {
  return (
    <ChangeButton
      question={`Mute everybody in ${room}?`}
      consequence="They may unmute themselves."
      verb="Mute"
      {...askForDraft<What>({
        initial: WHAT[0],
        writeCommand: ({ source }) => writeCommand('rooms', 'mute', room, { '--source': source }),
        fields: (what, change) => (
          <SelectField
            label="What"
            choices={WHAT}
            words={({ name }) => name}
            chosen={what}
            onChange={change}
          />
        ),
        run: async ({ source }) => {
          const { muted } = await client.rooms.mute(room, source === undefined ? {} : { sources: [source] });
          return <p>{muted.length === 1 ? '1 track was muted.' : `${muted.length} tracks were muted.`}</p>;
        },
      })}
    >
      <MicOff aria-hidden /> Mute all
    </ChangeButton>
  );
}

export function SendButton({ room }: { readonly room: string }) {
  return (
    <ChangeButton
      question={`Send data to everybody in ${room}`}
      consequence="Their clients get it in dataReceived."
      verb="Send"
      {...askForDraft({
        initial: { data: '', topic: '' },
        writeCommand: ({ data, topic }) => writeCommand('rooms', 'send', room, data, { '--topic': topic }),
        fields: ({ data, topic }, change) => (
          <>
            <LongField
              label="Text"
              rows={3}
              required
              value={data}
              onChange={(text) => change({ data: text })}
            />
            <TextField
              label="Topic, by which clients tell messages apart"
              value={topic}
              onChange={(text) => change({ topic: text })}
            />
          </>
        ),
        run: async ({ data, topic }) => {
          const { sentTo } = await client.rooms.send(room, { data, ...(topic === '' ? {} : { topic }) });
          return (
            <p>{sentTo.length === 1 ? 'Sent to 1 participant.' : `Sent to ${sentTo.length} participants.`}</p>
          );
        },
      })}
    >
      <MessageSquare aria-hidden /> Send data
    </ChangeButton>
  );
}

export function MetadataButton({ room: { name, metadata } }: { readonly room: Room }) {
  return (
    <ChangeButton
      className="icon"
      label="Change the metadata"
      question={`Change the metadata of ${name}`}
      consequence="Everyone in the room sees the change at once."
      verb="Change"
      {...askForDraft({
        initial: { metadata },
        writeCommand: (draft) => writeCommand('rooms', 'update', name, '--metadata', draft.metadata),
        fields: (draft, change) => (
          <LongField
            label="Metadata"
            className="mono"
            rows={4}
            value={draft.metadata}
            spellCheck={false}
            onChange={(metadata) => change({ metadata })}
          />
        ),
        run: (draft) => client.rooms.update(name, draft),
      })}
    >
      <Pencil aria-hidden />
    </ChangeButton>
  );
}

type Reopening = {
  readonly text: string;
  readonly options: readonly string[];
  readonly forMs: number | undefined;
  readonly reopen: 'never' | undefined;
};

const HOUR_MS = 3_600_000;

/** The people who can open the room again. Each choice has every member, so that it replaces a former one. */
const REOPENINGS: readonly [Reopening, ...Reopening[]] = [
  { text: 'Whoever has a token can open it again', options: [], forMs: undefined, reopen: undefined },
  { text: 'Keep it closed for an hour', options: ['--until', '1h'], forMs: HOUR_MS, reopen: undefined },
  { text: 'Keep it closed for a day', options: ['--until', '1d'], forMs: 24 * HOUR_MS, reopen: undefined },
  {
    text: 'Keep it closed until it is created again',
    options: ['--reopen', 'never'],
    forMs: undefined,
    reopen: 'never',
  },
];

type CloseProps = {
  readonly room: Room;
  readonly participants: number;
  readonly isRecorded: boolean;
};

export function CloseButton({ room, participants, isRecorded }: CloseProps) {
  const [, navigate] = useLocation();
  const people = participants === 1 ? '1 participant' : `${participants} participants`;
  const recording = isRecorded ? ', and the recording ends' : '';
  const loss = participants === 0 ? 'Nobody is in it' : `${people} will be disconnected`;
  return (
    <ChangeButton
      className="danger-quiet"
      question={`Close room ${room.name}?`}
      consequence={`${loss}${recording}.`}
      verb="Close the room"
      isDestructive
      {...askForDraft<Reopening>({
        initial: REOPENINGS[0],
        writeCommand: ({ options }) => writeCommand('rooms', 'delete', room.name, ...options),
        fields: (chosen, change) => (
          <SelectField
            label="Then"
            choices={REOPENINGS}
            words={({ text }) => text}
            chosen={chosen}
            onChange={change}
          />
        ),
        run: async ({ forMs, reopen }) => {
          const until = forMs === undefined ? undefined : new Date(Date.now() + forMs).toISOString();
          await client.rooms.delete(room.name, { reopen, until });
          navigate('/rooms');
        },
      })}
    >
      <DoorClosed aria-hidden /> Close
    </ChangeButton>
  );
}
