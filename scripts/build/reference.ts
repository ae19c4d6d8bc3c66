import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { Marked } from 'marked';
import { ROOT, writeBundle } from './output.ts';

const compressBrotli = promisify(brotliCompress);

/**
 * Writes the files of the API reference: the script, taken from the package that embeds it, in compressed forms; our own
 * script and style; and the guides.
 */
export async function writeReference(out: string): Promise<readonly string[]> {
  const folder = `${out}/reference`;
  await mkdir(folder, { recursive: true });
  const [modules] = await Promise.all([
    writeBundle(
      { input: { start: 'src/web/reference/start.ts' }, platform: 'browser' },
      { dir: folder, minify: true, format: 'iife' },
    ),
    writeViewer(folder),
    copyFile(`${ROOT}src/web/reference/reference.css`, `${folder}/reference.css`),
    writeGuide(folder),
  ]);
  return [...modules, `${ROOT}node_modules/@scalar/fastify-api-reference/dist/index.js`];
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

async function writeGuide(folder: string): Promise<void> {
  const { markdown, html } = await readGuide();
  await Promise.all([writeFile(`${folder}/guide.md`, markdown), writeFile(`${folder}/guide.html`, html)]);
}

/** The pages of docs that explain the API, in the order of the guide. */
const GUIDES = ['signing', 'roles', 'conventions', 'webhooks', 'recordings', 'transcription'] as const;

type Guide = {
  /** All guides in one text, each below a second-level heading. */
  readonly markdown: string;
  readonly html: string;
};

/** Joins the pages. Links between them become links to their headings; the text of any other link stays. */
async function readGuide(): Promise<Guide> {
  const texts = await Promise.all(
    GUIDES.map((name) => readFile(`${ROOT}docs/${name}.md`, 'utf8').then(lowerHeadings)),
  );
  const anchors = new Map(
    GUIDES.map((name, index) => [`${name}.md`, `#${toAnchor(readTitle(texts[index]))}`]),
  );
  const markdown = texts
    .join('\n')
    .replaceAll(
      /\[([^\]]+)\]\((?!https?:)([^)#]*)(#[^)]+)?\)/g,
      (_link, text: string, file: string, anchor?: string) => {
        const target = file === '' ? anchor : anchors.has(file) ? (anchor ?? anchors.get(file)) : undefined;
        return target === undefined ? text : `[${text}](${target})`;
      },
    );
  return { markdown, html: await toHtml(markdown) };
}

function lowerHeadings(text: string): string {
  return text.replaceAll(/^(#+) /gm, '#$1 ');
}

function readTitle(text = ''): string {
  return /^## (.+)$/m.exec(text)?.[1] ?? '';
}

function toAnchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s+/g, '-');
}

async function toHtml(markdown: string): Promise<string> {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${toAnchor(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
    },
  });
  const html = await marked.parse(markdown);
  // A table may be wider than a phone's screen. It scrolls separately, and the keyboard can reach it.
  return html
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">');
}
