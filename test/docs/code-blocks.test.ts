import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { isUnderstood, rtcCalls } from '../cli/support/rtc-calls.ts';
import { PAGES, ROOT } from './pages.ts';

/* The code blocks of the pages: commands that exist, JSON and YAML that parse, TypeScript that compiles. */

type Block = {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly code: string;
};

function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    language: match[1] ?? '',
    code: match[2] ?? '',
  }));
}

const blocks = PAGES.flatMap(blocksOf);

/** Named by page and line, so that a failure says where to look. */
function inLanguage(...languages: readonly string[]): readonly (readonly [string, Block])[] {
  return blocks
    .filter(({ language }) => languages.includes(language))
    .map((block) => [`${block.page}:${block.line}`, block]);
}

const NPM_SCRIPTS = Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts);

describe('the commands of the pages', () => {
  it.each(inLanguage('sh'))('%s has commands of rtc that exist', async (_where, { code }) => {
    const lines = code.replaceAll(/\\\n\s*/g, ' ').split('\n');
    const calls = lines.flatMap((line) => rtcCalls(line.replace(/(^|\s)#.*$/, '')));
    const unknown: string[] = [];
    for (const words of calls) if (!(await isUnderstood(words))) unknown.push(words.join(' '));
    expect(unknown).toEqual([]);
  });

  it.each(inLanguage('sh'))('%s has scripts of npm that exist', (_where, { code }) => {
    const scripts = [...code.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script);
    expect(scripts.filter((script) => !NPM_SCRIPTS.includes(script ?? ''))).toEqual([]);
  });

  it('are found', () => {
    const calls = inLanguage('sh').flatMap(([, { code }]) => code.split('\n').flatMap(rtcCalls));
    expect(calls.length).toBeGreaterThan(80);
  });
});

describe('the blocks of the pages', () => {
  it.each(PAGES)('%s names the language of each', (page) => {
    const fences = readFileSync(join(ROOT, page), 'utf8').match(/^```.*$/gm) ?? [];
    expect(fences.filter((fence, index) => index % 2 === 0 && fence === '```')).toEqual([]);
  });
});

describe('the data of the pages', () => {
  it.each(inLanguage('json'))('%s is JSON', (_where, { code }) => {
    expect(() => JSON.parse(code)).not.toThrow();
  });

  it.each(inLanguage('yaml'))('%s is YAML', (_where, { code }) => {
    expect(parseYaml(code)).toBeTypeOf('object');
  });
});

/** The values that a block takes from the program around it. */
const AROUND = `
import type { RoomServiceClient } from 'livekit-server-sdk';
import type { RtcClient } from 'rtc-service/client';
declare global {
  const apiKey: string, apiSecret: string, url: string, token: string, room: string, person: string;
  const method: string, path: string, body: string;
  const client: RtcClient, rooms: RoomServiceClient, order: { readonly id: string };
  const load: () => Promise<string | undefined>, save: (cursor: string) => Promise<void>;
  const handle: (event: unknown) => Promise<void>, signal: AbortSignal;
}
`;

describe('the programs of the pages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rtc-blocks-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('compile', () => {
    const programs = inLanguage('ts', 'js');
    expect(programs.length).toBeGreaterThan(8);
    for (const [index, [, { page, code }]] of programs.entries()) {
      // A page of docs speaks of a test's neighbours as its test would import them.
      const neighbours = join(ROOT, 'test', dirname(page) === '.' ? '' : 'docs');
      const absolute = code.replaceAll(
        /from '(\.\.?\/[^']+)'/g,
        (_all, path: string) => `from '${join(neighbours, path)}'`,
      );
      writeFileSync(join(folder, `block-${index}.ts`), `${absolute}\nexport {};\n`);
    }
    writeFileSync(join(folder, 'around.d.ts'), AROUND);
    const modules = join(ROOT, 'node_modules');
    const paths = {
      'rtc-service/*': [join(ROOT, 'src/*/index.ts')],
      '*': [join(modules, '@types', '*'), join(modules, '*')],
    };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: join(ROOT, 'tsconfig.json'),
        compilerOptions: {
          lib: ['ES2024', 'ESNext.Iterator', 'ESNext.Collection', 'ESNext.Disposable', 'DOM', 'DOM.Iterable'],
          typeRoots: [join(modules, '@types')],
          module: 'ESNext',
          moduleResolution: 'bundler',
          rewriteRelativeImportExtensions: false,
          paths,
        },
        include: ['*.ts'],
      }),
    );
    expect(
      compile(
        folder,
        programs.map(([where]) => where),
      ),
    ).toBe('');
  });
});

/** What the compiler says against the blocks, each named by its page and line. */
function compile(folder: string, names: readonly string[]): string {
  try {
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['--noEmit', '--pretty', 'false', '-p', folder], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    return '';
  } catch (error) {
    const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error);
    return output.replaceAll(/\S*block-(\d+)\.ts/g, (_all, index) => names[Number(index)] ?? '');
  }
}
