import { RtcError } from '../../../client/rtc-error.ts';
import { plural } from '../../../contract/amounts.ts';
import type { Webhook, WebhookCreate, WebhookList, WebhookPatch } from '../../../contract/webhooks.ts';
import { EXIT, usageError } from '../../errors/cli-error.ts';
import { WATCH, YES } from '../../framework/common-options.ts';
import { confirmOnService } from '../../framework/confirm-on-service.ts';
import type { Context } from '../../framework/context.ts';
import { MAX_LIMIT, moreNotes, readPages } from '../../framework/lists/read-pages.ts';
import { watchList } from '../../framework/lists/watch-list.ts';
import {
  argument,
  defineCommand,
  flag,
  listOfExisting,
  ofNoun,
  option,
  optionalArgument,
  wholeNumber,
} from '../../framework/parameters.ts';
import { forEachTarget, nameSucceeded } from '../../framework/report-error.ts';
import { done, type ListResult, list, nothing, type Result, record, text } from '../../terminal/result.ts';
import { printHint, printStatus, printWarning } from '../../terminal/terminal.ts';
import { EVENT_FIELDS, EVENT_FILTER } from '../events/event-view.ts';
import { tailEvents } from '../events/follow.ts';
import { FORWARD_TO, forward, readSigner, SECRET_VARIABLE } from '../events/forward.ts';
import { deliveries, pause, replay, resume, stats, test } from './delivery-commands.ts';
import { trigger } from './trigger-command.ts';
import { verify } from './verify-command.ts';
import {
  generateSecret,
  isLoopback,
  printWarnings,
  readGivenSecret,
  SECRET_STDIN,
  WEBHOOK_EVENTS,
  WEBHOOK_ID,
  WEBHOOK_ORDERED,
  WEBHOOK_UNORDERED,
} from './webhook-arguments.ts';
import { WEBHOOK_FIELDS, WEBHOOK_LIST, WEBHOOK_RECORD, WEBHOOK_WITHOUT_SECRET } from './webhook-view.ts';

const create = defineCommand({
  verb: 'create',
  summary: 'Register a URL that receives events',
  description:
    'Prints the signing secret once; it cannot be shown again. With --secret-stdin you choose the secret.',
  fields: WEBHOOK_FIELDS,
  arguments: { url: argument('http or https address on a public network') },
  options: { events: WEBHOOK_EVENTS, ordered: WEBHOOK_ORDERED, secretStdin: SECRET_STDIN },
  examples: [
    { line: 'rtc webhooks create https://example.org/hooks/rtc', does: 'All events, with a new secret' },
    {
      line: 'rtc webhooks create https://example.org/hooks/rtc --events room_started,room_finished --json secret',
      does: 'Two events; only the secret, as JSON',
    },
    {
      line: 'rtc webhooks create https://example.org/hooks/rtc --ordered',
      does: 'The events of each room one after the other',
    },
    {
      line: 'pass show hook | rtc webhooks create https://example.org/hook --secret-stdin',
      does: 'With a secret of your own',
    },
  ],
  async run(context, { url, events, ordered, secretStdin }) {
    const secret = await readGivenSecret(context, { secretStdin });
    const body: WebhookCreate = {
      url,
      ...(events === undefined ? {} : { events: [...events] }),
      ...(ordered ? { ordering: 'room' } : {}),
      ...(secret === undefined ? {} : { secret }),
    };
    const client = await context.client();
    const webhook = await client.webhooks.create(body, { signal: context.io.signal });
    printWarnings(context.terminal, webhook);
    const isOurs = secret !== undefined;
    return record(webhook, isOurs ? WEBHOOK_WITHOUT_SECRET : WEBHOOK_RECORD, {
      notes: [
        ...(isOurs ? [] : ['Keep the secret now: it is not shown again.']),
        `Try it: rtc webhooks test ${webhook.id}`,
        ...(isLoopback(url) ? ['To receive on this machine without registering: rtc webhooks listen'] : []),
      ],
    });
  },
});

const LIST_LIMIT = option(
  '--limit <n>',
  'maximum number, oldest first; default: all',
  wholeNumber(1, MAX_LIMIT),
);

const listWebhooks = defineCommand({
  verb: 'list',
  summary: 'List the webhooks',
  fields: WEBHOOK_FIELDS,
  options: { limit: LIST_LIMIT, watch: WATCH },
  examples: [
    { line: 'rtc webhooks list', does: 'All of them, without their secrets' },
    { line: 'rtc webhooks list --limit 20', does: 'The 20 oldest' },
    { line: 'rtc webhooks list --json id,url', does: 'Ids and URLs, as JSON' },
  ],
  async run(context, { limit, watch }) {
    const read = async (): Promise<ListResult> => {
      const response = await readList(context, limit);
      return list({
        response,
        records: response.webhooks,
        columns: WEBHOOK_LIST,
        identify: (webhook) => webhook.id,
        empty: 'There is no webhook. Register one: rtc webhooks create URL',
        notes: moreNotes(limit, response.nextCursor ?? null),
      });
    };
    return watch ? watchList(context, read) : read();
  },
});

const get = defineCommand({
  verb: 'get',
  summary: 'Show one webhook',
  fields: WEBHOOK_FIELDS,
  arguments: { id: WEBHOOK_ID },
  examples: [{ line: 'rtc webhooks get wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', does: 'All details but the secret' }],
  async run(context, { id }) {
    const client = await context.client();
    return shown(await client.webhooks.get(id, { signal: context.io.signal }));
  },
});

const update = defineCommand({
  verb: 'update',
  summary: 'Change the URL, the events or the order of a webhook',
  description:
    'Pending deliveries and retries go to the new URL. A change of the order applies to new events only.',
  fields: WEBHOOK_FIELDS,
  arguments: { id: WEBHOOK_ID, url: optionalArgument('new address') },
  options: { events: WEBHOOK_EVENTS, ordered: WEBHOOK_ORDERED, unordered: WEBHOOK_UNORDERED },
  examples: [
    {
      line: 'rtc webhooks update wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C https://example.org/new-hook',
      does: 'To another address',
    },
    {
      line: 'rtc webhooks update wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C --events room_started,room_finished',
      does: 'Only these events from now on',
    },
    {
      line: 'rtc webhooks update wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C --ordered',
      does: 'New events of each room one after the other',
    },
  ],
  async run(context, { id, url, events, ordered, unordered }) {
    if (ordered && unordered) throw usageError('--ordered and --unordered exclude each other');
    if (url === undefined && events === undefined && !ordered && !unordered) {
      throw usageError(
        'nothing to change',
        'give a new URL, --events, --ordered or --unordered; for a new secret: rtc webhooks rotate',
      );
    }
    const body: WebhookPatch = {
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events: [...events] }),
      ...(ordered ? { ordering: 'room' } : {}),
      ...(unordered ? { ordering: 'none' } : {}),
    };
    const client = await context.client();
    const webhook = await client.webhooks.update(id, body, { signal: context.io.signal });
    printWarnings(context.terminal, webhook);
    return shown(webhook);
  },
});

const remove = defineCommand({
  verb: 'delete',
  summary: 'Delete webhooks with their delivery logs',
  arguments: { ids: listOfExisting('id of the webhook, or of several', 'webhooks') },
  options: { yes: YES },
  examples: [
    { line: 'rtc webhooks delete wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', does: 'Asks first, and names what is lost' },
    { line: 'rtc webhooks delete wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C --yes', does: 'Without asking' },
  ],
  async run(context, { ids, yes }) {
    const client = await context.client();
    await confirmOnService(context, {
      isSure: yes || context.flags.isCurl,
      what: 'deleting webhooks',
      question: () => describeLoss(context, ids),
    });
    const deleted = await forEachTarget(context, ids, (id) =>
      client.webhooks.delete(id, { signal: context.io.signal }),
    );
    return nameSucceeded(deleted, (names) => `Deleted ${names}.`);
  },
});

export const listen = defineCommand({
  verb: 'listen',
  summary: 'Show events live, and forward them to a local receiver, for development',
  description: `Follows the service's events from now on, without registering a webhook. With --forward-to it posts each event to the receiver as a webhook would, with both signatures. It prints the signing secret, which is the same each time, unless you set ${SECRET_VARIABLE}. While the receiver is down, events wait in their order. A response other than 2xx is shown and not retried.`,
  fields: ({ forwardTo, printSecret }) => {
    if (printSecret) return ['secret'];
    return forwardTo === undefined ? EVENT_FIELDS : [];
  },
  options: {
    forwardTo: FORWARD_TO,
    events: EVENT_FILTER.events,
    room: EVENT_FILTER.room,
    skipVerify: flag('--skip-verify', 'accept any certificate of a receiver on this machine'),
    printSecret: flag('--print-secret', 'print the signing secret and exit'),
  },
  examples: [
    { line: 'rtc webhooks listen', does: 'One line per event, until Ctrl-C' },
    {
      line: 'rtc webhooks listen --forward-to http://localhost:4000/hook',
      does: 'Forward each event to a receiver, and show its response',
    },
    { line: 'rtc webhooks listen --forward-to 4000 --events room_started,room_finished', does: 'Two events' },
    {
      line: `export ${SECRET_VARIABLE}=$(rtc webhooks listen --print-secret)`,
      does: 'For the receiver to verify with',
    },
  ],
  isStream: (input) => !input.printSecret,
  async run(context, { forwardTo, events, room, skipVerify, printSecret }) {
    if (skipVerify && (forwardTo === undefined || !isLoopback(forwardTo.href))) {
      throw usageError(
        '--skip-verify is for a receiver on this machine',
        'elsewhere, name the authority of its certificate in NODE_EXTRA_CA_CERTS',
      );
    }
    if (printSecret) {
      const { secret } = await readSigner(context);
      return text(secret, { response: { secret } });
    }
    const following = { events, room, since: undefined, cursor: undefined };
    if (forwardTo !== undefined) await forward(context, { url: forwardTo, skipVerify, ...following });
    else {
      const onReady = (): void =>
        printHint(
          context.terminal,
          'Following. To forward events to a receiver, add --forward-to 4000. Press Ctrl-C to end.',
        );
      await tailEvents(context, { client: await context.client(), ...following, onReady });
    }
    return nothing();
  },
});

export const rotate = defineCommand({
  verb: 'rotate',
  summary: 'Give a webhook a new secret',
  description:
    'Generates the secret and prints it once. For 24 hours the header webhook-signature carries the signatures of both secrets. X-Service-Webhook-Signature carries the new one only.',
  fields: WEBHOOK_FIELDS,
  arguments: { id: WEBHOOK_ID },
  options: { secretStdin: SECRET_STDIN, yes: YES },
  examples: [
    {
      line: 'rtc webhooks rotate wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C',
      does: 'Ask first; print the new secret and nothing else',
    },
    {
      line: 'rtc webhooks rotate wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C --yes | pass insert -m hook',
      does: 'Without asking, straight into a password store',
    },
  ],
  async run(context, { id, secretStdin, yes }) {
    const client = await context.client();
    await confirmOnService(context, {
      isSure: yes || context.flags.isCurl,
      what: 'rotating the secret of a webhook',
      question: async () => {
        const { url } = await client.webhooks.get(id, { signal: context.io.signal });
        return `Give ${url} a new secret? X-Service-Webhook-Signature will not match until the receiver has it.`;
      },
    });
    const given = await readGivenSecret(context, { secretStdin });
    const secret = given ?? generateSecret();
    try {
      const webhook = await client.webhooks.put(id, { secret }, { signal: context.io.signal });
      if (webhook.id !== id) return unconfirmedResult(context, id, secret);
      return given === undefined ? rotatedResult(webhook, secret) : done(`${id} has the new secret.`);
    } catch (error) {
      if (given !== undefined || !mayHaveBeenTaken(error)) throw error;
      return unconfirmedResult(context, id, secret);
    }
  },
});

export const commands = ofNoun('webhooks', [
  create,
  listWebhooks,
  get,
  update,
  pause,
  resume,
  remove,
  test,
  deliveries,
  stats,
  replay,
  rotate,
  verify,
  listen,
  trigger,
]);

function shown(webhook: Webhook): Result {
  return record(webhook, WEBHOOK_RECORD);
}

async function describeLoss(context: Context, ids: readonly string[]): Promise<string> {
  const client = await context.client();
  const { signal } = context.io;
  let pending = 0;
  let isMore = false;
  for (const id of ids) {
    const page = await client.deliveries.list(id, { status: 'pending', limit: 200, signal });
    pending += page.deliveries.length;
    isMore ||= page.nextCursor !== null;
  }
  const what =
    ids.length === 1 && ids[0] !== undefined
      ? `webhook ${(await client.webhooks.get(ids[0], { signal })).url}`
      : plural(ids.length, 'webhook');
  const loss =
    pending === 0
      ? 'Nothing is pending'
      : `${plural(pending, 'pending delivery', 'pending deliveries')}${isMore ? ' and more' : ''} will be cancelled`;
  const log = ids.length === 1 ? 'its delivery log' : 'their delivery logs';
  return `Delete ${what} with ${log}? ${loss}.`;
}

async function readList(context: Context, limit: number | undefined): Promise<WebhookList> {
  const client = await context.client();
  const { signal } = context.io;
  if (limit === undefined) return await client.webhooks.list({ signal });
  const { records, nextCursor } = await readPages(limit, async (page) => {
    const { webhooks, nextCursor = null } = await client.webhooks.list({ ...page, signal });
    return { records: webhooks, nextCursor };
  });
  return { webhooks: records, nextCursor };
}

function rotatedResult(webhook: Webhook, secret: string): Result {
  return text(secret, {
    response: { ...webhook, secret },
    notes: [
      'Keep the secret now: it is not shown again.',
      'For 24 hours webhook-signature carries the old signature too; X-Service-Webhook-Signature only the new one.',
    ],
  });
}

/** Returns whether the request may have arrived, and only its response was lost. */
function mayHaveBeenTaken(error: unknown): boolean {
  if (!(error instanceof RtcError)) return false;
  const isRefused = error.status !== undefined && error.status >= 400 && error.status < 500;
  return !isRefused;
}

/** Without its secret a webhook that stored it would be unusable, so the secret is printed nevertheless. */
function unconfirmedResult(context: Context, id: string, secret: string): Result {
  printWarning(
    context.terminal,
    `the service has not confirmed this secret, and may or may not have accepted it`,
  );
  printStatus(context.terminal, `Find out: rtc webhooks test ${id}`);
  return text(secret, {
    response: { id, secret },
    exitCode: context.io.signal.aborted ? EXIT.cancelled : EXIT.unavailable,
  });
}
