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
export type ReferencePage = { readonly guide: string; readonly tags: readonly (readonly [string, string])[] };

/**
 * Renders the reference. The viewer takes a second of processor time or more before it shows anything. Therefore the page
 * has its first view already: the guides, which are also the beginning of the viewer's content. Without scripts this is the
 * whole page.
 */
export function referencePage({ guide, tags }: ReferencePage): string {
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
export function guidePage(guide: string): string {
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
