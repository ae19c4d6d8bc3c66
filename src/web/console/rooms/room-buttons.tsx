import { DoorClosed, MessageSquare, MicOff, Pencil } from 'lucide-react';
import { useRef } from 'react';
import { useLocation } from 'wouter';
import type { Room } from '../../../contract/rooms.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { DraftFields } from '../parts/draft-fields.tsx';

/* The actions on a room and on all of its participants. */

const WHAT = [
  { name: 'Microphones', source: 'microphone' },
  { name: 'Microphones, cameras and screens', source: undefined },
] as const;

type What = (typeof WHAT)[number];

export function MuteAllButton({ room }: { readonly room: string }) {
  const chosen = useRef<What>(WHAT[0]);
  return (
    <ChangeButton
      change={() => {
        chosen.current = WHAT[0];
        return {
          question: `Mute everybody in ${room}?`,
          consequence: 'They may unmute themselves.',
          fields: (
            <DraftFields<What>
              initial={WHAT[0]}
              onDraft={(what) => (chosen.current = what)}
              writeCommand={({ source }) =>
                writeCommand('rooms', 'mute', room, ...(source === undefined ? [] : ['--source', source]))
              }
            >
              {(what, change) => (
                <label className="field">
                  What
                  <select
                    value={what.name}
                    onChange={({ target }) =>
                      change(WHAT.find(({ name }) => name === target.value) ?? WHAT[0])
                    }
                  >
                    {WHAT.map(({ name }) => (
                      <option key={name}>{name}</option>
                    ))}
                  </select>
                </label>
              )}
            </DraftFields>
          ),
          verb: 'Mute',
          run: async () => {
            const { source } = chosen.current;
            const { muted } = await client.rooms.mute(
              room,
              source === undefined ? {} : { sources: [source] },
            );
            return <p>{muted.length === 1 ? '1 track was muted.' : `${muted.length} tracks were muted.`}</p>;
          },
        };
      }}
    >
      <MicOff aria-hidden /> Mute all
    </ChangeButton>
  );
}

const NOTHING = { data: '', topic: '' };

type MessageProps = {
  readonly typed: typeof NOTHING;
  readonly onChange: (changed: Partial<typeof NOTHING>) => void;
};

function MessageFields({ typed: { data, topic }, onChange }: MessageProps) {
  return (
    <>
      <label className="field">
        Text
        <textarea
          rows={3}
          required
          value={data}
          onChange={({ target }) => onChange({ data: target.value })}
        />
      </label>
      <label className="field">
        Topic, by which clients tell messages apart
        <input value={topic} onChange={({ target }) => onChange({ topic: target.value })} />
      </label>
    </>
  );
}

export function SendButton({ room }: { readonly room: string }) {
  const draft = useRef(NOTHING);
  return (
    <ChangeButton
      change={() => {
        draft.current = NOTHING;
        return {
          question: `Send data to everybody in ${room}`,
          consequence: 'Their clients get it in dataReceived.',
          fields: (
            <DraftFields
              initial={NOTHING}
              onDraft={(next) => (draft.current = next)}
              writeCommand={({ data, topic }) =>
                writeCommand('rooms', 'send', room, data, ...(topic === '' ? [] : ['--topic', topic]))
              }
            >
              {(typed, change) => <MessageFields typed={typed} onChange={change} />}
            </DraftFields>
          ),
          verb: 'Send',
          run: async () => {
            const { data, topic } = draft.current;
            const { sentTo } = await client.rooms.send(room, { data, ...(topic === '' ? {} : { topic }) });
            return (
              <p>
                {sentTo.length === 1 ? 'Sent to 1 participant.' : `Sent to ${sentTo.length} participants.`}
              </p>
            );
          },
        };
      }}
    >
      <MessageSquare aria-hidden /> Send data
    </ChangeButton>
  );
}

export function MetadataButton({ room: { name, metadata } }: { readonly room: Room }) {
  const draft = useRef({ metadata });
  return (
    <ChangeButton
      className="icon"
      label="Change the metadata"
      change={() => {
        draft.current = { metadata };
        return {
          question: `Change the metadata of ${name}`,
          consequence: 'Everyone in the room sees the change at once.',
          fields: (
            <DraftFields
              initial={{ metadata }}
              onDraft={(next) => (draft.current = next)}
              writeCommand={(next) => writeCommand('rooms', 'update', name, '--metadata', next.metadata)}
            >
              {(next, change) => (
                <label className="field">
                  Metadata
                  <textarea
                    className="mono"
                    rows={4}
                    value={next.metadata}
                    spellCheck={false}
                    onChange={({ target }) => change({ metadata: target.value })}
                  />
                </label>
              )}
            </DraftFields>
          ),
          verb: 'Change',
          run: async () => {
            await client.rooms.update(name, draft.current);
          },
        };
      }}
    >
      <Pencil aria-hidden />
    </ChangeButton>
  );
}

type Reopening = {
  readonly text: string;
  readonly options: readonly string[];
  readonly forMs?: number;
  readonly reopen?: 'never';
};

const HOUR_MS = 3_600_000;

/** Who can open the room again. */
const REOPENINGS: readonly [Reopening, ...Reopening[]] = [
  { text: 'Whoever has a token can open it again', options: [] },
  { text: 'Keep it closed for an hour', options: ['--until', '1h'], forMs: HOUR_MS },
  { text: 'Keep it closed for a day', options: ['--until', '1d'], forMs: 24 * HOUR_MS },
  { text: 'Keep it closed until it is created again', options: ['--reopen', 'never'], reopen: 'never' },
];

type CloseProps = {
  readonly room: Room;
  readonly participants: number;
  readonly isRecorded: boolean;
};

export function CloseButton({ room, participants, isRecorded }: CloseProps) {
  const [, navigate] = useLocation();
  const reopening = useRef<Reopening>(REOPENINGS[0]);
  const people = participants === 1 ? '1 participant' : `${participants} participants`;
  const recording = isRecorded ? ', and the recording ends' : '';
  const loss = participants === 0 ? 'Nobody is in it' : `${people} will be disconnected`;
  return (
    <ChangeButton
      className="danger-quiet"
      change={() => {
        reopening.current = REOPENINGS[0];
        return {
          question: `Close room ${room.name}?`,
          consequence: `${loss}${recording}.`,
          fields: <ReopeningField room={room.name} onChoice={(next) => (reopening.current = next)} />,
          verb: 'Close the room',
          isDestructive: true,
          run: async () => {
            const { forMs, reopen } = reopening.current;
            const until = forMs === undefined ? undefined : new Date(Date.now() + forMs).toISOString();
            await client.rooms.delete(room.name, { reopen, until });
            navigate('/rooms');
          },
        };
      }}
    >
      <DoorClosed aria-hidden /> Close
    </ChangeButton>
  );
}

type ReopeningProps = { readonly room: string; readonly onChoice: (reopening: Reopening) => void };

/** Asks when the room may be entered again. */
function ReopeningField({ room, onChoice }: ReopeningProps) {
  return (
    <DraftFields<Reopening>
      initial={REOPENINGS[0]}
      onDraft={onChoice}
      writeCommand={({ options }) => writeCommand('rooms', 'delete', room, ...options)}
    >
      {(chosen, change) => (
        <label className="field">
          Then
          <select
            value={chosen.text}
            onChange={({ target }) =>
              change(REOPENINGS.find(({ text }) => text === target.value) ?? REOPENINGS[0])
            }
          >
            {REOPENINGS.map(({ text }) => (
              <option key={text}>{text}</option>
            ))}
          </select>
        </label>
      )}
    </DraftFields>
  );
}
