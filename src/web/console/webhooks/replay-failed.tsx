import { RotateCcw } from 'lucide-react';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { commandOf } from '../parts/command-line.tsx';

type Props = { readonly webhook: Webhook; readonly onReplayed: () => void };

/** Sends all failed deliveries again. */
export function ReplayFailed({ webhook: { id, url, createdAt }, onReplayed }: Props) {
  return (
    <ChangeButton
      change={() => ({
        question: 'Send all failed deliveries again?',
        consequence: `They go to ${url} with their own event ids, signed anew.`,
        verb: 'Send all again',
        command: commandOf('webhooks', 'replay', id),
        run: async () => {
          const { replayed } = await client.deliveries.replayFailed(id, createdAt);
          onReplayed();
          return <p>{describeReplayed(replayed)}</p>;
        },
      })}
    >
      <RotateCcw aria-hidden /> Replay failed
    </ChangeButton>
  );
}

function describeReplayed(count: number): string {
  if (count === 0) return 'None had failed.';
  return count === 1 ? '1 delivery is sent again.' : `${count.toLocaleString()} deliveries are sent again.`;
}
