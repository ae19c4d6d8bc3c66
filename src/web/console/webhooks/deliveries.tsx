import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { DELIVERY_STATES, type Delivery } from '../../../contract/deliveries.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { DataTable, type TableColumn } from '../parts/data-table.tsx';
import { Problem } from '../parts/problem.tsx';
import { Ago, Clock } from '../parts/time.tsx';
import { Empty, Loading } from '../parts/view.tsx';
import { DeliveryPanel } from './delivery-panel.tsx';
import { DeliveryStatus } from './delivery-status.tsx';
import { ReplayFailed } from './replay-failed.tsx';
import { useDeliveries } from './use-deliveries.ts';

/** Every delivery of a webhook, failed ones first. */
export function Deliveries({ webhook }: { readonly webhook: Webhook }) {
  const [parameters, setParameters] = useSearchParams();
  const [status, setStatus] = useState<Delivery['status']>();
  const { rows, error, isLoading, hasMore, more, forget } = useDeliveries(webhook.id, status);
  const selectedId = parameters.get('delivery') ?? undefined;
  const listed = rows.find(({ id }) => id === selectedId);
  const linked = useLinkedDelivery(webhook.id, listed === undefined ? parameters.get('event') : null);
  const selected = listed ?? (linked?.id === selectedId ? linked : undefined);
  const select = (id: string | undefined): void =>
    setParameters(id === undefined ? {} : { delivery: id }, { replace: true });
  return (
    <section className="filled" aria-labelledby="deliveries-title">
      <div className="section-head">
        <h2 id="deliveries-title">
          Deliveries{' '}
          <span className="count">
            {rows.length.toLocaleString()}
            {hasMore ? '+' : ''}
          </span>
        </h2>
        <select
          aria-label="Only deliveries in this state"
          value={status ?? ''}
          onChange={(event) => setStatus(DELIVERY_STATES.find((state) => state === event.target.value))}
        >
          <option value="">All, failed first</option>
          {DELIVERY_STATES.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
        <ReplayFailed webhook={webhook} onReplayed={forget} />
      </div>
      {error !== null && <Problem error={error} />}
      {isLoading && <Loading />}
      {!isLoading && rows.length === 0 && error === null && (
        <Empty title="No delivery">
          <p>Each event that this webhook registered for appears here with every attempt to deliver it.</p>
        </Empty>
      )}
      {rows.length > 0 && (
        <div className={selected === undefined ? 'split' : 'split split-open'}>
          <DataTable
            label="Deliveries"
            columns={COLUMNS}
            rows={rows}
            idOf={({ id }) => id}
            onEnd={more}
            onSelect={({ id }) => select(id)}
            selectedId={selected?.id}
          />
          {selected !== undefined && (
            <DeliveryPanel webhook={webhook} delivery={selected} onClose={() => select(undefined)} />
          )}
        </div>
      )}
    </section>
  );
}

/** The delivery that another view links to, which the list may not have loaded yet. */
function useLinkedDelivery(webhookId: string, eventId: string | null): Delivery | undefined {
  const { data } = useQuery({
    queryKey: [...KEYS.deliveries(), webhookId, 'of', eventId],
    queryFn: () => client.deliveries.list(webhookId, { eventId: eventId ?? '' }),
    enabled: eventId !== null,
  });
  return data?.deliveries[0];
}

const COLUMNS: readonly TableColumn<Delivery>[] = [
  {
    id: 'event',
    heading: 'Event',
    width: 'minmax(9.5rem, 2fr)',
    cell: ({ event }) => (
      <button type="button" className="cell-link">
        {event}
      </button>
    ),
  },
  {
    id: 'status',
    heading: 'State',
    width: 'minmax(7.5rem, 1fr)',
    cell: (delivery) => <DeliveryStatus delivery={delivery} />,
  },
  {
    id: 'created',
    heading: 'Event at',
    width: 'minmax(6rem, 1fr)',
    cell: ({ createdAt }) => <Clock at={createdAt} />,
  },
  {
    id: 'attempts',
    heading: 'Attempts',
    width: 'minmax(4.5rem, 0.5fr)',
    isSecondary: true,
    cell: ({ attempts }) => attempts.length,
  },
  {
    id: 'next',
    heading: 'Next try',
    width: 'minmax(6rem, 1fr)',
    isSecondary: true,
    cell: ({ nextAttemptAt }) => <Ago at={nextAttemptAt} />,
  },
  {
    id: 'error',
    heading: 'Error',
    width: 'minmax(8rem, 3fr)',
    isSecondary: true,
    cell: ({ attempts }) => attempts.at(-1)?.error ?? <span className="faint">—</span>,
  },
];
