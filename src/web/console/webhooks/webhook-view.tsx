import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { Delivery } from '../../../contract/deliveries.ts';
import { ROOT_KEY_ID } from '../../../contract/keys.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { writeCommand } from '../parts/command-line.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { Loading, View } from '../parts/view.tsx';
import { Deliveries } from './deliveries.tsx';
import { MOST_PLOTTED, useNewestDeliveries } from './use-deliveries.ts';
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
      command={writeCommand('webhooks', 'deliveries', id)}
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

function noteOf({ events, ordering, createdBy }: Webhook): string | undefined {
  const notes = [
    ...(events.includes('*') ? [] : [events.join(', ')]),
    ...(ordering === 'room' ? ['events of a room in order'] : []),
    ...(createdBy === ROOT_KEY_ID ? [] : [`registered by ${createdBy}`]),
  ];
  return notes.length === 0 ? undefined : notes.join('; ');
}

const DeliveryPlot = lazy(async () => ({ default: (await import('./delivery-plot.tsx')).DeliveryPlot }));

/** Numbers and a plot of the newest deliveries, and how long the oldest has waited. */
export function DeliverySummary({ webhookId }: { readonly webhookId: string }) {
  const deliveries = useNewestDeliveries(webhookId);
  if (deliveries.length === 0) return null;
  const count = (state: Delivery['status']): string =>
    deliveries.filter(({ status }) => status === state).length.toLocaleString();
  const waiting = deliveries.filter(({ status }) => status === 'pending');
  const oldest = waiting.map(({ createdAt }) => createdAt).toSorted()[0];
  return (
    <section className="summary" aria-label="Newest deliveries">
      <dl>
        <div>
          <dt>
            <Status tone="good">Delivered</Status>
          </dt>
          <dd>{count('delivered')}</dd>
        </div>
        <div>
          <dt>
            <Status tone="bad">Failed</Status>
          </dt>
          <dd>{count('failed')}</dd>
        </div>
        <div>
          <dt>
            <Status tone="warning">Waiting</Status>
          </dt>
          <dd>{count('pending')}</dd>
        </div>
        <div>
          <dt>Oldest waiting</dt>
          <dd className="summary-age">{oldest === undefined ? 'None' : <Ago at={oldest} />}</dd>
        </div>
      </dl>
      <Suspense fallback={<div className="plot" />}>
        <DeliveryPlot deliveries={deliveries} />
      </Suspense>
      {deliveries.length >= MOST_PLOTTED && (
        <p className="faint">The newest {deliveries.length.toLocaleString()} deliveries.</p>
      )}
    </section>
  );
}
