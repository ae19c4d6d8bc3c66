import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { Link } from 'wouter';
import type { Delivery } from '../../../contract/deliveries.ts';
import type { Event } from '../../../contract/events.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { Problem } from '../parts/problem.tsx';
import { Loading } from '../parts/view.tsx';
import { DeliveryStatus } from '../webhooks/delivery-status.tsx';

type Props = { readonly event: Event; readonly onClose: () => void };

/** One event: its payload as webhooks get it, and the state of its deliveries. */
export function EventPanel({ event, onClose }: Props) {
  const { id, event: name } = event;
  const found = useQuery({
    queryKey: [...KEYS.deliveries(), 'of', id],
    queryFn: () => findDeliveries(event),
  });
  return (
    <aside className="panel" aria-label={`Event ${name}`}>
      <header className="panel-head">
        <h2>{name}</h2>
        <button type="button" className="icon" aria-label="Close" onClick={onClose}>
          <X aria-hidden />
        </button>
      </header>
      <h3>Deliveries</h3>
      {found.error !== null && <Problem error={found.error} />}
      {found.data === undefined && found.error === null && <Loading />}
      {found.data?.length === 0 && <p className="faint">No webhook was registered for it.</p>}
      <ul className="plain-list">
        {found.data?.map(({ webhook, delivery }) => (
          <li key={webhook.id}>
            <Link href={`/webhooks/${webhook.id}?delivery=${delivery.id}&event=${id}`}>{webhook.url}</Link>
            <DeliveryStatus delivery={delivery} />
          </li>
        ))}
      </ul>
      <h3>Payload</h3>
      <pre className="code">{JSON.stringify(event, undefined, 2)}</pre>
    </aside>
  );
}

type Found = { readonly webhook: Webhook; readonly delivery: Delivery };

/** Finds the delivery of the event to each webhook that is registered for it. */
async function findDeliveries(event: Event): Promise<readonly Found[]> {
  const { webhooks } = await client.webhooks.list();
  const found = await Promise.all(
    webhooks.map(async (webhook) => {
      const { deliveries } = await client.deliveries.list(webhook.id, { eventId: event.id });
      return deliveries.map((delivery) => ({ webhook, delivery }));
    }),
  );
  return found.flat();
}
