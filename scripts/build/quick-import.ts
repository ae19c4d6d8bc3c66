import { pathToFileURL } from 'node:url';
import {
  type ArrowFunctionExpression,
  type Expression,
  type Node,
  parseSync,
  Visitor,
  type VisitorObject,
} from 'oxc-parser';
import type { Plugin } from 'rolldown';
import { PARTS } from '../pack-fiscal-data.ts';

/*
 * Two properties of V8 determine how long it takes to compile a module:
 *
 * - It skips the body of a function until the first call, except for arrow functions in modules, which it parses
 * completely.
 * - It copies a string literal at once, but a template character by character. The minifier writes all strings as
 * templates, and a table of 260 kB takes three times as long.
 */

/**
 * Replaces the packed tables of the fiscal library by what they unpack to. They are packed because pages load them from
 * afar; a command reads them from its disk, and should not wait until they are unpacked.
 */
export function unpackedTables(): Plugin {
  return {
    name: 'unpacked-tables',
    load: {
      filter: { id: /\/src\/fiscal\/data\/[\w-]+\.ts$/ },
      async handler(id) {
        const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(id).href);
        return { code: Object.entries(exported).map(unpackedExport).join('\n'), moduleType: 'js' };
      },
    },
  };
}

function unpackedExport([name, value]: readonly [string, unknown]): string {
  if (typeof value !== 'function') return `export const ${name} = ${JSON.stringify(value)};`;
  const result: unknown = value();
  if (typeof result !== 'function') return `export function ${name}() { return ${JSON.stringify(result)}; }`;
  if (!name.endsWith('Blocks')) throw new Error(`${name} returns a function, and is no reader of blocks`);
  // A reader of the blocks of a part. A function of its own for each keeps the others uncompiled.
  const blocks = PARTS.map((part) => `function() { return ${JSON.stringify(result(part))}; }`);
  return `export function ${name}() { const blocks = [${blocks}]; return (part) => blocks[part](); }`;
}

type Span = { readonly start: number; readonly end: number };
type Edit = Span & { readonly text: string };

/** Replaces the arrow functions at a module's top level by function expressions. The modules must not use `this` there. */
export function skippableFunctions(): Plugin {
  return { name: 'skippable-functions', renderChunk: (code) => withSkippableFunctions(code) };
}

/**
 * Annotates the calls at the top level of modules as pure, so that a bundler can leave out what is not used, although all
 * modules are in one file. The modules must have no side effects when they are imported.
 */
export function pureDefinitions(): Plugin {
  return { name: 'pure-definitions', renderChunk: (code) => withPureDefinitions(code) };
}

/** Replaces templates without expressions by string literals, after the minifier. */
export function plainStrings(): Plugin {
  return {
    name: 'plain-strings',
    generateBundle(_options, bundle) {
      for (const part of Object.values(bundle)) {
        if (part.type === 'chunk') part.code = withPlainStrings(part.code);
      }
    },
  };
}

/** Returns the code with function expressions in place of the arrow functions that top-level variables and objects hold. */
export function withSkippableFunctions(code: string): string {
  const edits: Edit[] = [];
  const replaceArrow = (value: Expression | Node | null): void => {
    if (value?.type === 'ArrowFunctionExpression') edits.push(...asFunction(code, value));
  };
  visitTopLevel(code, {
    VariableDeclarator: ({ init }) => replaceArrow(init),
    Property: ({ value }) => replaceArrow(value),
  });
  return applyEdits(code, edits);
}

export function withPureDefinitions(code: string): string {
  const edits: Edit[] = [];
  const mark = ({ start, end }: Span): void => {
    edits.push({ start, end: start, text: '(/* @__PURE__ */ ' }, { start: end, end, text: ')' });
  };
  visitTopLevel(code, { CallExpression: mark, NewExpression: mark });
  return applyEdits(code, edits);
}

type Visits = Pick<VisitorObject, 'VariableDeclarator' | 'Property' | 'CallExpression' | 'NewExpression'>;

/** Visits the nodes outside of functions. */
function visitTopLevel(
  code: string,
  { VariableDeclarator, Property, CallExpression, NewExpression }: Visits,
): void {
  let depth = 0;
  const enter = (): void => {
    depth += 1;
  };
  const leave = (): void => {
    depth -= 1;
  };
  const atTop =
    <Node>(visit?: (node: Node) => void) =>
    (node: Node): void => {
      if (depth === 0) visit?.(node);
    };
  new Visitor({
    VariableDeclarator: atTop(VariableDeclarator),
    Property: atTop(Property),
    CallExpression: atTop(CallExpression),
    NewExpression: atTop(NewExpression),
    ArrowFunctionExpression: enter,
    'ArrowFunctionExpression:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
  }).visit(parseSync('chunk.js', code).program);
}

/** Returns the edits of an arrow function: its head, and, if its body is an expression, braces and `return` around it. */
function asFunction(
  code: string,
  { start, end, expression, async, body }: ArrowFunctionExpression,
): readonly Edit[] {
  const head = code.slice(start, body.start);
  const arrow = head.lastIndexOf('=>');
  const written = head
    .slice(0, arrow)
    .replace(/^async\b/, '')
    .trim();
  const parameters = written.startsWith('(') ? written : `(${written})`;
  const keyword = async ? 'async function' : 'function';
  // An arrow's expression may be in parentheses. The closing one is behind it.
  const opening = `${keyword}${parameters} ${expression ? `{ return ${head.slice(arrow + 2).trim()}` : ''}`;
  const opened = { start, end: body.start, text: opening };
  return expression ? [opened, { start: end, end, text: '; }' }] : [opened];
}

export function withPlainStrings(code: string): string {
  const edits: Edit[] = [];
  const tagged = new Set<number>();
  new Visitor({
    TaggedTemplateExpression: ({ quasi }) => {
      tagged.add(quasi.start);
    },
    TemplateLiteral: ({ start, end, expressions, quasis: [quasi] }) => {
      const text = quasi?.value.cooked;
      if (expressions.length > 0 || tagged.has(start) || typeof text !== 'string') return;
      edits.push({ start, end, text: literal(text) });
    },
  }).visit(parseSync('chunk.js', code).program);
  return applyEdits(code, edits);
}

/** Writes only ASCII. With a single character beyond it, engines keep the whole file at two bytes a character. */
function literal(text: string): string {
  const escaped = (character: string): string =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(text).replace(/[^ -~]/g, escaped);
}

function applyEdits(code: string, edits: readonly Edit[]): string {
  let [text, at] = ['', 0];
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    text += code.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return text + code.slice(at);
}
