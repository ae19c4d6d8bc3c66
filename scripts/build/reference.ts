import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { Marked } from 'marked';
import { ROOT, writeBundle } from './output.ts';

const compressBrotli = promisify(brotliCompress);

/**
 * Writes the files of the API reference: the script, taken from the package that embeds it, in compressed forms; our own
 * scripts and style; and the guides.
 */
export async function writeReference(out: string): Promise<readonly string[]> {
  const folder = `${out}/reference`;
  await mkdir(folder, { recursive: true });
  const [modules] = await Promise.all([
    Promise.all(['start', 'site', 'search'].map((name) => writeScript(name, folder))),
    writeViewer(folder),
    copyFile(`${ROOT}src/web/reference/reference.css`, `${folder}/reference.css`),
    writeGuide(folder),
  ]);
  return [...modules.flat(), `${ROOT}node_modules/@scalar/fastify-api-reference/dist/index.js`];
}

function writeScript(name: string, folder: string): Promise<readonly string[]> {
  return writeBundle(
    { input: { [name]: `src/web/reference/${name}.ts` }, platform: 'browser' },
    { dir: folder, minify: true, format: 'iife' },
  );
}

/**
 * Writes the script only in brotli, which is a quarter of its size. The service makes the other forms from it, because four
 * megabytes take seconds to compress.
 */
async function writeViewer(folder: string): Promise<void> {
  const script = await readViewer();
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: script.length };
  await writeFile(`${folder}/scalar.js.br`, await compressBrotli(script, { params: quality }));
}

/** Requests the script as a browser would. */
async function readViewer(): Promise<Buffer> {
  const [{ fastify }, { default: reference }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ]);
  const app = fastify();
  await app.register(reference, {
    routePrefix: '/docs',
    configuration: { content: { openapi: '3.1.0', info: { title: '', version: '' }, paths: {} } },
  });
  const response = await app.inject('/docs/js/scalar.js');
  await app.close();
  if (response.statusCode !== 200 || response.rawPayload.length < 100_000) {
    throw new Error(`@scalar/fastify-api-reference answered ${response.statusCode} for its script`);
  }
  return response.rawPayload;
}

/** Pages that a language model needs to call the API. */
const FOR_MODELS = ['signing', 'roles', 'conventions', 'webhooks', 'recordings', 'transcription'];

type Pages = ReadonlyMap<string, { readonly path: string; readonly markdown: string }>;

/** Writes one file with each page of docs as HTML and the text for language models. Plain, they would be 600 kB. */
async function writeGuide(folder: string): Promise<void> {
  const pages = await readPages();
  const guides = await Promise.all(
    listPages(pages).map(async (page) => ({ ...page, html: await toHtml(linkPages(page.name, pages)) })),
  );
  const texts = FOR_MODELS.map((name) => lowerHeadings(linkPages(name, pages)));
  const file = JSON.stringify({ guides, forModels: texts.join('\n') });
  await writeFile(`${folder}/guide.json.br`, await compressBrotli(file));
}

/**
 * Lists the pages as the index of docs does: in its order, below its headings. The results of the proof have no heading,
 * because the page of the proof leads to them.
 */
function listPages(pages: Pages) {
  const index = pages.get('README')?.markdown ?? '';
  const headings = new Map<string, string>();
  for (const section of index.split(/^## /m).slice(1)) {
    const [heading = ''] = section.split('\n');
    for (const [, target = ''] of section.matchAll(/\]\(([^)#]+\.md)\)/g)) {
      const name = findPage(posix.join('docs', target), pages);
      if (name !== undefined && !headings.has(name)) headings.set(name, heading);
    }
  }
  const names = [...headings.keys(), ...[...pages.keys()].filter((name) => !headings.has(name))];
  return names.map((name) => {
    const { path = '', markdown = '' } = pages.get(name) ?? {};
    return { name, title: /^# (.+)$/m.exec(markdown)?.[1], heading: headings.get(name), path };
  });
}

/** Returns the pages of docs and that of the clients, by their name in an address. */
async function readPages(): Promise<Pages> {
  const folders = { 'docs/': '', 'docs/proof/': 'proof-' };
  const named = [['clients', 'clients/README.md']];
  for (const [folder, prefix] of Object.entries(folders)) {
    for (const file of await readdir(`${ROOT}${folder}`)) {
      if (file.endsWith('.md')) named.push([`${prefix}${file.slice(0, -3)}`, `${folder}${file}`]);
    }
  }
  return new Map(
    await Promise.all(
      named.map(async ([name = '', path = '']) => {
        const markdown = await readFile(`${ROOT}${path}`, 'utf8');
        return [name, { path, markdown }] as const;
      }),
    ),
  );
}

/** Lets links between pages lead to their addresses. Of a link to another file, which is not served, the text stays. */
function linkPages(name: string, pages: Pages): string {
  const { path = '', markdown = '' } = pages.get(name) ?? {};
  return markdown.replaceAll(
    /(?<!!)\[([^\]]+)\]\((?!https?:)([^)#]*)(#[^)]+)?\)/g,
    (_link, text: string, target: string, anchor = '') => {
      if (target === '') return `[${text}](${anchor})`;
      const found = findPage(posix.join(posix.dirname(path), target), pages);
      if (found === undefined) return text;
      return `[${text}](/docs/guide${found === 'README' ? '' : `/${found}`}${anchor})`;
    },
  );
}

function findPage(path: string, pages: Pages): string | undefined {
  return [...pages].find(([, page]) => page.path === path)?.[0];
}

function lowerHeadings(text: string): string {
  return text.replaceAll(/^(#+) /gm, '#$1 ');
}

/** Returns the anchor that GitHub gives to a heading, which links of the pages use. */
function toAnchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
    .replaceAll(/\s/g, '-');
}

async function toHtml(markdown: string): Promise<string> {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${toAnchor(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // A field that nobody can tick needs no name.
      checkbox: () => '<span aria-hidden="true">☐</span> ',
    },
  });
  const html = await marked.parse(markdown);
  // A table may be wider than a phone's screen. It scrolls separately, and the keyboard can reach it.
  return (
    html
      .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
      .replaceAll('</table>', '</table></div>')
      // The corner of a table with two heads is no head.
      .replaceAll('<th></th>', '<td></td>')
      .replaceAll('<pre>', '<pre tabindex="0">')
  );
}
