import { EVENT_ALIASES, TEST_EVENT } from '../../../contract/event-names.ts';
import { EVENT_SCHEMAS, WebhookTestEventSchema } from '../../../contract/event-payloads.ts';
import {
  STANDARD_SIGNATURE_HEADER,
  WEBHOOK_EVENT_HEADER,
  WEBHOOK_ID_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
  WEBHOOK_TOLERANCE_SECONDS,
} from '../../../contract/webhook-signing.ts';
import { type Components, type JsonObject, toReference } from './schema-document.ts';

/* The `webhooks` section of the document: the request that a receiver gets for each event, and the expected response. */

/** A separate tag from that of the operations on webhooks, because generators of clients make one file of each tag. */
export const DELIVERY_TAG = {
  name: 'deliveries',
  description: 'The requests that webhooks receive',
} as const;

type WebhookSection = {
  readonly webhooks: Readonly<Record<string, { readonly post: JsonObject }>>;
  /** Component parameters: the headers of a delivery. */
  readonly parameters: Readonly<Record<string, JsonObject>>;
};

/** @param findExample the recorded delivery of an event; undefined for an event that is not sent yet */
export function webhookSection(
  components: Components,
  findExample: (event: string) => JsonObject | undefined,
): WebhookSection {
  const schemas = Object.entries({ ...EVENT_SCHEMAS, [TEST_EVENT]: WebhookTestEventSchema });
  const webhooks = schemas.map(([event, schema]) => {
    const { description } = schema as { readonly description?: string };
    const example = findExample(event);
    const media = {
      schema: toReference(schema, components),
      ...(example === undefined ? {} : { example }),
    };
    return [event, { post: delivery(event, description ?? '', media) }] as const;
  });
  return { webhooks: Object.fromEntries(webhooks), parameters: HEADER_PARAMETERS };
}

function delivery(event: string, meaning: string, media: JsonObject): JsonObject {
  const aliases = Object.entries(EVENT_ALIASES).flatMap(([alias, type]) => (type === event ? [alias] : []));
  const registered = aliases.length === 0 ? '' : ` It can be registered as \`${aliases.join('`, `')}\` too.`;
  return {
    operationId: `on${toPascalCase(event)}`,
    tags: [DELIVERY_TAG.name],
    summary: event,
    description: `${meaning}${registered} Answer within 10 seconds with any 2xx status; anything else is tried again after 5 s, 30 s and 5 min.`,
    security: [],
    parameters: Object.keys(HEADER_PARAMETERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: { required: true, content: { 'application/json': media } },
    responses: RESPONSES,
  };
}

const RESPONSES = {
  '2XX': { description: 'The delivery is done. The first 4 KiB of the body are kept in the log.' },
  '4XX': { description: 'The delivery is tried again, and fails after the fourth try.' },
};

const HEADER_PARAMETERS = {
  DeliverySignature: header(WEBHOOK_SIGNATURE_HEADER, {
    description:
      '`sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the secret as text. Check this one or webhook-signature.',
    example: 'sha256=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
  }),
  DeliveryEvent: header(WEBHOOK_EVENT_HEADER, {
    description: 'The event name, as in the body',
    example: 'participant_joined',
  }),
  DeliveryEventId: header(WEBHOOK_ID_HEADER, {
    description: 'Id of the event (Standard Webhooks): the same on every retry and replay',
    example: 'evt_01KAJ3F5N8QZ7V2M4T6W8Y0B1C',
  }),
  DeliveryTimestamp: header(WEBHOOK_TIMESTAMP_HEADER, {
    description: `When this attempt was signed, in Unix seconds; refuse one that is more than ${WEBHOOK_TOLERANCE_SECONDS} s off`,
    example: '1769851804',
  }),
  DeliveryStandardSignature: header(STANDARD_SIGNATURE_HEADER, {
    description:
      "Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, keyed with the bytes behind `whsec_`. Two, separated by a space, for a day after the secret's rotation: accept the delivery if one is right.",
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  }),
} as const;

function header(name: string, { description, example }: Readonly<Record<'description' | 'example', string>>) {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example };
}

function toPascalCase(event: string): string {
  return event.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
