import { MessageSquare, MicOff, Pencil } from 'lucide-react';
import { useRef } from 'react';
import type { Room } from '../../../contract/rooms.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { DraftFields } from '../parts/draft-fields.tsx';

/* The actions on all participants of a room. */

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
