import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_NAMES, EVENT_TYPES, findEventType } from '../../../../src/contract/event-names.ts';
import { resolveReference } from '../../../support/conformance.ts';
import { startTestService, type TestService } from '../../../support/service.ts';

/* The description of webhook requests in the document. */

type Delivery = {
  readonly operationId: string;
  readonly description: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly description: string;
  }[];
  readonly requestBody: { readonly content: { readonly 'application/json': { readonly schema: object } } };
  readonly responses: Readonly<Record<string, object>>;
};
type Event = {
  readonly oneOf: readonly { readonly $ref: string }[];
  readonly discriminator: {
    readonly propertyName: string;
    readonly mapping: Readonly<Record<string, string>>;
  };
};

let service: TestService;
let deliveries: Readonly<Record<string, { readonly post: Delivery }>>;

beforeAll(async () => {
  service = await startTestService();
  const { webhooks } = service.document as unknown as { readonly webhooks: typeof deliveries };
  deliveries = webhooks;
});
afterAll(() => service.close());

describe('the webhooks of the document', () => {
  it('are one for each event, and one for tests', () => {
    expect(Object.keys(deliveries)).toEqual([...EVENT_TYPES, 'webhook_test']);
  });

  it('have a schema each, the headers and both signatures', () => {
    const schemas = new Set<string>();
    for (const { post } of Object.values(deliveries)) {
      schemas.add(JSON.stringify(post.requestBody.content['application/json'].schema));
      const headers = post.parameters.map((each) => resolveReference(service.document, each));
      expect(headers.map((each) => each.name)).toEqual([
        'x-service-webhook-signature',
        'x-service-webhook-event',
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
      ]);
      expect(headers.every((each) => each.in === 'header' && each.description.length > 10)).toBe(true);
      expect(Object.keys(post.responses)).toContain('2XX');
    }
    expect(schemas.size).toBe(EVENT_TYPES.length + 1);
  });

  it('name the other name under which an event can be registered', () => {
    expect(deliveries.egress_ended?.post.description).toContain('`recording_stopped`');
  });

  it('make Event a union that its name distinguishes, under every name', () => {
    const { schemas } = service.document.components as { readonly schemas: Readonly<Record<string, Event>> };
    const event = schemas.Event;
    expect(event?.oneOf).toHaveLength(EVENT_TYPES.length);
    expect(event?.discriminator.propertyName).toBe('event');
    const names = EVENT_NAMES.filter((name) => findEventType(name) !== undefined);
    expect(Object.keys(event?.discriminator.mapping ?? {}).sort()).toEqual([...names].sort());
    expect(event?.discriminator.mapping.recording_stopped).toBe('#/components/schemas/EgressEndedEvent');
  });
});
