import type { Delivery, DeliveryList, WebhookStats } from '../../../contract/deliveries.ts';
import { hintSentence } from '../../../contract/hint.ts';
import type { WebhookPatch, WebhookTest } from '../../../contract/webhooks.ts';
import { EXIT, usageError } from '../../errors/cli-error.ts';
import { WATCH } from '../../framework/common-options.ts';
import type { Context } from '../../framework/context.ts';
import { LIMIT, moreNotes, readPages } from '../../framework/lists/read-pages.ts';
import { watchList } from '../../framework/lists/watch-list.ts';
import {
  choice,
  defineCommand,
  flag,
  listOfExisting,
  option,
  optionalArgument,
} from '../../framework/parameters.ts';
import { forEachTarget, nameSucceeded } from '../../framework/report-error.ts';
import { type Column, instant, type ListResult, list, record } from '../../terminal/result.ts';
import type { Palette } from '../../terminal/terminal.ts';
import { pastMoment } from '../../terminal/time.ts';
import { WEBHOOK_ID } from './webhook-arguments.ts';
import {
  ATTEMPT_FIELDS,
  attemptColumns,
  attemptRows,
  DELIVERY_FIELDS,
  deliveryColumns,
} from './webhook-view.ts';

const TEST_COLUMNS: readonly Column<WebhookTest>[] = [
  {
    heading: 'DELIVERED',
    value: (response) => response.delivered,
    paint: (response) => (response.delivered ? 'good' : 'bad'),
  },
  {
    heading: 'STATUS-CODE',
    value: (response) => response.statusCode,
    display: ({ statusCode }) => (statusCode === 0 ? 'no response' : `${statusCode}`),
  },
];
const TEST_ERROR: Column<WebhookTest> = { heading: 'ERROR', value: (response) => response.error };

export const test = defineCommand({
  verb: 'test',
  summary: 'Send a test delivery, and show the response',
  description:
    'Sends the event webhook_test once, without retries. The exit code is 7 if the receiver does not respond with 2xx.',
  fields: ['delivered', 'statusCode', 'error', 'hint'] satisfies (keyof WebhookTest)[],
  arguments: { id: WEBHOOK_ID },
  examples: [
    { line: 'rtc webhooks test wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', does: 'Waits for the response, at most 10 s' },
  ],
  async run(context, { id }) {
    const client = await context.client();
    const response = await client.webhooks.test(id, { signal: context.io.signal });
    return record(response, response.error === undefined ? TEST_COLUMNS : [...TEST_COLUMNS, TEST_ERROR], {
      exitCode: response.delivered ? EXIT.success : EXIT.negative,
      notes: response.delivered
        ? []
        : [
            ...(response.hint === undefined ? [] : [hintSentence(response.hint)]),
            `To see its response: rtc webhooks deliveries ${id} --attempts --limit 1`,
          ],
    });
  },
});

const STATS_FIELDS = [
  'webhookId',
  'health',
  'since',
  'until',
  'delivered',
  'failed',
  'pending',
  'retrying',
  'isComplete',
  'oldestPendingAt',
  'periods',
] as const satisfies readonly (keyof WebhookStats)[];

const HEALTH_PAINT: Readonly<Record<WebhookStats['health'], keyof Palette>> = {
  unused: 'faint',
  working: 'good',
  unsteady: 'warning',
  failing: 'bad',
};

const STATS_COLUMNS: readonly Column<WebhookStats>[] = [
  { heading: 'HEALTH', value: ({ health }) => health, paint: ({ health }) => HEALTH_PAINT[health] },
  { heading: 'DELIVERED', value: ({ delivered }) => delivered },
  { heading: 'FAILED', value: ({ failed }) => failed },
  { heading: 'PENDING', value: ({ pending }) => pending },
  { heading: 'RETRYING', value: ({ retrying }) => retrying },
  {
    heading: 'OLDEST-PENDING',
    value: ({ oldestPendingAt }) => instant(oldestPendingAt),
  },
  { heading: 'SINCE', value: ({ since }) => ({ instantMs: Date.parse(since) }) },
];

export const stats = defineCommand({
  verb: 'stats',
  summary: 'Count the deliveries of a webhook, and tell whether its receiver works',
  description:
    'HEALTH is about the newest attempts: working, unsteady if some were not accepted, failing if none was. The counts are of the last 24 hours.',
  fields: STATS_FIELDS,
  arguments: { id: WEBHOOK_ID },
  options: {
    since: option('--since <when>', 'count since then: 1h, 7d, or an instant', pastMoment),
  },
  examples: [
    { line: 'rtc webhooks stats wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', does: 'The last 24 hours' },
    {
      line: 'rtc webhooks stats wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C --since 7d --json health,failed',
      does: 'Two figures of a week',
    },
  ],
  async run(context, { id, since }) {
    const client = await context.client();
    const from = since?.(context.io.clock());
    const response = await client.webhooks.stats(id, {
      ...(from === undefined ? {} : { since: from }),
      signal: context.io.signal,
    });
    return record(response, STATS_COLUMNS, {
      notes: response.isComplete ? [] : ['Of more than 50,000 in one state only the newest are counted.'],
    });
  },
});

const STATUSES = [
  'pending',
  'delivered',
  'failed',
  'cancelled',
] as const satisfies readonly Delivery['status'][];

export const deliveries = defineCommand({
  verb: 'deliveries',
  summary: 'Show the delivery log of a webhook, newest first',
  description:
    'Shows the status code and the error of the last attempt. --attempts shows every attempt with its response.',
  fields: ({ attempts }) => (attempts ? ATTEMPT_FIELDS : DELIVERY_FIELDS),
  arguments: { id: WEBHOOK_ID },
  options: {
    status: option('--status <status>', 'only these', choice(STATUSES)),
    event: option('--event <id>', 'only the delivery of this event, while the event is kept'),
    limit: LIMIT,
    attempts: flag('--attempts', 'show every attempt with the receiver’s response'),
    watch: WATCH,
  },
  examples: [
    { line: 'rtc webhooks deliveries wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', does: 'The newest 50' },
    {
      line: 'rtc webhooks deliveries wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C --status failed --attempts',
      does: 'Why deliveries failed',
    },
    {
      line: 'rtc webhooks deliveries wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C --watch',
      does: 'The same, updated live',
    },
  ],
  async run(context, { id, status, event, limit, attempts, watch }) {
    const client = await context.client();
    const read = async (): Promise<ListResult> => {
      const { records, nextCursor } = await readPages(limit, async (page) => {
        const filter = { status, eventId: event, signal: context.io.signal };
        const response = await client.deliveries.list(id, { ...filter, ...page });
        return { records: response.deliveries, nextCursor: response.nextCursor };
      });
      const notes = moreNotes(limit, nextCursor);
      const response = { deliveries: records, nextCursor };
      return attempts ? attemptList(context, response, notes) : deliveryList(context, response, notes);
    };
    return watch ? watchList(context, read) : read();
  },
});

export const replay = defineCommand({
  verb: 'replay',
  summary: 'Send one delivery again, or all that failed',
  description: 'A replay has the same event id, a new signature and all four attempts.',
  fields: ['replayed'],
  arguments: {
    id: WEBHOOK_ID,
    delivery: optionalArgument('id of a finished delivery; without it, all that failed', {
      completes: 'deliveries',
    }),
  },
  options: {
    since: option(
      '--since <when>',
      'only deliveries that failed since then: 10m, 7d, or an instant',
      pastMoment,
    ),
  },
  examples: [
    { line: 'rtc webhooks replay wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', does: 'All that failed' },
    {
      line: 'rtc webhooks replay wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C --since 2h',
      does: 'Those that failed in the last two hours',
    },
    {
      line: 'rtc webhooks replay wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C dlv_01KAJ3F5N8QZ7V2M4T6W8Y0B1C',
      does: 'One, even if it was delivered',
    },
  ],
  async run(context, { id, delivery, since }) {
    if (delivery !== undefined && since !== undefined) {
      throw usageError('--since and a delivery exclude each other', 'leave one of them out');
    }
    const client = await context.client();
    const { signal, clock } = context.io;
    const from = since?.(clock()) ?? new Date(0).toISOString();
    const response =
      delivery === undefined
        ? await client.deliveries.replayFailed(id, from, { signal })
        : await client.deliveries.replay(id, delivery, { signal });
    return record(response, [{ heading: 'REPLAYED', value: ({ replayed }) => replayed }], {
      notes:
        response.replayed === 0
          ? ['Nothing has failed.']
          : [`How they fare: rtc webhooks deliveries ${id} --watch`],
    });
  },
});

function deliveryList({ terminal }: Context, response: DeliveryList, notes: readonly string[]): ListResult {
  return list({
    response,
    records: response.deliveries,
    columns: deliveryColumns(terminal),
    identify: (delivery) => delivery.id,
    empty: 'There is no such delivery.',
    notes,
  });
}

function attemptList({ terminal }: Context, response: DeliveryList, notes: readonly string[]): ListResult {
  return list({
    response,
    records: attemptRows(response.deliveries),
    columns: attemptColumns(terminal),
    identify: (row) => `${row.deliveryId} ${row.number}`,
    empty: 'Nothing has been tried.',
    notes,
  });
}

export const pause = defineCommand({
  verb: 'pause',
  summary: 'Send nothing to webhooks until they are resumed',
  description:
    'Retries wait, and so do the events of the first three days: rtc webhooks resume sends them. Later events are not kept. rtc webhooks test sends nevertheless.',
  arguments: { ids: listOfExisting('id of the webhook, or of several', 'webhooks') },
  examples: [
    { line: 'rtc webhooks pause wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', does: 'While its receiver is moved' },
  ],
  async run(context, { ids }) {
    const paused = await setPaused(context, ids, { paused: true });
    return nameSucceeded(
      paused,
      (names) => `Paused ${names}. To go on: rtc webhooks resume ${ids.join(' ')}`,
    );
  },
});

export const resume = defineCommand({
  verb: 'resume',
  summary: 'Send to paused webhooks again, first what they missed',
  arguments: { ids: listOfExisting('id of the webhook, or of several', 'webhooks') },
  examples: [{ line: 'rtc webhooks resume wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', does: 'Sends what was kept' }],
  async run(context, { ids }) {
    const resumed = await setPaused(context, ids, { paused: false });
    return nameSucceeded(resumed, (names) => `Resumed ${names}.`);
  },
});

async function setPaused(context: Context, ids: readonly string[], change: Pick<WebhookPatch, 'paused'>) {
  const client = await context.client();
  return await forEachTarget(context, ids, async (id) => {
    await client.webhooks.update(id, change, { signal: context.io.signal });
  });
}
