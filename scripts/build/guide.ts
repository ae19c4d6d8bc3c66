import { readFile } from 'node:fs/promises';
import { Marked } from 'marked';
import { ROOT } from './output.ts';

/** The guides, in the order of the page. */
const GUIDES = [
  'signing',
  'roles',
  'webhooks',
  'recordings',
  'transcription',
  'paging',
  'retries',
  'limits',
  'errors',
] as const;

export type Guide = {
  /** All guides in one text, each below a second-level heading. */
  readonly markdown: string;
  readonly html: string;
};

/** Joins the pages of docs/guide. Links between them become links to their headings. */
export async function readGuide(): Promise<Guide> {
  const texts = await Promise.all(
    GUIDES.map((name) => readFile(`${ROOT}docs/guide/${name}.md`, 'utf8').then(lowerHeadings)),
  );
  const anchors = new Map(GUIDES.map((name, index) => [`${name}.md`, `#${anchorOf(titleOf(texts[index]))}`]));
  const markdown = texts
    .join('\n')
    .replaceAll(/\]\((\w+\.md)\)/g, (link, file: string) => `](${anchors.get(file) ?? link})`);
  return { markdown, html: await toHtml(markdown) };
}

function lowerHeadings(text: string): string {
  return text.replaceAll(/^(#+) /gm, '#$1 ');
}

function titleOf(text = ''): string {
  return /^## (.+)$/m.exec(text)?.[1] ?? '';
}

function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s+/g, '-');
}

async function toHtml(markdown: string): Promise<string> {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
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
