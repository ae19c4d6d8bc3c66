import { ListOrdered } from 'lucide-react';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { commandOf } from '../parts/command-line.tsx';

/** Asks for the events of a room in order, or no longer. */
export function ChangeOrder({ webhook: { id, ordering } }: { readonly webhook: Webhook }) {
  const isOrdered = ordering === 'room';
  return (
    <ChangeButton
      change={() => ({
        question: isOrdered
          ? 'Send the events of a room side by side?'
          : 'Send the events of a room in order?',
        consequence: isOrdered
          ? 'From now on, events of a room may overtake each other.'
          : 'From now on, each event waits until the receiver has accepted the one before it in its room.',
        verb: isOrdered ? 'Send them side by side' : 'Send them in order',
        command: commandOf('webhooks', 'update', id, isOrdered ? '--unordered' : '--ordered'),
        run: async () => {
          await client.webhooks.update(id, { ordering: isOrdered ? 'none' : 'room' });
        },
      })}
    >
      <ListOrdered aria-hidden /> {isOrdered ? 'Stop ordering' : 'Order events'}
    </ChangeButton>
  );
}
