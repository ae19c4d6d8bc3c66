import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

const PAGES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...['docs', 'docs/proof'].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  ),
].filter((path) => path.endsWith('.md'));

/** A path of a file in this repository, in a code span. */
const NAMED_PATH = /`((?:src|test|scripts|docs|bin|proof|examples|data)\/[\w./-]+)`/g;
/** The end of the path of a source, such as `reconciler.ts` after the page has named its folder. */
const NAMED_SOURCE = /`([\w./-]+\.tsx?)`/g;
const SOURCES = ['src', 'test', 'scripts', 'proof', 'examples'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => `/${folder}/${path}`),
);
const LINK = /\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g;

/** Files that are not in the package: the pages, the examples, the deployment files. */
const NOT_PACKED =
  /(?<![\w@/.-])(?:docs|examples|deploy|data\/vectors|clients|scripts)\/[\w./-]+\.(?:md|ya?ml|json|js|ts|py|go|service)\b|\bcompose\.yaml\b/;

const COMMENT = /\/\*[\s\S]*?\*\/|^ *\/\/.*$/gm;

/** Files that the build or a run makes. A fresh checkout does not have them. */
const MADE_LATER = /^(dist|\.rtc)\//;

describe('the paths in the documentation', () => {
  it('are found', () => {
    expect(PAGES).toContain('docs/architecture.md');
    expect(PAGES).toContain('CONTRIBUTING.md');
  });

  it.each(PAGES)('of %s name only existing files', (page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const named = [...text.matchAll(NAMED_PATH)].map(([, path = '']) => path);
    const linked = [...text.matchAll(LINK)].map(([, path = '']) => join(dirname(page), path));
    const missing = [...named, ...linked].filter(
      (path) => !MADE_LATER.test(path) && !existsSync(join(ROOT, path)),
    );
    expect(missing).toEqual([]);
  });

  it.each(PAGES)('of %s name only existing sources by the end of their path', (page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const named = [...text.matchAll(NAMED_SOURCE)].map(([, path = '']) => `/${path}`);
    expect(named.filter((path) => !SOURCES.some((source) => source.endsWith(path)))).toEqual([]);
  });
});

describe('the comments of the product', () => {
  it('name only existing sources', () => {
    const naming = SOURCES.filter((path) => path.startsWith('/src/') && /\.tsx?$/.test(path)).flatMap(
      (path) =>
        (readFileSync(join(ROOT, path), 'utf8').match(COMMENT) ?? [])
          .flatMap((comment) => comment.match(/[\w./-]+\.tsx?\b/g) ?? [])
          .map((named) => ({ path, named: `/${named}` })),
    );
    expect(naming.length).toBeGreaterThan(10);
    expect(naming.filter(({ named }) => !SOURCES.some((source) => source.endsWith(named)))).toEqual([]);
  });
});

describe('the messages of the product', () => {
  it('name no file of the repository, which the package does not contain', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
    const naming = sources
      .filter((path) => /\.tsx?$/.test(path))
      .filter((path) => {
        const code = readFileSync(join(ROOT, 'src', path), 'utf8').replace(COMMENT, '');
        return NOT_PACKED.test(code);
      });
    expect(naming).toEqual([]);
  });
});
