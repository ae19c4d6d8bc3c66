import { Plus } from 'lucide-react';
import { useState } from 'react';
import { INGRESS_TYPES, type IngressType } from '../../../contract/choices.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { CommandLine, writeCommand } from '../parts/command-line.tsx';

type Typed = { type: IngressType; name: string };

export function CreateIngress({ room }: { readonly room: string }) {
  const typed: Typed = { type: 'rtmp', name: '' };
  return (
    <ChangeButton
      className="primary"
      change={() => ({
        question: `Stream into ${room}`,
        consequence: 'Whoever has the stream key can publish into the room.',
        fields: <Fields room={room} typed={typed} />,
        verb: 'Create',
        run: async () => {
          const { type, name } = typed;
          await client.ingress.create(room, { type, ...(name === '' ? {} : { participantName: name }) });
        },
      })}
    >
      <Plus aria-hidden /> Create an ingress
    </ChangeButton>
  );
}

function Fields({ room, typed }: { readonly room: string; readonly typed: Typed }) {
  const [{ type, name }, setShown] = useState({ type: typed.type, name: typed.name });
  const change = (changed: Partial<Typed>): void => {
    Object.assign(typed, changed);
    setShown({ ...typed });
  };
  return (
    <>
      <label className="field">
        Protocol
        <select
          value={type}
          onChange={(event) =>
            change({ type: INGRESS_TYPES.find((known) => known === event.target.value) ?? 'rtmp' })
          }
        >
          {INGRESS_TYPES.map((known) => (
            <option key={known} value={known}>
              {known.toUpperCase()}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        Name that others see
        <input
          value={name}
          placeholder="Ingress Stream"
          maxLength={256}
          onChange={(event) => change({ name: event.target.value })}
        />
      </label>
      <CommandLine
        command={writeCommand(
          'ingress',
          'create',
          room,
          '--type',
          type,
          ...(name === '' ? [] : ['--name', name]),
        )}
      />
    </>
  );
}
