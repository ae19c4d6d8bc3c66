import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ROOT_KEY_ID } from '../../../contract/keys.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { writeCommand } from '../parts/command-line.tsx';
import { LAST_DAY, PERIODS, PeriodSelect } from '../parts/period.tsx';
import { Problem } from '../parts/problem.tsx';
import { Loading, View } from '../parts/view.tsx';
import { Deliveries } from './deliveries.tsx';
import { WebhookActions } from './webhook-changes.tsx';
import { DeliveryBars, statsQuery, WebhookHealth } from './webhook-health.tsx';

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

/** Its health, and what became of the deliveries of a period. */
function DeliverySummary({ webhookId }: { readonly webhookId: string }) {
  const [period, setPeriod] = useState(LAST_DAY);
  const { data, error } = useQuery(statsQuery(webhookId, period.ms));
  if (error !== null) return <Problem error={error} />;
  const count = (amount: number | undefined): string => amount?.toLocaleString() ?? '…';
  return (
    <section className="summary" aria-label="Deliveries of a period">
      <div className="summary-head">
        {data !== undefined && <WebhookHealth health={data.health} />}
        <PeriodSelect periods={PERIODS} value={period} onChange={setPeriod} />
      </div>
      <dl>
        <div>
          <dt>Delivered</dt>
          <dd>{count(data?.delivered)}</dd>
        </div>
        <div>
          <dt>Failed</dt>
          <dd className={data !== undefined && data.failed > 0 ? 'amount-bad' : undefined}>
            {count(data?.failed)}
          </dd>
        </div>
        <div>
          <dt>Waiting</dt>
          <dd>{count(data?.pending)}</dd>
        </div>
        <div>
          <dt>Retried now</dt>
          <dd className={data !== undefined && data.retrying > 0 ? 'amount-warning' : undefined}>
            {count(data?.retrying)}
          </dd>
        </div>
      </dl>
      <DeliveryBars periods={data?.periods ?? []} />
      {data?.isComplete === false && (
        <p className="faint">Of more than 50,000 deliveries in one state only the newest are counted.</p>
      )}
    </section>
  );
}
