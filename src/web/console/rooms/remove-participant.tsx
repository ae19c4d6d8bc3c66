import { UserX } from 'lucide-react';
import { useRef } from 'react';
import type { BlockDuration } from '../../../contract/blocks.ts';
import type { Participant } from '../../../contract/participants.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { commandOf } from '../parts/command-line.tsx';
import { DraftFields } from '../parts/draft-fields.tsx';
import { nameOf } from './room-facts.ts';

type Choice = {
  readonly name: string;
  readonly block: BlockDuration | undefined;
  /** Value of `rtc participants remove --block`. */
  readonly option: string | undefined;
};

const AT_ONCE: Choice = {
  name: 'At once, with a token that is still valid',
  block: undefined,
  option: undefined,
};

const CHOICES: readonly Choice[] = [
  AT_ONCE,
  { name: 'After an hour', block: 3_600, option: '1h' },
  { name: 'After a day', block: 86_400, option: '24h' },
  { name: 'Never', block: 'forever', option: 'forever' },
];

type Props = { readonly room: string; readonly participant: Participant };

/** Disconnects a participant, and optionally blocks the identity. */
export function RemoveButton({ room, participant }: Props) {
  const { identity } = participant;
  const name = nameOf(participant);
  const chosen = useRef(AT_ONCE);
  return (
    <ChangeButton
      label={`Remove ${name}`}
      change={() => {
        chosen.current = AT_ONCE;
        return {
          question: `Remove ${name} from ${room}?`,
          consequence: 'They are disconnected.',
          fields: (
            <DraftFields
              initial={AT_ONCE}
              onDraft={(choice) => (chosen.current = choice)}
              commandOf={({ option }) =>
                commandOf(
                  ...['participants', 'remove', room, identity],
                  ...(option === undefined ? [] : ['--block', option]),
                )
              }
            >
              {(choice, change) => (
                <label className="field">
                  They may come back
                  <select
                    value={choice.name}
                    onChange={({ target }) =>
                      change(CHOICES.find((one) => one.name === target.value) ?? AT_ONCE)
                    }
                  >
                    {CHOICES.map((one) => (
                      <option key={one.name}>{one.name}</option>
                    ))}
                  </select>
                </label>
              )}
            </DraftFields>
          ),
          verb: 'Remove',
          isDestructive: true,
          run: async () => {
            const { block } = chosen.current;
            await client.participants.remove(room, identity, { block });
          },
        };
      }}
    >
      <UserX aria-hidden /> Remove
    </ChangeButton>
  );
}
