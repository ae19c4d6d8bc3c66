import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TSchema, Type } from 'typebox';
import { readMembers, readObjects } from '../../../contract/unknown-value.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { openApiDocument } from './openapi.ts';
import { once, type PreparedFile, prepareBrotliFile, prepareText, sendPrepared } from './prepared-file.ts';
import { allSamples, type Samples } from './samples/code-samples.ts';
import type { JsonObject } from './schema-document.ts';

/*
 * Serves /openapi.json, /docs with its parts, /docs/guide and /llms.txt. Each is built and compressed at its first request.
 * The script of the viewer comes from a package and is streamed from disk, because it is larger than the rest of the
 * service.
 */

export type ReferenceDeps = {
  readonly version: string;
  /** The path under which clients reach the service: empty, or `/rtc`. It begins every link. */
  readonly basePath: string;
  /** Folder of the pages that the build made: dist/reference. */
  readonly folder: string;
};

/** Content security policy: the page loads nothing from other origins. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Content security policy of the guide, which needs no scripts. */
const TEXT_POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'";

const TextSchema = Type.String();

const DocumentSchema = Type.Object(
  {
    openapi: Type.String({ description: 'Version of OpenAPI', examples: ['3.1.0'] }),
    info: Type.Unknown({
      description: 'Title, version and introduction',
      examples: [{ title: 'rtc-service' }],
    }),
    paths: Type.Unknown({ description: 'The operations', examples: [{}] }),
  },
  { additionalProperties: true },
);

type Served = {
  readonly path: string;
  readonly contentType: string;
  readonly prepare: () => Promise<PreparedFile>;
  readonly headers?: Readonly<Record<string, string>>;
};

type Page = Served & {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly schema?: TSchema;
  readonly example?: string;
};

/** `allRoutes` returns every route of the service, including these. */
export function referenceRoutes(deps: ReferenceDeps, allRoutes: () => readonly Route[]): readonly Route[] {
  const { basePath } = deps;
  const document = once(async () => openApiDocument(allRoutes(), deps));
  const built = (name: string): Promise<string> => readFile(join(deps.folder, name), 'utf8');
  return [
    homeRoute(basePath),
    documentRoute(document),
    ...pageRoutes(built, document, basePath),
    pageRoute({
      path: '/llms.txt',
      operationId: 'getLlmsText',
      summary: 'This API as a text for language models',
      description: 'The operations and the guides, in Markdown.',
      contentType: 'text/plain',
      example: '# rtc-service',
      prepare: async () => prepareText(linkUnder(basePath, llmsText(allRoutes(), await built('guide.md')))),
    }),
    part({
      path: '/docs/document.json',
      contentType: 'application/json',
      prepare: async () =>
        prepareText(
          JSON.stringify(
            pageDocument(await document(), await built('guide.md'), allSamples(allRoutes(), basePath)),
          ),
        ),
    }),
    ...Object.entries({ 'start.js': 'text/javascript', 'reference.css': 'text/css' }).map(
      ([name, contentType]) =>
        part({ path: `/docs/${name}`, contentType, prepare: async () => prepareText(await built(name)) }),
    ),
    part({
      path: '/docs/scalar.js',
      contentType: 'text/javascript',
      prepare: () => prepareBrotliFile(join(deps.folder, 'scalar.js')),
    }),
  ];
}

function homeRoute(basePath: string): Route {
  return defineRoute({
    method: 'GET',
    path: '/',
    operationId: 'getHome',
    tag: 'service',
    summary: 'Lead to the reference',
    security: 'public',
    success: { 302: { description: 'To /docs', headers: { Location: 'The reference' } } },
    errors: [],
    isInternal: true,
    handle: () => ({ status: 302, headers: { location: `${basePath}/docs` } }),
  });
}

/** Pages of any origin may read the document, such as editors of OpenAPI. */
function documentRoute(document: () => Promise<JsonObject>): Route {
  return pageRoute({
    path: '/openapi.json',
    operationId: 'getOpenApi',
    summary: 'This API as an OpenAPI 3.1 document',
    description: 'For generators of clients and other tools. Pages of any origin may read it.',
    contentType: 'application/json',
    schema: DocumentSchema,
    headers: { 'access-control-allow-origin': '*' },
    prepare: async () => prepareText(JSON.stringify(await document())),
  });
}

function pageRoutes(
  built: (name: string) => Promise<string>,
  document: () => Promise<JsonObject>,
  basePath: string,
): readonly Route[] {
  const prepare = (html: string): Promise<PreparedFile> => prepareText(linkUnder(basePath, html));
  const reference = {
    path: '/docs',
    contentType: 'text/html',
    headers: { 'content-security-policy': POLICY },
    prepare: async () =>
      prepare(referencePage({ guide: await built('guide.html'), tags: tagTitles(await document()) })),
  };
  return [
    pageRoute({
      ...reference,
      operationId: 'getReference',
      summary: 'This API as a page to read',
      description:
        'With samples in several languages, and requests to try out. It loads nothing from other hosts.',
      example: '<!doctype html>',
    }),
    part({ ...reference, path: '/docs/' }),
    pageRoute({
      path: '/docs/guide',
      operationId: 'getGuide',
      summary: 'Guides to this API',
      description:
        'Signing, roles, webhooks, recordings, transcription, paging, limits and errors; without scripts.',
      contentType: 'text/html',
      headers: { 'content-security-policy': TEXT_POLICY },
      example: '<!doctype html>',
      prepare: async () => prepare(guidePage(await built('guide.html'))),
    }),
  ];
}

/** Puts `basePath` before the links of a text, HTML or Markdown, that lead to this service. */
function linkUnder(basePath: string, text: string): string {
  return text.replaceAll(/(?<= (?:href|src)="|\]\()(?=\/)/g, basePath);
}

function part(served: Served): Route {
  const words = { summary: 'A part of the page', description: 'A part of the page' };
  const operationId = `get${served.path.replaceAll(/\W+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`;
  return { ...pageRoute({ ...served, ...words, operationId }), isInternal: true };
}

function pageRoute({ path, operationId, summary, description, contentType, ...page }: Page): Route {
  const prepared = once(page.prepare);
  const { schema = TextSchema, example, headers } = page;
  const validators = { ETag: 'Changes with the content; for If-None-Match' };
  return defineRoute({
    method: 'GET',
    path,
    operationId,
    tag: 'service',
    summary,
    description,
    security: 'public',
    success: {
      200: {
        description: summary,
        schema,
        contentType,
        headers: validators,
        ...(example === undefined ? {} : { example }),
      },
      304: { description: 'Not modified since the version that the caller has', headers: validators },
    },
    errors: [],
    handle: async ({ raw }) => {
      const { headers: sent, ...response } = await sendPrepared(await prepared(), raw.headers);
      return {
        ...response,
        headers: { 'content-type': `${contentType}; charset=utf-8`, ...sent, ...headers },
      };
    },
  });
}

/**
 * /llms.txt (https://llmstxt.org): everything that a language model needs to call the API, in Markdown. Readers without
 * JavaScript get it too.
 */
function llmsText(routes: readonly Route[], guide: string): string {
  const operations = routes
    .filter((route) => !route.isInternal)
    .map(({ method, path, summary }) => `- \`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}\`: ${summary}`);
  return `# rtc-service

> A signed room service in front of a LiveKit media server: access tokens by role, rooms, participants, recordings,
> ingress, transcription and webhooks, for trusted back ends. Italian fiscal codes and places are public.

- [OpenAPI document](/openapi.json): every operation with its schemas, examples and errors
- [Reference](/docs): the same as a page, with samples in several languages
- [Guide](/docs/guide): the guides below as a page

## Operations

${operations.join('\n')}

# Guides

${guide}`;
}

/**
 * Adapts the document for the reference page: the guides are its introduction. The page signs by itself, so it does not ask
 * for the values of signature headers.
 */
function pageDocument(document: JsonObject, guide: string, samples: Samples): JsonObject {
  const { info, tags, paths, components, ...rest } = document;
  const { securitySchemes: _, ...shown } = readMembers(components);
  return {
    ...rest,
    info: { ...readMembers(info), description: guide },
    tags: tagTitles(document).map(([name, title], index) => ({
      ...readObjects(tags)[index],
      name,
      'x-displayName': title,
    })),
    paths: mapOperations(readMembers(paths), ({ security: _security, ...operation }) => ({
      ...operation,
      'x-codeSamples': samples.get(String(operation.operationId)),
    })),
    components: shown,
  };
}

/** Returns the names of the groups of operations, which are parts of addresses, and their titles. */
function tagTitles({ tags }: JsonObject): readonly (readonly [string, string])[] {
  return readObjects(tags).map(({ name }) => {
    const text = String(name);
    return [text, text.charAt(0).toUpperCase() + text.slice(1)];
  });
}

function mapOperations(paths: JsonObject, change: (operation: JsonObject) => JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(readMembers(item)).map(([method, operation]) => [
          method,
          change(readMembers(operation)),
        ]),
      ),
    ]),
  );
}

/* Renders the pages as HTML. They are readable before any script runs, and load nothing from other hosts. */

/** @param current the path of the page */
function bar(current: string, rest = ''): string {
  const link = (path: string, text: string): string =>
    `<a href="${path}"${path === current ? ' aria-current="page"' : ''}>${text}</a>`;
  return `<header class="bar">
      <a class="name" href="/docs">rtc-service</a>
      <nav aria-label="Pages">${link('/docs', 'Reference')}${link('/docs/guide', 'Guide')}${link('/openapi.json', 'OpenAPI')}</nav>${rest}
    </header>`;
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/reference.css">
    ${body}
  </body>
</html>
`;
}

const SIGN_BUTTON = `
      <button id="sign-button" type="button" hidden>Sign requests</button>`;

const CREDENTIALS = `<dialog id="credentials" aria-labelledby="credentials-title">
      <form method="dialog">
        <h2 id="credentials-title">Sign requests</h2>
        <p>The key and the secret stay in the memory of this page. They are not stored, and a reload forgets them.</p>
        <label>API key<input id="api-key" autocomplete="off" spellcheck="false" required></label>
        <label>API secret<input id="api-secret" type="password" autocomplete="off" required></label>
        <div class="buttons">
          <button value="forget" formnovalidate>Forget</button>
          <button value="cancel" formnovalidate>Cancel</button>
          <button class="primary" value="use">Use</button>
        </div>
      </form>
    </dialog>`;

/** @param tags the groups of operations, by name and title */
type ReferencePage = { readonly guide: string; readonly tags: readonly (readonly [string, string])[] };

/**
 * Renders the reference. The viewer takes a second of processor time or more before it shows anything. Therefore the page
 * has its first view already: the guides, which are also the beginning of the viewer's content. Without scripts this is the
 * whole page.
 */
function referencePage({ guide, tags }: ReferencePage): string {
  const operations = tags
    .map(([name, title]) => `<li><a href="#tag/${toAnchor(name)}">${title}</a></li>`)
    .join('');
  return page(
    'rtc-service API',
    `<link rel="preload" href="/docs/document.json" as="fetch" crossorigin>
    <link rel="preload" href="/docs/scalar.js" as="script">
    <script src="/docs/start.js" defer></script>
  </head>
  <body>
    ${bar('/docs', SIGN_BUTTON)}
    ${CREDENTIALS}
    <div id="introduction">
        <aside><nav aria-label="Contents"><ul class="contents">${renderContents(guide)}</ul><ul class="contents operations">${operations}</ul></nav></aside>
        <main class="text">
          <h1>rtc-service</h1>
          <noscript><p>This page needs JavaScript to show each operation. Without it, read
            <a href="/docs/guide">the guide</a>, <a href="/llms.txt">the list of operations</a> or
            <a href="/openapi.json">the OpenAPI document</a>.</p></noscript>
          ${guide}
        </main>
    </div>
    <div id="reference"></div>`,
  );
}

/** Returns the anchor that the viewer gives to a tag. */
function toAnchor(name: string): string {
  return name.replaceAll(' ', '-');
}

function renderContents(guide: string): string {
  const titles = [...guide.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)];
  return titles.map(([, id, title]) => `<li><a href="#${id}">${title}</a></li>`).join('');
}

/** @param guide the guides as HTML */
function guidePage(guide: string): string {
  return page(
    'Guide to the rtc-service API',
    `</head>
  <body>
    <a class="skip" href="#guide">Skip to the guide</a>
    ${bar('/docs/guide')}
    <div class="page">
      <aside><nav aria-label="Contents"><ul>${renderContents(guide)}</ul></nav></aside>
      <main id="guide" class="text">
        <h1>Guide</h1>
        <p>What to know about each part of the API. <a href="/docs">The reference</a> has every operation.</p>
        ${guide}
      </main>
    </div>`,
  );
}
