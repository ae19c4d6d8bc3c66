import type { Delivery } from '../../../contract/deliveries.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import type { Column } from '../../terminal/result.ts';
import type { Palette, Terminal } from '../../terminal/terminal.ts';
import { formatShortAge } from '../../terminal/time.ts';

export const WEBHOOK_FIELDS = [
  'id',
  'url',
  'events',
  'secret',
  'ordering',
  'pausedAt',
  'createdAt',
  'createdBy',
] as const satisfies readonly (keyof Webhook)[];

const ID: Column<Webhook> = { heading: 'ID', value: (webhook) => webhook.id, paint: 'name' };
const URL_COLUMN: Column<Webhook> = { heading: 'URL', value: (webhook) => webhook.url };
const EVENTS: Column<Webhook> = {
  heading: 'EVENTS',
  value: (webhook) => webhook.events.join(','),
  display: ({ events }) => (events.includes('*') ? 'all' : events.join(', ')),
};
/** Absent in responses of older services. */
const PAUSED: Column<Webhook> = {
  heading: 'PAUSED',
  value: ({ pausedAt }) => (pausedAt ? { instantMs: Date.parse(pausedAt) } : undefined),
  paint: ({ pausedAt }) => (pausedAt ? 'warning' : undefined),
};
const ORDER: Column<Webhook> = { heading: 'ORDER', value: (webhook) => webhook.ordering };
const SECRET: Column<Webhook> = {
  heading: 'SECRET',
  value: (webhook) => webhook.secret,
  paint: ({ secret }) => (secret === '***' ? undefined : 'warning'),
};
const CREATED: Column<Webhook> = {
  heading: 'CREATED',
  value: (webhook) => ({ instantMs: Date.parse(webhook.createdAt) }),
};

/** Absent in responses of older services. */
const CREATED_BY: Column<Webhook> = { heading: 'BY KEY', value: ({ createdBy }) => createdBy };

export const WEBHOOK_LIST: readonly Column<Webhook>[] = [ID, URL_COLUMN, EVENTS, CREATED, PAUSED];
export const WEBHOOK_RECORD: readonly Column<Webhook>[] = [
  ID,
  URL_COLUMN,
  EVENTS,
  ORDER,
  SECRET,
  CREATED,
  CREATED_BY,
  PAUSED,
];
/** The columns for a webhook whose secret the user chose: the secret is not shown again. */
export const WEBHOOK_WITHOUT_SECRET: readonly Column<Webhook>[] = [ID, URL_COLUMN, EVENTS, ORDER, CREATED];

export const DELIVERY_FIELDS = [
  'id',
  'webhookId',
  'eventId',
  'event',
  'status',
  'createdAt',
  'nextAttemptAt',
  'waiting',
  'attempts',
] as const satisfies readonly (keyof Delivery)[];

type Attempt = Delivery['attempts'][number];

const STATUS_PAINT: Readonly<Record<string, keyof Palette>> = {
  pending: 'warning',
  delivered: 'good',
  failed: 'bad',
  cancelled: 'faint',
};

const DELIVERY: Column<Delivery> = { heading: 'DELIVERY', value: (delivery) => delivery.id, paint: 'name' };
const EVENT: Column<Delivery> = { heading: 'EVENT', value: (delivery) => delivery.event };
const CODE: Column<Delivery> = {
  heading: 'CODE',
  value: (delivery) => delivery.attempts.at(-1)?.statusCode ?? '',
  paint: (delivery) => paintOfCode(delivery.attempts.at(-1)),
};
const TRIES: Column<Delivery> = { heading: 'TRIES', value: (delivery) => delivery.attempts.length };
const DELIVERY_CREATED: Column<Delivery> = {
  heading: 'CREATED',
  value: (delivery) => ({ instantMs: Date.parse(delivery.createdAt) }),
};
const ERROR: Column<Delivery> = {
  heading: 'ERROR',
  value: (delivery) => delivery.attempts.at(-1)?.error ?? '',
};

/** On a narrower terminal the delivery's id would be cut, and replay needs it. */
const WIDE_COLUMNS = 110;

export function deliveryColumns(terminal: Terminal): readonly Column<Delivery>[] {
  const status = statusColumn(terminal.io.clock());
  if (terminal.width !== undefined && terminal.width < WIDE_COLUMNS)
    return [DELIVERY, EVENT, status, CODE, ERROR];
  return [DELIVERY, EVENT, status, CODE, TRIES, DELIVERY_CREATED, ERROR];
}

/** On a terminal a pending delivery shows when it is sent again. */
function statusColumn(nowMs: number): Column<Delivery> {
  return {
    heading: 'STATUS',
    value: (delivery) => delivery.status,
    paint: (delivery) => STATUS_PAINT[delivery.status],
    display: ({ status, waiting, nextAttemptAt, attempts }) => {
      if (waiting) return 'waits in order';
      if (nextAttemptAt === null || attempts.length === 0) return status;
      const leftMs = Math.max(0, Date.parse(nextAttemptAt) - nowMs);
      return `again ${formatShortAge(leftMs, 0)}`;
    },
  };
}

/** One attempt of a delivery, for `deliveries --attempts`. */
export type AttemptRow = Attempt & { readonly deliveryId: string; readonly event: string };

export const ATTEMPT_FIELDS = [
  'deliveryId',
  'event',
  'number',
  'startedAt',
  'durationMs',
  'statusCode',
  'error',
  'responseBody',
] as const satisfies readonly (keyof AttemptRow)[];

const ATTEMPT_DELIVERY: Column<AttemptRow> = {
  heading: 'DELIVERY',
  value: (row) => row.deliveryId,
  paint: 'name',
};
const ATTEMPT_EVENT: Column<AttemptRow> = { heading: 'EVENT', value: (row) => row.event };
const TRY: Column<AttemptRow> = { heading: 'TRY', value: (row) => row.number };
const SENT: Column<AttemptRow> = {
  heading: 'SENT',
  value: (row) => ({ instantMs: Date.parse(row.startedAt) }),
};
const ATTEMPT_CODE: Column<AttemptRow> = {
  heading: 'CODE',
  value: (row) => row.statusCode ?? '',
  paint: paintOfCode,
};
const MS: Column<AttemptRow> = { heading: 'MS', value: (row) => row.durationMs };
const ATTEMPT_ERROR: Column<AttemptRow> = { heading: 'ERROR', value: (row) => row.error ?? '' };
const RESPONSE: Column<AttemptRow> = { heading: 'ANSWER', value: (row) => row.responseBody ?? '' };

export function attemptColumns({ width }: Terminal): readonly Column<AttemptRow>[] {
  if (width !== undefined && width < WIDE_COLUMNS) {
    return [ATTEMPT_DELIVERY, TRY, ATTEMPT_CODE, ATTEMPT_ERROR, RESPONSE];
  }
  return [ATTEMPT_DELIVERY, ATTEMPT_EVENT, TRY, SENT, ATTEMPT_CODE, MS, ATTEMPT_ERROR, RESPONSE];
}

export function attemptRows(deliveries: readonly Delivery[]): readonly AttemptRow[] {
  return deliveries.flatMap(({ id, event, attempts }) =>
    attempts.map((attempt) => ({ ...attempt, deliveryId: id, event })),
  );
}

function paintOfCode(attempt: Attempt | undefined): keyof Palette | undefined {
  if (attempt?.statusCode === undefined || attempt.statusCode === null) return undefined;
  return attempt.error === null ? 'good' : 'bad';
}
