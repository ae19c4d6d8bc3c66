import { useQuery } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { DELIVERY_STATES, type Delivery } from '../../../contract/deliveries.ts';
import { ROOT_KEY_ID } from '../../../contract/keys.ts';
import {
  STANDARD_SIGNATURE_HEADER,
  WEBHOOK_EVENT_HEADER,
  WEBHOOK_ID_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
} from '../../../contract/webhook-headers.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { CellButton, type TableColumn } from '../parts/data-table.tsx';
import { type Cells, ChoiceFilter, FindAndSave, useRowsWith } from '../parts/find-and-save.tsx';
import { Panel, Rows } from '../parts/list-view.tsx';
import { PERIODS, PeriodSelect, usePeriod } from '../parts/period.tsx';
import { Problem } from '../parts/problem.tsx';
import { DeliveryStatus, Status } from '../parts/status.tsx';
import { Ago, Clock } from '../parts/time.tsx';
import { useAddress } from '../parts/use-address.ts';
import { Loading, View } from '../parts/view.tsx';
import { WhatHappened } from '../parts/what-happened.tsx';
import { useDeliveries, useSelected } from './use-deliveries.ts';
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
          <DeliverySummary webhook={data} />
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
function DeliverySummary({ webhook: { id, pausedAt } }: { readonly webhook: Webhook }) {
  const [period, setPeriod] = usePeriod();
  const { data, error } = useQuery(statsQuery(id, period.ms));
  if (error !== null) return <Problem error={error} />;
  const count = (amount: number | undefined): string => amount?.toLocaleString() ?? '…';
  return (
    <section className="summary" aria-label="Deliveries of a period">
      <div className="summary-head">
        {data !== undefined && <WebhookHealth health={data.health} pausedAt={pausedAt} />}
        {pausedAt !== null && (
          <span>
            since <Clock at={pausedAt} />: its events of three days and its retries wait
          </span>
        )}
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

/** Every delivery of a webhook, failed ones first. */
export function Deliveries({ webhook }: { readonly webhook: Webhook }) {
  const { read, change } = useAddress();
  const status = DELIVERY_STATES.find((state) => state === read('status'));
  const { rows: all, error, isRead, hasMore, more, forget } = useDeliveries(webhook.id, status);
  const text = read('text');
  const rows = useRowsWith(all, text);
  const selected = useSelected(webhook.id, all);
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
        <ChoiceFilter
          name="status"
          label="Only deliveries in this state"
          all="All, failed first"
          choices={DELIVERY_STATES}
        />
        <FindAndSave what="deliveries" rows={rows} cells={CELLS} />
        <ReplayFailed webhook={webhook} onReplayed={forget} />
      </div>
      <Rows
        label="Deliveries"
        columns={COLUMNS}
        rows={isRead && (error === null || rows.length > 0) ? rows : undefined}
        error={error}
        empty={{
          title: text === '' ? 'No delivery' : 'No delivery has this text',
          text: 'Each event that this webhook registered for appears here with every attempt to deliver it.',
        }}
        getId={({ id }) => id}
        onEnd={more}
        onSelect={({ id }) => change({ delivery: id })}
        selectedId={selected?.id}
        panel={
          selected && (
            <DeliveryPanel
              webhook={webhook}
              delivery={selected}
              onClose={() => change({ delivery: undefined, event: undefined })}
            />
          )
        }
      />
    </section>
  );
}

const CELLS: Cells<Delivery> = {
  delivery: ({ id }) => id,
  event: ({ event }) => event,
  eventId: ({ eventId }) => eventId,
  status: ({ status }) => status,
  details: (delivery) => JSON.stringify(delivery),
};

const COLUMNS: readonly TableColumn<Delivery>[] = [
  {
    heading: 'Event',
    width: 'minmax(9.5rem, 2fr)',
    cell: ({ event }) => <CellButton>{event}</CellButton>,
  },
  {
    heading: 'State',
    width: 'minmax(7.5rem, 1fr)',
    cell: (delivery) => <DeliveryStatus delivery={delivery} />,
  },
  {
    heading: 'Event at',
    width: 'minmax(6rem, 1fr)',
    cell: ({ createdAt }) => <Clock at={createdAt} />,
  },
  {
    heading: 'Attempts',
    width: 'minmax(4.5rem, 0.5fr)',
    isSecondary: true,
    cell: ({ attempts }) => attempts.length,
  },
  {
    heading: 'Next try',
    width: 'minmax(6rem, 1fr)',
    isSecondary: true,
    cell: ({ nextAttemptAt }) => <Ago at={nextAttemptAt} />,
  },
  {
    heading: 'Error',
    width: 'minmax(8rem, 3fr)',
    isSecondary: true,
    cell: ({ attempts }) => attempts.at(-1)?.error ?? <span className="faint">—</span>,
  },
];

type PanelProps = { readonly webhook: Webhook; readonly delivery: Delivery; readonly onClose: () => void };

/** One delivery: the request, the result of each attempt, and the time of the next one. */
function DeliveryPanel({ webhook, delivery, onClose }: PanelProps) {
  const { id, event, attempts, status, waiting, nextAttemptAt } = delivery;
  return (
    <Panel
      title={event}
      label={`Delivery of ${event}`}
      mark={<DeliveryStatus delivery={delivery} />}
      onClose={onClose}
    >
      <p className="faint">
        <code>{id}</code>
      </p>
      <div className="actions">
        <ReplayButton delivery={delivery} />
        <WhatHappened kind="delivery" id={id} />
      </div>
      <h3>Attempts</h3>
      {attempts.length === 0 && <p className="faint">None yet.</p>}
      <ol className="attempts">
        {attempts.map((attempt) => (
          <li key={attempt.number}>
            <AttemptLine attempt={attempt} />
          </li>
        ))}
      </ol>
      {waiting && <p>It waits for an earlier delivery of its room.</p>}
      {webhook.pausedAt !== null && status === 'pending' && <p>It waits until the webhook is resumed.</p>}
      {webhook.pausedAt === null && nextAttemptAt !== null && (
        <p>
          Next try <Ago at={nextAttemptAt} />.
        </p>
      )}
      <RequestAsSent webhook={webhook} delivery={delivery} />
    </Panel>
  );
}

function ReplayButton({ delivery: { id, webhookId, event, status } }: { readonly delivery: Delivery }) {
  return (
    <ChangeButton
      className="primary"
      isDisabled={status === 'pending'}
      question={`Send this ${event} again?`}
      consequence="The replay has the same event id, a new signature and all four attempts."
      verb="Send again"
      command={writeCommand('webhooks', 'replay', webhookId, id)}
      run={() => client.deliveries.replay(webhookId, id)}
    >
      Replay
    </ChangeButton>
  );
}

type Attempt = Delivery['attempts'][number];

function AttemptLine({ attempt }: { readonly attempt: Attempt }) {
  const { number, startedAt, durationMs, statusCode, error, responseBody } = attempt;
  return (
    <>
      <p className="attempt-head">
        <Status tone={error === null ? 'good' : 'bad'}>
          {number}. {statusCode === null ? 'No response' : `Response ${statusCode}`}
        </Status>
        <span className="faint">
          <Clock at={startedAt} />, {durationMs} ms
        </span>
      </p>
      {error !== null && <p>{error}</p>}
      {responseBody !== null && responseBody !== '' && <pre className="code">{responseBody}</pre>}
    </>
  );
}

type SentProps = { readonly webhook: Webhook; readonly delivery: Delivery };

/** The log keeps no copy of the request, so it is built from the stored event. */
function RequestAsSent({ webhook, delivery }: SentProps) {
  const { eventId, createdAt, attempts, event: name } = delivery;
  const { data } = useQuery({
    queryKey: ['event', eventId],
    queryFn: async () => {
      const { events } = await client.events.list({ since: createdAt, limit: 1_000 });
      return events.find(({ id }) => id === eventId) ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const sentAt = attempts.at(-1)?.startedAt;
  const seconds = sentAt === undefined ? '…' : String(Math.floor(Date.parse(sentAt) / 1000));
  const head = [
    `POST ${webhook.url}`,
    'content-type: application/json',
    `${WEBHOOK_EVENT_HEADER}: ${name}`,
    `${WEBHOOK_SIGNATURE_HEADER}: sha256=…`,
    `${WEBHOOK_ID_HEADER}: ${eventId}`,
    `${WEBHOOK_TIMESTAMP_HEADER}: ${seconds}`,
    `${STANDARD_SIGNATURE_HEADER}: v1,…`,
  ].join('\n');
  const body = data === undefined || data === null ? undefined : { ...data, event: name };
  return (
    <>
      <h3>Request</h3>
      <pre className="code">
        {head}
        {body === undefined ? '' : `\n\n${JSON.stringify(body, undefined, 2)}`}
      </pre>
      {data === null && <p className="faint">The event itself is no longer kept.</p>}
    </>
  );
}

type ReplayProps = { readonly webhook: Webhook; readonly onReplayed: () => void };

/** Sends all failed deliveries again. */
function ReplayFailed({ webhook: { id, url, createdAt }, onReplayed }: ReplayProps) {
  return (
    <ChangeButton
      question="Send all failed deliveries again?"
      consequence={`They go to ${url} with their own event ids, signed anew.`}
      verb="Send all again"
      command={writeCommand('webhooks', 'replay', id)}
      run={async () => {
        const { replayed } = await client.deliveries.replayFailed(id, createdAt);
        onReplayed();
        return <p>{describeReplayed(replayed)}</p>;
      }}
    >
      <RotateCcw aria-hidden /> Replay failed
    </ChangeButton>
  );
}

function describeReplayed(count: number): string {
  if (count === 0) return 'None had failed.';
  return count === 1 ? '1 delivery is sent again.' : `${count.toLocaleString()} deliveries are sent again.`;
}
