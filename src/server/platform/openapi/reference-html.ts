import { escapeHtml, type Operation, renderCall } from './operation-page.ts';

/* The frame of the pages at /docs, and those that are more than a text in it. They load nothing from other hosts. */

/** A page of docs, as the build has listed it. */
export type GuidePage = {
  readonly name: string;
  readonly title: string;
  /** Its heading in the contents; none for results of the proof, to which its page leads. */
  readonly heading?: string;
  /** Its file in the repository. */
  readonly path: string;
  readonly html: string;
};

/** A group of operations: its name in the document, its title, and what it is about. */
export type Group = {
  readonly title: string;
  readonly description: string;
  readonly operations: readonly Operation[];
};

/** All pages. `version` is the version of the service. */
export type Contents = {
  readonly version: string;
  readonly guides: readonly GuidePage[];
  readonly groups: readonly Group[];
};

type Framed = {
  readonly title: string;
  /** The path of the page. */
  readonly path: string;
  readonly main: string;
  /** The content beside the text where a window is wide; by default the headings of the text. */
  readonly beside?: string;
  /** The file of a page that was written as Markdown. */
  readonly source?: string;
};

/** A page in the frame: the bar, all pages under the heads "Guide" and "API", the text, and its headings. */
export function framedPage({ title, path, main, beside, source }: Framed, contents: Contents): string {
  return page(
    title,
    `<script src="/docs/site.js"></script>
  </head>
  <body>
    <a class="skip" href="#main">Skip to the text</a>
    <header class="bar">
      <button class="menu" type="button" popovertarget="contents">Menu</button>
      ${bar(path, contents.version)}
      <button id="search-button" type="button">Search <kbd>/</kbd></button>
      <button id="theme" type="button" aria-label="Colours">◐</button>
    </header>
    <div class="page${beside === undefined ? '' : ' with-samples'}">
      <nav id="contents" class="contents" aria-label="All pages" popover>${renderContents(contents, path)}</nav>
      <main id="main" class="text" tabindex="-1">
        ${main}
        ${source === undefined ? '' : `<p class="source">The source of this page is <code>${escapeHtml(source)}</code>.</p>`}
      </main>
      ${beside ?? renderOutline(main)}
    </div>`,
  );
}

/** The first page: what this is, a first call, and where to go on. @param firstCall a call in a shell */
export function renderHome({ groups }: Contents, firstCall: string): string {
  return `<h1>rtc-service</h1>
<p class="lead">Video rooms for your application, on your own LiveKit server: access tokens with roles, moderation, recordings, transcripts, and
webhooks that do not get lost. Your back end signs its requests. Pages and apps get access tokens for LiveKit, and send their sound and pictures there.</p>
<h2 id="first-call">Your first call</h2>
<p>Put the address of this service into <code>RTC_URL</code>, its key and secret into <code>API_KEY</code> and <code>API_SECRET</code>, and paste this into a
shell. It opens a room.</p>
<pre tabindex="0"><code>${escapeHtml(firstCall)}</code></pre>
<p>With <code>rtc</code>, which signs by itself, it is <code>rtc rooms create demo</code>; <code>rtc dev</code> starts everything on one machine and knows the key. Then
<a href="/docs/api/createToken">get a token</a> for a person, and <a href="/docs/guide/roles">connect</a>.</p>
<ul class="ways">
<li><a href="/docs/guide/getting-started">Getting started</a> makes an application of it, in two small files.</li>
<li><a href="/docs/guide/signing">Sign requests</a> explains the lines above; the <a href="/docs/guide/clients">clients</a> sign for you.</li>
<li><a href="/docs/guide">The guide</a> has all pages by task.</li>
<li>Programs read <a href="/openapi.json">the OpenAPI document</a> and <a href="/llms.txt">a text for language models</a>.</li>
</ul>
<h2 id="operations">Operations</h2>
${groups.map(renderGroup).join('\n')}`;
}

function renderGroup({ title, description, operations }: Group): string {
  const rows = operations.map(
    (operation) =>
      `<li><a href="/docs/api/${operation.id}">${escapeHtml(operation.title)}</a> <span>${operation.isEvent ? '' : renderCall(operation)}</span></li>`,
  );
  return `<h3 id="${title.toLowerCase().replaceAll(' ', '-')}">${escapeHtml(title)}</h3><p>${escapeHtml(description)}</p><ul class="operations">${rows.join('')}</ul>`;
}

/** Renders the list of all pages. That part comes first which the page belongs to. */
function renderContents({ guides, groups }: Contents, path: string): string {
  const link = (href: string, text: string): string =>
    `<li><a href="${href}"${href === path ? ' aria-current="page"' : ''}>${escapeHtml(text)}</a></li>`;
  const headings = [...new Set(guides.flatMap(({ heading }) => heading ?? []))];
  const lists = headings.map((heading) => {
    const pages = guides.filter((guide) => guide.heading === heading);
    return `<h3>${escapeHtml(heading)}</h3><ul>${pages.map(({ name, title }) => link(`/docs/guide/${name}`, title)).join('')}</ul>`;
  });
  const parts = groups.map(({ title, operations }) => {
    const isOpen = operations.some(({ id }) => path === `/docs/api/${id}`);
    const items = operations.map((operation) => link(`/docs/api/${operation.id}`, operation.title));
    return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(title)}</summary><ul>${items.join('')}</ul></details>`;
  });
  const guide = `<h2><a href="/docs/guide">Guide</a></h2>${lists.join('')}`;
  const api = `<h2><a href="/docs">API</a></h2>${parts.join('')}`;
  return isOfApi(path) ? api + guide : guide + api;
}

/** The headings of a page, beside it where a window is wide. A page with one heading needs none. */
function renderOutline(main: string): string {
  const headings = [...main.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)];
  if (headings.length < 2) return '';
  const items = headings.map(
    ([, id, text = '']) => `<li><a href="#${id}">${text.replaceAll(/<[^>]+>/g, '')}</a></li>`,
  );
  return `<nav class="outline" aria-labelledby="outline-title"><h2 id="outline-title">On this page</h2><ul>${items.join('')}</ul></nav>`;
}

function isOfApi(path: string): boolean {
  return path === '/docs' || path.startsWith('/docs/api/');
}

/** @param path the path of the page */
function bar(path: string, version: string): string {
  const current = isOfApi(path) ? 'API' : 'Guide';
  const link = (href: string, text: string): string =>
    `<a href="${href}"${text === current ? ' aria-current="true"' : ''}>${text}</a>`;
  return `<a class="name" href="/docs">rtc-service</a> <span class="version">${escapeHtml(version)}</span>
      <nav aria-label="Parts">${link('/docs/guide', 'Guide')}${link('/docs', 'API')}</nav>`;
}

/** A part of a page below one heading, for the search. The path continues `/docs/`. */
export type Section = {
  readonly path: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
};

/** Returns the sections of all pages. An operation is one section. */
export function listSections({ guides, groups }: Contents): readonly Section[] {
  const operations = groups.flatMap((group) => group.operations);
  return [
    ...guides.flatMap(({ name, title, html }) => {
      const path = name === 'README' ? 'guide' : `guide/${name}`;
      return html.split(/(?=<h[1-3] id=)/).map((part): Section => {
        const [, anchor = '', heading = title] = /^<h[1-3] id="([^"]+)">(.*?)<\/h/.exec(part) ?? [];
        const text = toText(part.replace(/^<h.*?<\/h\d>/, ''));
        const hash = part.startsWith('<h1') ? '' : `#${anchor}`;
        return { path: `${path}${hash}`, page: title, title: toText(heading), text };
      });
    }),
    ...operations.map(({ id, title, method, path, isEvent, source }): Section => {
      const call = isEvent ? '' : `${method} ${path}`;
      return {
        path: `api/${id}`,
        page: title,
        title,
        text: `${call} ${id} ${String(source.description ?? '')}`,
      };
    }),
  ].filter(({ path }) => !path.endsWith('#'));
}

function toText(html: string): string {
  const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" };
  return html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&([\w#]+);/g, (entity, name: string) => entities[name] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${escapeHtml(title)}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/reference.css">
    ${body}
  </body>
</html>
`;
}

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

/**
 * The page on which a request is tried out, by the viewer. Its script is a megabyte, and takes a second of processor time or
 * more, so only this page loads it.
 */
export function trialPage({ id, title }: Operation, { version }: Contents): string {
  return page(
    `${title}: test request`,
    `<link rel="preload" href="/docs/try/${id}/document.json" as="fetch" crossorigin>
    <link rel="preload" href="/docs/scalar.js" as="script">
    <script src="/docs/start.js" defer></script>
  </head>
  <body class="trial">
    <div class="bar" role="region" aria-label="This page">
      ${bar(`/docs/api/${id}`, version)}
      <button id="sign-button" type="button" hidden>Sign requests</button>
    </div>
    ${CREDENTIALS}
    <main id="loading" class="text">
        <h1>${escapeHtml(title)}</h1>
        <p role="status">The form for requests is being loaded. <a href="/docs/api/${id}">Back to the description</a></p>
        <noscript><p>Trying out a request needs JavaScript.</p></noscript>
    </main>
    <div id="reference" data-operation="${id}"></div>`,
  );
}
