import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TSchema } from 'typebox';
import Schema from 'typebox/schema';
import { afterAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { EventSchema } from '../../src/contract/event-payloads.ts';
import { PlanPutSchema, RoomClosingSchema } from '../../src/contract/plans.ts';
import { ProblemSchema } from '../../src/contract/problem.ts';
import { RecordingSchema } from '../../src/contract/recordings.ts';
import { SegmentSchema } from '../../src/contract/segments.ts';
import { SpeakerUpdateSchema } from '../../src/contract/transcription.ts';
import { ForgottenWordsSchema, TranscriptHitListSchema } from '../../src/contract/words.ts';
import { isUnderstood, rtcCalls } from '../cli/support/rtc-calls.ts';
import { PAGES, ROOT } from './pages.ts';
import { blocksIn, shellLines } from './support/blocks.ts';
import { isMeant, isRun, LINES_NOT_RUN, PAGES_NOT_RUN } from './support/not-run.ts';

/* Checks the code blocks of the pages: commands exist, JSON and YAML parse, TypeScript compiles. */

/** Schemas of the JSON blocks, in the order of the pages. */
const SHAPES: Readonly<Record<string, readonly TSchema[]>> = {
  'docs/conventions.md': [ProblemSchema],
  'docs/plans.md': [PlanPutSchema, PlanPutSchema, RoomClosingSchema],
  'docs/recordings.md': [RecordingSchema],
  'docs/transcription.md': [
    SegmentSchema,
    SpeakerUpdateSchema,
    TranscriptHitListSchema,
    ForgottenWordsSchema,
  ],
  'docs/webhooks.md': [EventSchema],
};

const NPM_SCRIPTS = Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts);

describe('the commands of the documentation', () => {
  it.each(blocksIn('sh'))('%s has only existing commands of rtc', async (_where, { code }) => {
    const lines = code.replaceAll(/\\\n\s*/g, ' ').split('\n');
    const calls = lines.flatMap((line) => rtcCalls(line.replace(/(^|\s)#.*$/, '').replace(/ &\s*$/, '')));
    const unknown: string[] = [];
    for (const words of calls) if (!(await isUnderstood(words))) unknown.push(words.join(' '));
    expect(unknown).toEqual([]);
  });

  it.each(blocksIn('sh'))('%s has only existing scripts of npm', (_where, { code }) => {
    const scripts = [...code.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script);
    expect(scripts.filter((script) => !NPM_SCRIPTS.includes(script ?? ''))).toEqual([]);
  });

  it('are run by shell-blocks.extended.ts, or excluded for a valid reason', () => {
    const blocks = blocksIn('sh').map(([, block]) => block);
    const lines = blocks.filter(({ page }) => PAGES_NOT_RUN[page] === undefined).flatMap(shellLines);
    const stale = [
      ...Object.keys(PAGES_NOT_RUN).filter((name) => blocks.every(({ page }) => page !== name)),
      ...Object.keys(LINES_NOT_RUN).filter((begin) => !lines.some((line) => isMeant(begin, line))),
    ];
    expect(stale).toEqual([]);
    const reasons = [...Object.values(PAGES_NOT_RUN), ...Object.values(LINES_NOT_RUN)];
    const tests = reasons.flatMap((reason) => reason.match(/\btest\/[\w./-]+/g) ?? []);
    expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(lines.filter(isRun).length).toBeGreaterThan(70);
  });

  it('are found', () => {
    const calls = blocksIn('sh').flatMap(([, { code }]) => code.split('\n').flatMap(rtcCalls));
    expect(calls.length).toBeGreaterThan(80);
  });
});

describe('the code blocks of the documentation', () => {
  it.each(PAGES)('%s names the language of each', (page) => {
    const fences = readFileSync(join(ROOT, page), 'utf8').match(/^```.*$/gm) ?? [];
    expect(fences.filter((fence, index) => index % 2 === 0 && fence === '```')).toEqual([]);
  });
});

describe('the data of the documentation', () => {
  it('is JSON of the shape that its page describes', () => {
    const found = blocksIn('json').map(([where, { page, code }]) => ({
      where,
      page,
      value: JSON.parse(code),
    }));
    const schemas = Object.entries(SHAPES).flatMap(([page, shapes]) =>
      shapes.map((shape) => ({ page, shape })),
    );
    expect(found.map(({ page }) => page)).toEqual(schemas.map(({ page }) => page));
    for (const [index, { where, value }] of found.entries()) {
      expect([where, ...Schema.Errors(schemas[index]?.shape ?? {}, value)]).toEqual([where, true, []]);
    }
  });

  it.each(blocksIn('yaml'))('%s is YAML', (_where, { code }) => {
    expect(parseYaml(code)).toBeTypeOf('object');
  });
});

/** The variables that a block takes from the code around it. */
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

describe('the programs of the documentation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rtc-blocks-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('compile', () => {
    const programs = blocksIn('ts', 'js');
    expect(programs.length).toBeGreaterThan(8);
    for (const [index, [, { page, code }]] of programs.entries()) {
      // A page may show a test, which imports the files beside it.
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
      '@rtc-service/fiscal/*': [join(ROOT, 'src/fiscal/*.ts')],
      '@rtc-service/*': [join(ROOT, 'src/*/index.ts')],
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

/** Returns the compiler's errors about the blocks. Each is named by its page and line. */
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
