import { UserPen } from 'lucide-react';
import { useRef } from 'react';
import { ROLES, type Role } from '../../../contract/choices.ts';
import type { Participant, ParticipantPatch } from '../../../contract/participants.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { commandOf } from '../parts/command-line.tsx';
import { DraftFields } from '../parts/draft-fields.tsx';
import { nameOf, roleOf } from './room-facts.ts';

type Draft = { readonly name: string; readonly role: string; readonly metadata: string };

type Props = { readonly room: string; readonly participant: Participant };

/** Changes the name, the role or the metadata of a participant in the room. */
export function EditButton({ room, participant }: Props) {
  const { identity } = participant;
  const initial = draftOf(participant);
  const draft = useRef(initial);
  return (
    <ChangeButton
      label={`Change ${nameOf(participant)}`}
      change={() => {
        draft.current = initial;
        return {
          question: `Change ${nameOf(participant)} in ${room}`,
          consequence: 'Everyone in the room sees the change at once. The role lasts until they leave.',
          fields: (
            <DraftFields
              initial={initial}
              onDraft={(next) => (draft.current = next)}
              commandOf={(next) =>
                commandOf('participants', 'update', room, identity, ...optionsOf(initial, next))
              }
            >
              {(next, change) => <EditFields draft={next} change={change} />}
            </DraftFields>
          ),
          verb: 'Change',
          run: async () => {
            await client.participants.update({ room, identity }, patchOf(initial, draft.current));
          },
        };
      }}
    >
      <UserPen aria-hidden /> Change
    </ChangeButton>
  );
}

type FieldsProps = { readonly draft: Draft; readonly change: (changed: Partial<Draft>) => void };

function EditFields({ draft: { name, role, metadata }, change }: FieldsProps) {
  return (
    <>
      <label className="field">
        Name
        <input value={name} maxLength={256} onChange={({ target }) => change({ name: target.value })} />
      </label>
      <label className="field">
        Role
        <select value={role} onChange={({ target }) => change({ role: target.value })}>
          {role === '' && <option value="">None</option>}
          {ROLES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <label className="field">
        Metadata, a JSON object
        <textarea
          className="mono"
          rows={3}
          value={metadata}
          spellCheck={false}
          onChange={({ target }) => change({ metadata: target.value })}
        />
      </label>
    </>
  );
}

function draftOf(participant: Participant): Draft {
  const { name, metadata } = participant;
  return { name, role: roleOf(participant) ?? '', metadata };
}

function optionsOf(initial: Draft, { name, role, metadata }: Draft): readonly string[] {
  return [
    ...(role === initial.role ? [] : ['--role', role]),
    ...(name === initial.name ? [] : ['--name', name]),
    ...(metadata === initial.metadata ? [] : ['--metadata', metadata]),
  ];
}

function patchOf(initial: Draft, { name, role, metadata }: Draft): ParticipantPatch {
  const patch: ParticipantPatch = {
    ...(name === initial.name ? {} : { name }),
    ...(isRole(role) && role !== initial.role ? { role } : {}),
    ...(metadata === initial.metadata ? {} : { metadata: objectOf(metadata) }),
  };
  if (Object.keys(patch).length === 0) throw new Error('Nothing is changed yet.');
  return patch;
}

function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // The same error is shown for a text that is no JSON.
  }
  throw new Error('The metadata is not a JSON object, such as {"team":"red"}.');
}
