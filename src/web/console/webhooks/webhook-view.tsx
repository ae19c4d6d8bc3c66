import { useQuery } from '@tanstack/react-query';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { commandOf } from '../parts/command-line.tsx';
import { Problem } from '../parts/problem.tsx';
import { Loading, View } from '../parts/view.tsx';
import { Deliveries } from './deliveries.tsx';
import { DeliverySummary } from './delivery-summary.tsx';
import { WebhookActions } from './webhook-changes.tsx';

/** One webhook: a summary of its deliveries, and each of them. */
export function WebhookView({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...KEYS.webhooks(), id],
    queryFn: () => client.webhooks.get(id),
  });
  return (
    <View
      title={data === undefined ? 'Webhook' : data.url}
      note={data === undefined ? undefined : noteOf(data)}
      command={commandOf('webhooks', 'deliveries', id)}
      actions={data === undefined ? undefined : <WebhookActions webhook={data} />}
      isFilled
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <>
          <DeliverySummary webhookId={id} />
          <Deliveries webhook={data} />
        </>
      )}
    </View>
  );
}

function noteOf({ events, ordering }: Webhook): string | undefined {
  const notes = [
    ...(events.includes('*') ? [] : [events.join(', ')]),
    ...(ordering === 'room' ? ['events of a room in order'] : []),
  ];
  return notes.length === 0 ? undefined : notes.join('; ');
}
