import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { DataTable, type TableColumn } from '../parts/data-table.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { Empty, Loading, View } from '../parts/view.tsx';
import { CreateWebhook } from './webhook-changes.tsx';

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
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data?.webhooks.length === 0 && (
        <Empty title="No webhook is registered">
          <p>
            A webhook is a URL that gets a signed request for each event. What it does not accept is sent
            again.
          </p>
        </Empty>
      )}
      {data !== undefined && data.webhooks.length > 0 && (
        <DataTable
          label="Webhooks"
          columns={COLUMNS}
          rows={data.webhooks}
          getId={({ id }) => id}
          onSelect={({ id }) => navigate(`/webhooks/${id}`)}
        />
      )}
    </View>
  );
}

/** The number of failed deliveries, up to a page of them; read for each visible webhook. */
function FailedCount({ webhookId }: { readonly webhookId: string }) {
  const { data } = useQuery({
    queryKey: [...KEYS.deliveries(), webhookId, 'failed-count'],
    queryFn: () => client.deliveries.list(webhookId, { status: 'failed', limit: 100 }),
  });
  if (data === undefined) return null;
  const count = `${data.deliveries.length}${data.nextCursor === null ? '' : '+'}`;
  return data.deliveries.length === 0 ? (
    <Status tone="good">None</Status>
  ) : (
    <Status tone="bad">{count} failed</Status>
  );
}

const COLUMNS: readonly TableColumn<Webhook>[] = [
  {
    id: 'url',
    heading: 'URL',
    width: 'minmax(10rem, 3fr)',
    cell: ({ id, url }) => (
      <Link href={`/webhooks/${id}`} className="cell-link" onClick={(event) => event.stopPropagation()}>
        {url}
      </Link>
    ),
  },
  {
    id: 'failed',
    heading: 'Failed',
    width: 'minmax(6rem, 1fr)',
    cell: ({ id }) => <FailedCount webhookId={id} />,
  },
  {
    id: 'events',
    heading: 'Events',
    width: 'minmax(8rem, 2fr)',
    isSecondary: true,
    cell: ({ events }) => (events.includes('*') ? 'All' : events.join(', ')),
  },
  {
    id: 'created',
    heading: 'Registered',
    width: 'minmax(7rem, 1fr)',
    isSecondary: true,
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
];
