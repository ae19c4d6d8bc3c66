import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../src/contract/errors.ts';
import { PAGES, ROOT } from './pages.ts';
import { EXTERNAL_LINKS } from './support/external-links.ts';

/* Links of the pages lead to files and their anchors to headings. Error codes that a page names exist. */

/** Returns the anchor that GitHub gives to a heading. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
    .replaceAll(/\s/g, '-');
}

function listAnchors(file: string): readonly string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map((match) => toAnchor(match[1] ?? ''));
}

function findBrokenLinks(page: string): readonly string[] {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/```[\s\S]*?```/g, '');
  return [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].flatMap((match) => {
    const [path = '', anchor] = (match[1] ?? '').split('#');
    const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
    if (!existsSync(file)) return [`${match[1]}: no such file`];
    if (anchor === undefined || !file.endsWith('.md') || listAnchors(file).includes(anchor)) return [];
    return [`${match[1]}: no such heading in ${relative(ROOT, file)}`];
  });
}

function listExternalLinks(page: string): readonly string[] {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/```[\s\S]*?```/g, '');
  return [...text.matchAll(/\]\((https?:[^)\s]+)\)/g)].map(([, url = '']) => url);
}

describe('the pages of the documentation', () => {
  it.each(PAGES)('%s has only links to existing targets', (page) => {
    expect(findBrokenLinks(page)).toEqual([]);
  });

  it('link only to reviewed addresses on the web', () => {
    const linked = PAGES.flatMap(listExternalLinks);
    expect(linked.filter((url) => EXTERNAL_LINKS[url] === undefined)).toEqual([]);
    expect(Object.keys(EXTERNAL_LINKS).filter((url) => !linked.includes(url))).toEqual([]);
  });

  it('name only existing error codes', () => {
    const text = readFileSync(join(ROOT, 'docs', 'troubleshooting.md'), 'utf8');
    const codes = [...text.matchAll(/(?:40|50)\d `([a-z-]+)`/g)].map((match) => match[1]);
    expect(codes.length).toBeGreaterThan(4);
    for (const code of codes) expect(ERROR_CODES).toContain(code);
  });

  it('are all in the index of docs', () => {
    const index = ['README.md', 'proof.md']
      .map((page) => readFileSync(join(ROOT, 'docs', page), 'utf8'))
      .join();
    const missing = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md').filter(
      (page) => !index.includes(`(${relative('docs', page)})`),
    );
    expect(missing).toEqual([]);
  });
});
