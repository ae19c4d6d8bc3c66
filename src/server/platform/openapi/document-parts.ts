import { ERROR_CODES, type ErrorCode, PROBLEMS, problemType } from '../../../contract/errors.ts';
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
import type { Route, RouteScopes, Security } from '../http/route.ts';
import { type Components, type JsonObject, toReference } from './schema-document.ts';

/*
 * The parts of the document besides its operations: the components that operations share, the requests that webhooks get,
 * and what the document says about the service and its tags.
 *
 * Parameters and error responses that several operations share become components: inline, they would be three quarters
 * of the document.
 */

export type Operation = JsonObject & {
  readonly operationId: string;
  readonly parameters?: readonly JsonObject[];
};

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Moves the parameters that several operations have to components. */
export function shareParameters(paths: Paths): {
  readonly paths: Paths;
  readonly parameters: Readonly<Record<string, JsonObject>>;
} {
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const all = operations.flatMap(({ parameters = [] }) => parameters);
  const uses = Map.groupBy(all, (parameter) => JSON.stringify(parameter));
  const shared = new SharedParts('parameters');
  const referred = mapOperations(paths, (operation) =>
    operation.parameters === undefined
      ? operation
      : {
          ...operation,
          parameters: operation.parameters.map((parameter) =>
            (uses.get(JSON.stringify(parameter)) ?? []).length > 1
              ? shared.refer(parameter, String(parameter.name), operation.operationId)
              : parameter,
          ),
        },
  );
  return { paths: referred, parameters: shared.components };
}

/** Parts of equal content share one component, under the first requested name. */
export class SharedParts {
  readonly components: Record<string, JsonObject> = {};
  readonly #kind: 'parameters' | 'responses';
  readonly #names = new Map<string, string>();

  constructor(kind: 'parameters' | 'responses') {
    this.#kind = kind;
  }

  /** @param qualifier distinguishes a part with the same name and different content */
  refer(part: JsonObject, name: string, qualifier: string): JsonObject {
    const key = JSON.stringify(part);
    const known = this.#names.get(key);
    const chosen = known ?? (this.components[name] === undefined ? name : `${name}.${qualifier}`);
    if (known === undefined) {
      this.#names.set(key, chosen);
      this.components[chosen] = part;
    }
    return { $ref: `#/components/${this.#kind}/${chosen}` };
  }
}

function mapOperations(paths: Paths, change: (operation: Operation) => Operation): Paths {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, change(operation)])),
    ]),
  );
}

/* Describes how requests are signed, and which API keys may call a route. */

/** Errors of every signed route, before its handler runs: any key may call some routes. */
export const SIGNED_ERRORS: readonly ErrorCode[] = [
  'missing-credentials',
  'invalid-api-key',
  'timestamp-out-of-window',
  'invalid-signature',
  'insufficient-scope',
];

export const SECURITY: Readonly<Record<Security, readonly JsonObject[]>> = {
  signed: [{ apiKey: [], timestamp: [], signature: [] }],
  'media-server': [],
  public: [],
};

export const SECURITY_SCHEMES = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'The API key: API_KEY, or one that was made (key_…)',
  },
  timestamp: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Timestamp',
    description: "Unix time in seconds, at most 300 s off the server's clock",
  },
  signature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Signature',
    description: 'Hex HMAC-SHA256 of the canonical string, keyed with the secret of the key (API_SECRET)',
  },
};

/** Describes scopes for programs that read the document: a list of which a key needs one, or `any`, or `root`. */
export function describeScopes({ scopes }: Route): JsonObject {
  if (scopes === undefined) return {};
  return { 'x-scopes': typeof scopes === 'string' ? [scopes] : scopes };
}

/** Returns the description of the route, and which API keys may call it. */
export function describe({ description, scopes }: Route): JsonObject {
  const parts = [description, scopes === undefined ? undefined : scopeSentence(scopes)];
  const text = parts.filter((part) => part !== undefined).join('\n\n');
  return text === '' ? {} : { description: text };
}

function scopeSentence(scopes: RouteScopes): string {
  if (scopes === 'any') return 'API key: any.';
  if (scopes === 'root') return 'API key: the root key alone.';
  return `API key: with the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;
}

/** Returns the errors of a signed route. A key beside the root key may have to be read from the database. */
export function listSignedErrors({ security, scopes, path }: Route): readonly ErrorCode[] {
  if (security !== 'signed') return [];
  const own =
    scopes === 'any' ? SIGNED_ERRORS.filter((code) => code !== 'insufficient-scope') : SIGNED_ERRORS;
  // To a key for a part of the rooms, another room is unknown.
  const ofRoom: readonly ErrorCode[] = path.includes('/:roomId') ? ['room-not-found'] : [];
  return [...own, ...ofRoom, 'storage-unavailable', 'secret-unavailable'];
}

/* The `webhooks` section of the document: the request that a receiver gets for each event, and the expected response. */

/** Generators of clients make one file of each tag, so that the operations on webhooks have another one (`webhooks`). */
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

const CATALOGUE = ERROR_CODES.map((code) => {
  const { status, meaning } = PROBLEMS[code];
  return `| ${code} | ${status} | ${meaning} |`;
}).join('\n');

/** The introduction of the API reference, in Markdown. */
export const API_DESCRIPTION = `A signed API for rooms on a LiveKit media server. Only trusted back ends call it, never
client software.

## Signing

Every request under \`/v1\`, except \`GET /v1/health\`, carries three headers:

| header | content |
|---|---|
| \`X-Api-Key\` | the API key (API_KEY) |
| \`X-Service-Timestamp\` | Unix time in seconds, at most 300 s off the server's clock |
| \`X-Service-Signature\` | hex HMAC-SHA256 of the canonical string, keyed with API_SECRET |

The canonical string is four lines joined by a line feed, without one at the end: the method in upper case, the path
with its query exactly as sent, the timestamp, and the lower-case hex SHA-256 of the raw body (of the empty string
without one). If the service's address has a path, such as \`https://example.org/rtc\`, it is part of what is signed:
\`/rtc/v1/rooms\`.

\`\`\`sh
timestamp=$(date +%s)
body='{"name":"demo"}'
hash=$(printf %s "$body" \\
  | openssl dgst -sha256 -r | cut -d' ' -f1)
signature=$(printf 'POST\\n/v1/rooms\\n%s\\n%s' \\
    "$timestamp" "$hash" \\
  | openssl dgst -sha256 -hmac "$API_SECRET" -r \\
  | cut -d' ' -f1)
curl "$RTC_URL/v1/rooms" --data "$body" \\
  -H 'Content-Type: application/json' \\
  -H "X-Api-Key: $API_KEY" \\
  -H "X-Service-Timestamp: $timestamp" \\
  -H "X-Service-Signature: $signature"
\`\`\`

\`rtc api METHOD PATH\` signs and sends any request; with \`--curl\` it prints it, signed, as a curl command.

## Bodies

Bodies are JSON in UTF-8, nested at most 100 levels deep. An optional field of a body that is \`null\` counts as absent.

## Errors

Every error is \`application/problem+json\` (RFC 9457): \`type\` (\`${problemType('room-not-found')}\` and so on), \`title\` (the HTTP reason phrase), \`status\`, \`detail\`,
\`instance\` (the request id, also in X-Request-Id), and for validation \`errors\`, which names every bad field
(\`pointer\` into the body, or \`parameter\`), up to 100 of them: \`errorsTruncated\` says that there are more. Under \`/cf\` and \`/it\` every error is \`{name, message, code}\` instead.

| code | status | meaning |
|---|---|---|
${CATALOGUE}
`;
