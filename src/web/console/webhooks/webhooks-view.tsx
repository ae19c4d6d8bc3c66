import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { CellLink, type TableColumn } from '../parts/data-table.tsx';
import { Rows } from '../parts/list-view.tsx';
import { DAY_MS } from '../parts/period.tsx';
import { Ago } from '../parts/time.tsx';
import { View } from '../parts/view.tsx';
import { CreateWebhook } from './webhook-changes.tsx';
import { statsQuery, WebhookHealth } from './webhook-health.tsx';

/** The registered webhooks. */
export function Webhooks() {
  const [, navigate] = useLocation();
  const { data, error, refetch } = useQuery({
    queryKey: KEYS.webhooks(),
    queryFn: () => client.webhooks.list(),
  });
  return (
    <View
      title="Webhooks"
      note={data === undefined ? undefined : `${data.webhooks.length} registered`}
      command="rtc webhooks list"
      actions={<CreateWebhook />}
      isFilled
    >
      <Rows
        label="Webhooks"
        columns={COLUMNS}
        rows={data?.webhooks}
        error={error}
        onRetry={() => void refetch()}
        empty={{
          title: 'No webhook is registered',
          text: 'A webhook is a URL that gets a signed request for each event. What it does not accept is sent again.',
        }}
        getId={({ id }) => id}
        onSelect={({ id }) => navigate(`/webhooks/${id}`)}
      />
    </View>
  );
}

/** Read for each visible webhook. */
function Health({ webhook: { id, pausedAt } }: { readonly webhook: Webhook }) {
  const { data: stats } = useQuery(statsQuery(id, DAY_MS));
  return stats === undefined ? null : <WebhookHealth health={stats.health} pausedAt={pausedAt} />;
}

function FailedToday({ webhookId }: { readonly webhookId: string }) {
  const { data: stats } = useQuery(statsQuery(webhookId, DAY_MS));
  if (stats === undefined) return null;
  const { failed, retrying } = stats;
  const retries = retrying === 0 ? '' : `, ${retrying.toLocaleString()} retried`;
  return `${failed === 0 ? 'None' : failed.toLocaleString()}${retries}`;
}

const COLUMNS: readonly TableColumn<Webhook>[] = [
  {
    heading: 'URL',
    width: 'minmax(10rem, 4fr)',
    cell: ({ id, url }) => <CellLink href={`/webhooks/${id}`}>{url}</CellLink>,
  },
  {
    heading: 'Health',
    width: 'minmax(7.5rem, 1fr)',
    cell: (webhook) => <Health webhook={webhook} />,
  },
  {
    heading: 'Failed in 24 h',
    width: 'minmax(7rem, 1fr)',
    isSecondary: true,
    cell: ({ id }) => <FailedToday webhookId={id} />,
  },
  {
    heading: 'Events',
    width: 'minmax(8rem, 1.5fr)',
    isSecondary: true,
    cell: ({ events }) => (events.includes('*') ? 'All' : events.join(', ')),
  },
  {
    heading: 'Registered',
    width: 'minmax(7rem, 1fr)',
    isSecondary: true,
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
];
