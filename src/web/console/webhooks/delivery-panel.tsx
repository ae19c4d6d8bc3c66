import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import type { Delivery } from '../../../contract/deliveries.ts';
import {
  STANDARD_SIGNATURE_HEADER,
  WEBHOOK_EVENT_HEADER,
  WEBHOOK_ID_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
} from '../../../contract/webhook-headers.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { commandOf } from '../parts/command-line.tsx';
import { Status } from '../parts/status.tsx';
import { Ago, Clock } from '../parts/time.tsx';
import { DeliveryStatus } from './delivery-status.tsx';

type Props = { readonly webhook: Webhook; readonly delivery: Delivery; readonly onClose: () => void };

/** One delivery: the request, the result of each attempt, and the time of the next one. */
export function DeliveryPanel({ webhook, delivery, onClose }: Props) {
  const { id, event, attempts, status, waiting, nextAttemptAt } = delivery;
  return (
    <aside className="panel" aria-label={`Delivery of ${event}`}>
      <header className="panel-head">
        <h2>{event}</h2>
        <DeliveryStatus delivery={delivery} />
        <button type="button" className="icon" aria-label="Close" onClick={onClose}>
          <X aria-hidden />
        </button>
      </header>
      <p className="faint">
        <code>{id}</code>
      </p>
      <div className="actions">
        <ChangeButton
          className="primary"
          isDisabled={status === 'pending'}
          change={() => ({
            question: `Send this ${event} again?`,
            consequence: 'The replay has the same event id, a new signature and all four attempts.',
            verb: 'Send again',
            command: commandOf('webhooks', 'replay', webhook.id, id),
            run: async () => {
              await client.deliveries.replay(webhook.id, id);
            },
          })}
        >
          Replay
        </ChangeButton>
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
      {nextAttemptAt !== null && (
        <p>
          Next try <Ago at={nextAttemptAt} />.
        </p>
      )}
      <RequestAsSent webhook={webhook} delivery={delivery} />
    </aside>
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
