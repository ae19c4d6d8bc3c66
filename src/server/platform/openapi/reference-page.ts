import { createReadStream } from 'node:fs';
import { type TSchema, Type } from 'typebox';
import { defineRoute, type Route, type RouteResponse } from '../http/route.ts';
import { openApiDocument } from './openapi.ts';

/*
 * /openapi.json and /docs. The document is built at the first request and kept as text. The script of the reference
 * page comes from a package and is streamed from disk, because it is larger than the rest of the service.
 */

export type ReferenceDeps = { readonly version: string; readonly scriptPath: string };

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>rtc-service API</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="reference"></div>
    <script src="/docs/reference.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** The page's own samples and test button cannot sign requests, so they are hidden. The document has samples. */
const START = `Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  withDefaultFonts: false,
  hideClientButton: true,
  hideTestRequestButton: true,
  hiddenClients: true,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
});
`;

/** The page loads nothing from other origins. */
const POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const TextSchema = Type.String({ examples: ['…'] });
const DocumentSchema = Type.Object(
  {
    openapi: Type.String({ examples: ['3.1.0'] }),
    info: Type.Unknown({ examples: [{ title: 'rtc-service' }] }),
    paths: Type.Unknown({ examples: [{}] }),
  },
  { additionalProperties: true },
);

/** `allRoutes` returns every route of the service, including these. */
export function referenceRoutes(deps: ReferenceDeps, allRoutes: () => readonly Route[]): readonly Route[] {
  let document: string | undefined;
  return [
    defineRoute({
      method: 'GET',
      path: '/',
      operationId: 'getHome',
      tag: 'service',
      summary: 'Lead to the reference',
      security: 'public',
      success: { 302: { description: 'To /docs', headers: { Location: 'The reference' } } },
      errors: [],
      handle: () => ({ status: 302, headers: { location: '/docs' } }),
    }),
    file(
      '/openapi.json',
      'getOpenApi',
      'This API as an OpenAPI 3.1 document',
      'application/json',
      () => {
        document ??= JSON.stringify(openApiDocument(allRoutes(), deps.version));
        return { body: document };
      },
      DocumentSchema,
    ),
    file('/docs', 'getReference', 'This API as a page to read', 'text/html', () => ({
      body: PAGE,
      headers: { 'content-security-policy': POLICY },
    })),
    partOfPage('/docs/start.js', 'getReferenceStart', () => ({ body: START })),
    partOfPage('/docs/reference.js', 'getReferenceScript', () => ({
      body: createReadStream(deps.scriptPath),
      headers: { 'cache-control': 'public, max-age=86400' },
    })),
  ];
}

type Read = () => Pick<RouteResponse, 'body' | 'headers'>;

function partOfPage(path: string, operationId: string, read: Read): Route {
  return { ...file(path, operationId, 'A part of the page', 'text/javascript', read), isInternal: true };
}

function file(
  path: string,
  operationId: string,
  summary: string,
  contentType: string,
  read: Read,
  schema: TSchema = TextSchema,
): Route {
  return defineRoute({
    method: 'GET',
    path,
    operationId,
    tag: 'service',
    summary,
    security: 'public',
    success: { 200: { description: summary, schema, contentType } },
    errors: [],
    handle: () => {
      const { body, headers } = read();
      return { status: 200, body, headers: { 'content-type': `${contentType}; charset=utf-8`, ...headers } };
    },
  });
}
