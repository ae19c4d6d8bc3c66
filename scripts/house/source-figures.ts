import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { importCycles, readSourceModules, type SourceModule } from '../../test/support/source-modules.ts';
import type { Measured } from './limits.ts';

/* Figures that are read from the sources, without running them. */

export const ROOT = join(import.meta.dirname, '..', '..');

export type Source = {
  /** Path relative to the root of the repository. */
  readonly path: string;
  readonly text: string;
};

const LONG = 50;

export function measureSources(): Measured {
  const sources = readSources('src', /\.tsx?$/);
  const styled = [...sources, ...readSources('src', /\.css$/)];
  return {
    files: styled.length,
    lines: countLines(styled),
    ...measureModules(readSourceModules(ROOT, ['bin', 'src', 'proof', 'scripts', 'test'])),
    ...measureFunctions(sources),
    ...measureTests(readSources('test', /\.ts$/)),
    proofLines: countLines(
      ['proof', 'scripts'].flatMap((folder) => readSources(folder, /\.(ts|cjs|js|py|sh|go)$/)),
    ),
  };
}

/** Reads the files below a folder, without the generated data of the fiscal library. */
function readSources(folder: string, ending: RegExp): readonly Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    .filter((path) => ending.test(path) && !path.startsWith('src/fiscal/data/'))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

function countLines(sources: readonly Source[]): number {
  return sources.reduce((sum, { text }) => sum + text.trimEnd().split('\n').length, 0);
}

/** Returns the figures about imports. */
export function measureModules(modules: readonly SourceModule[]): Measured {
  const src = modules.filter(({ path }) => path.startsWith('src/') && !path.startsWith('src/fiscal/data/'));
  const importers = new Map(src.map(({ path }) => [path, 0]));
  for (const path of src.flatMap(({ imports }) => imports)) {
    const count = importers.get(path);
    if (count !== undefined) importers.set(path, count + 1);
  }
  const single = [...importers.values()].filter((count) => count === 1).length;
  return {
    oneImporter: round((100 * single) / Math.max(1, src.length), 1),
    backArrows: countBackArrows(src),
    circles: importCycles(modules).length,
  };
}

/**
 * Counts the pairs of folders of src/server that import each other. The queries of a capability stand above the schema, whose
 * rows are the records of the capabilities' stores.
 */
function countBackArrows(modules: readonly SourceModule[]): number {
  const arrows = new Set(
    modules.flatMap(({ path, imports }) =>
      imports.map((imported) => `${toLayer(path)} ${toLayer(imported)}`),
    ),
  );
  const back = [...arrows].filter((arrow) => {
    const [from = '', to = ''] = arrow.split(' ');
    return from < to && from !== '' && `${from}.sql` !== to && arrows.has(`${to} ${from}`);
  });
  return back.length;
}

function toLayer(path: string): string {
  const folder = /^src\/server\/([^/]+)\//.exec(path)?.[1] ?? '';
  return path.endsWith('.sql.ts') && folder !== 'platform' ? `${folder}.sql` : folder;
}

type Node = { readonly type: string; readonly start: number; readonly end: number };
type Named = { readonly name?: unknown; readonly value?: unknown };
/** The fields of a syntax node that this file reads. The parser has a separate type for each kind of node. */
type TypeNode = { readonly type: string; readonly types?: readonly TypeNode[] };
type Parameter = {
  readonly typeAnnotation?: { readonly typeAnnotation: TypeNode } | null;
  readonly left?: Parameter;
};
type FunctionNode = Node & { readonly params: readonly unknown[] };

/** Returns the figures about functions and types. Pages are read for the names and lengths of their functions only. */
export function measureFunctions(sources: readonly Source[]): Measured {
  const counts = { ofNames: 0, longFunctions: 0, longestFunction: 0, longLists: 0, booleans: 0 };
  let assertions = 0;
  for (const { path, text } of sources) {
    const isPage = path.endsWith('.tsx');
    const readName = (name: Named | null | undefined): void => {
      if (/[a-z]Of$/.test(String(name?.name ?? name?.value ?? ''))) counts.ofNames += 1;
    };
    const readValue = (name: Named, value: Node | null): void => {
      if (value?.type === 'ArrowFunctionExpression' || value?.type === 'FunctionExpression') readName(name);
    };
    const visit = ({ params, start, end }: FunctionNode): void => {
      const lines = text.slice(start, end).split('\n').length;
      if (lines > LONG) counts.longFunctions += 1;
      counts.longestFunction = Math.max(counts.longestFunction, lines);
      if (isPage) return;
      if (params.length > 3) counts.longLists += 1;
      if (params.some((param) => isBoolean(param as Parameter))) counts.booleans += 1;
    };
    const assert = (): void => {
      if (!isPage) assertions += 1;
    };
    new Visitor({
      FunctionDeclaration(node) {
        readName(node.id);
        visit(node);
      },
      FunctionExpression: visit,
      ArrowFunctionExpression: visit,
      VariableDeclarator: ({ id, init }) => id.type === 'Identifier' && readValue(id, init),
      Property: ({ key, value }) => readValue(key as Named, value),
      PropertyDefinition: ({ key, value }) => readValue(key as Named, value),
      MethodDefinition: ({ key }) => readName(key as Named),
      TSNonNullExpression: assert,
      TSTypeAssertion: assert,
      TSAsExpression({ typeAnnotation }) {
        if (text.slice(typeAnnotation.start, typeAnnotation.end) !== 'const') assert();
      },
    }).visit(parseSync(path, text).program);
  }
  const lines = countLines(sources.filter(({ path }) => !path.endsWith('.tsx')));
  return { ...counts, assertions: round((1000 * assertions) / lines, 2) };
}

/** If a parameter has a default, its type is on the left side. */
function isBoolean(parameter: Parameter): boolean {
  const type = (parameter.typeAnnotation ?? parameter.left?.typeAnnotation)?.typeAnnotation;
  return (
    type?.type === 'TSBooleanKeyword' || type?.types?.some((one) => one.type === 'TSBooleanKeyword') === true
  );
}

const CLOCK = /\b(?:performance|Date)\.now\(\)|\bprocess\.hrtime\b/;
/** Matchers that set an upper limit for a value. */
const UPPER_BOUND = /^toBeLessThan(?:OrEqual)?$/;

/** Counts assertions about an upper limit of a value that is read from the clock, and settings that repeat a failed test. */
export function measureTests(tests: readonly Source[]): Measured {
  let [timeBounds, retries] = [0, 0];
  for (const { path, text } of tests) {
    const cut = ({ start, end }: Node): string => text.slice(start, end);
    /** The names of differences between two readings of the clock in this file. */
    const times: string[] = [];
    const bounded: string[] = [];
    new Visitor({
      VariableDeclarator({ id, init }) {
        const value = init === null ? '' : cut(init);
        const isDifference = CLOCK.test(value) && / - /.test(value) && !value.includes('=>');
        if (id.type === 'Identifier' && isDifference) times.push(id.name);
      },
      CallExpression({ callee }) {
        if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
        if (UPPER_BOUND.test(callee.property.name)) bounded.push(cut(callee.object));
      },
      Property({ key }) {
        if (key.type === 'Identifier' && key.name === 'retry') retries += 1;
      },
    }).visit(parseSync(path, text).program);
    const isTime = (value: string): boolean =>
      CLOCK.test(value) || times.some((name) => new RegExp(`\\b${name}\\b`).test(value));
    timeBounds += bounded.filter(isTime).length;
  }
  return { timeBounds, retries };
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
