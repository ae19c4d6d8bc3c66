import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Type } from 'typebox';
import { readMembers, readObjects } from '../../../contract/unknown-value.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { openApiDocument } from './openapi.ts';
import { listOperations, type Operation, renderOperation, renderSamples } from './operation-page.ts';
import {
  once,
  type PreparedFile,
  pageRoute,
  part,
  partByName,
  prepareBrotliFile,
  prepareText,
} from './prepared-file.ts';
import {
  type Contents,
  framedPage,
  type Group,
  type GuidePage,
  listSections,
  renderHome,
  trialPage,
} from './reference-html.ts';
import { allSamples, type Samples } from './samples/code-samples.ts';
import type { JsonObject } from './schema-document.ts';

/*
 * Serves /openapi.json, /llms.txt, and the pages at /docs: the first one, those of the guide, one for each operation, and
 * one on which its request is tried out. Each is built and compressed at its first request. Only the last kind loads the
 * viewer, whose script comes from a package and is streamed from disk, because it is larger than the rest of the service.
 */

export type ReferenceDeps = {
  readonly version: string;
  /** The path under which clients reach the service: empty, or `/rtc`. It begins every link. */
  readonly basePath: string;
  /** Folder of the pages that the build made: dist/reference. */
  readonly folder: string;
};

/** Content security policy of the pages with the viewer, which load nothing from other origins. */
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

/** Content security policy of all other pages, which are complete without their one script. */
const TEXT_POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'";

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

/** The output of the build for docs. */
type BuiltGuide = { readonly guides: readonly GuidePage[]; readonly forModels: string };

/** Everything that the pages are made of. */
type Site = {
  readonly document: JsonObject;
  readonly operations: ReadonlyMap<string, Operation>;
  readonly contents: Contents;
  readonly samples: Samples;
};

/** `allRoutes` returns every route of the service, including these. */
export function referenceRoutes(deps: ReferenceDeps, allRoutes: () => readonly Route[]): readonly Route[] {
  const { basePath } = deps;
  const prepareLinked = (page: string): Promise<PreparedFile> => prepareText(linkUnder(basePath, page));
  const guide = once(async (): Promise<BuiltGuide> => {
    const { open } = await prepareBrotliFile(join(deps.folder, 'guide.json'));
    return JSON.parse(await text(Readable.from(await open('identity'))));
  });
  const site = once(async () => {
    const { guides } = await guide();
    const document = openApiDocument(allRoutes(), deps);
    const contents = { version: deps.version, guides, groups: groupOperations(document) };
    const operations = contents.groups.flatMap((group) => group.operations);
    return {
      document,
      contents,
      samples: allSamples(allRoutes(), basePath),
      operations: new Map(operations.map((operation) => [operation.id, operation])),
    };
  });
  return [
    homeRoute(basePath),
    documentRoute(async () => (await site()).document),
    ...firstPageRoutes(site, prepareLinked),
    ...guideRoutes(site, prepareLinked),
    ...operationRoutes(site, prepareLinked),
    pageRoute({
      path: '/llms.txt',
      operationId: 'getLlmsText',
      summary: 'This API as a text for language models',
      description: 'The operations and the guides, in Markdown.',
      contentType: 'text/plain',
      example: '# rtc-service',
      prepare: async () => prepareLinked(llmsText(allRoutes(), (await guide()).forModels)),
    }),
    ...partRoutes(deps.folder, async () => (await site()).contents),
  ];
}

/** The files that the pages load: scripts, styles and the index of their search. */
function partRoutes(folder: string, readContents: () => Promise<Contents>): readonly Route[] {
  return [
    ...['start.js', 'site.js', 'search.js', 'reference.css'].map((name) =>
      part({
        path: `/docs/${name}`,
        contentType: name.endsWith('.css') ? 'text/css' : 'text/javascript',
        prepare: async () => prepareText(await readFile(join(folder, name), 'utf8')),
      }),
    ),
    part({
      path: '/docs/search.json',
      contentType: 'application/json',
      prepare: async () => prepareText(JSON.stringify(listSections(await readContents()))),
    }),
    part({
      path: '/docs/scalar.js',
      contentType: 'text/javascript',
      prepare: () => prepareBrotliFile(join(folder, 'scalar.js')),
    }),
  ];
}

/** Returns the operations in groups. The groups that a newcomer needs come first. */
function groupOperations(document: JsonObject): readonly Group[] {
  const operations = listOperations(document);
  return readObjects(document.tags).map(({ name, description }) => ({
    title: toTitle(String(name)),
    description: String(description),
    operations: operations.filter(({ tag }) => tag === name),
  }));
}

function toTitle(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
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

type PrepareLinked = (text: string) => Promise<PreparedFile>;

/** A page that has opened one of these keeps no hold of it: on the one with the viewer people type their secret. */
const ALONE = { 'cross-origin-opener-policy': 'same-origin' };

const TEXT_PAGE = {
  contentType: 'text/html',
  headers: { ...ALONE, 'content-security-policy': TEXT_POLICY },
};

function firstPageRoutes(site: () => Promise<Site>, prepareLinked: PrepareLinked): readonly Route[] {
  const page = {
    ...TEXT_PAGE,
    path: '/docs',
    prepare: async () => {
      const { contents, samples } = await site();
      const [firstCall] = samples.get('createRoom') ?? [];
      const main = renderHome(contents, String(firstCall?.source));
      return prepareLinked(framedPage({ title: 'rtc-service', path: '/docs', main }, contents));
    },
  };
  return [
    pageRoute({
      ...page,
      operationId: 'getReference',
      summary: 'This API as pages to read',
      description:
        'With samples in several languages, and requests to try out. They load nothing from other hosts.',
      example: '<!doctype html>',
    }),
    part({ ...page, path: '/docs/' }),
  ];
}

function guideRoutes(site: () => Promise<Site>, prepareLinked: PrepareLinked): readonly Route[] {
  const prepareGuide = async (name: string): Promise<PreparedFile | undefined> => {
    const { contents } = await site();
    const guide = contents.guides.find((page) => page.name === name);
    if (guide === undefined) return undefined;
    const { title, path: source, html: main } = guide;
    const path = name === 'README' ? '/docs/guide' : `/docs/guide/${name}`;
    return prepareLinked(framedPage({ title: `${title}: rtc-service`, path, main, source }, contents));
  };
  return [
    pageRoute({
      ...TEXT_PAGE,
      path: '/docs/guide',
      operationId: 'getGuide',
      summary: 'The guide to this service',
      description: 'All pages of the documentation, by task; without scripts.',
      example: '<!doctype html>',
      prepare: async () => (await prepareGuide('README')) ?? (await prepareText('')),
    }),
    partByName({ ...TEXT_PAGE, path: '/docs/guide/:name', prepare: prepareGuide }),
  ];
}

function operationRoutes(site: () => Promise<Site>, prepareLinked: PrepareLinked): readonly Route[] {
  const forOperation =
    (prepare: (operation: Operation, site: Site) => Promise<PreparedFile>) =>
    async (id: string): Promise<PreparedFile | undefined> => {
      const known = await site();
      const operation = known.operations.get(id);
      return operation === undefined ? undefined : await prepare(operation, known);
    };
  return [
    partByName({
      ...TEXT_PAGE,
      path: '/docs/api/:name',
      prepare: forOperation(async (operation, { document, samples, contents }) => {
        const { id, title } = operation;
        const main = renderOperation(operation, document);
        const beside = renderSamples(samples.get(id) ?? []);
        return prepareLinked(
          framedPage({ title: `${title}: rtc-service`, path: `/docs/api/${id}`, main, beside }, contents),
        );
      }),
    }),
    partByName({
      path: '/docs/try/:name',
      contentType: 'text/html',
      headers: { ...ALONE, 'content-security-policy': POLICY },
      prepare: forOperation(async (operation, { contents }) => prepareLinked(trialPage(operation, contents))),
    }),
    partByName({
      path: '/docs/try/:name/document.json',
      contentType: 'application/json',
      prepare: forOperation(async (operation, { document, samples }) =>
        prepareText(JSON.stringify(trialDocument(operation, document, samples))),
      ),
    }),
  ];
}

/** Puts `basePath` before the links of a text, HTML or Markdown, that lead to this service. */
function linkUnder(basePath: string, text: string): string {
  return text.replaceAll(/(?<= (?:href|src)="|\]\()(?=\/)/g, basePath);
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
- [Reference](/docs): the same as pages, with samples in several languages
- [Guide](/docs/guide): all pages of the documentation, those below included

## Operations

${operations.join('\n')}

# Guides

${guide}`;
}

/**
 * The document of one operation for the viewer. The page signs by itself, so it does not ask for the values of signature
 * headers.
 */
function trialDocument(
  { id, method, path, source }: Operation,
  document: JsonObject,
  samples: Samples,
): JsonObject {
  const { info, components, openapi, servers } = document;
  const { securitySchemes: _, ...shown } = readMembers(components);
  const { security: _security, tags: _tags, ...operation } = source;
  return {
    openapi,
    servers,
    info: { ...readMembers(info), description: '' },
    paths: { [path]: { [method.toLowerCase()]: { ...operation, 'x-codeSamples': samples.get(id) } } },
    components: shown,
  };
}
