import type { Delivery } from '../../../contract/deliveries.ts';
import { Status, type Tone } from '../parts/status.tsx';

const TONES: Readonly<Record<Delivery['status'], Tone>> = {
  delivered: 'good',
  failed: 'bad',
  pending: 'warning',
  cancelled: 'neutral',
};

/** The state of a delivery, with the receiver's last response. */
export function DeliveryStatus({ delivery }: { readonly delivery: Delivery }) {
  const { status, attempts } = delivery;
  const statusCode = attempts.at(-1)?.statusCode;
  const isWaiting = status === 'pending' && attempts.length > 0;
  return (
    <Status tone={TONES[status]}>
      {isWaiting ? 'waiting' : status}
      {typeof statusCode === 'number' && <span className="faint"> {statusCode}</span>}
    </Status>
  );
}
