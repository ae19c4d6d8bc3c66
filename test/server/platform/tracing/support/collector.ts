import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A span of OTLP's JSON, with its attributes by name. */
export type CollectedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  readonly resource: Readonly<Record<string, unknown>>;
};

export type Export = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

/** Starts a small collector: OTLP over HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
export async function startCollector() {
  const exports: Export[] = [];
  const server = createServer(async (request, response) => {
    exports.push({ path: request.url ?? '', headers: request.headers, body: await buffer(request) });
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    exports,
    /** Spans of the exports in JSON. */
    spans: (): readonly CollectedSpan[] => exports.flatMap(({ body }) => listSpans(JSON.parse(String(body)))),
    close: async (): Promise<void> => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
type OtlpSpan = Omit<CollectedSpan, 'attributes' | 'isError' | 'resource'> & {
  readonly attributes?: readonly Attribute[];
  readonly status?: { readonly code?: number };
};
type OtlpTraces = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
};

const STATUS_ERROR = 2;

function listSpans({ resourceSpans }: OtlpTraces): readonly CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: listValues(span.attributes ?? []),
        isError: span.status?.code === STATUS_ERROR,
        resource: listValues(resource.attributes),
      })),
    ),
  );
}

function listValues(attributes: readonly Attribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
