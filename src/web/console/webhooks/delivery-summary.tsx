import { lazy, Suspense } from 'react';
import type { Delivery } from '../../../contract/deliveries.ts';
import { Status } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { MOST_PLOTTED, useNewestDeliveries } from './use-deliveries.ts';

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
