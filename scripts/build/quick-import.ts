import {
  type ArrowFunctionExpression,
  type Expression,
  type Node,
  parseSync,
  Visitor,
  type VisitorObject,
} from 'oxc-parser';
import type { Plugin } from 'rolldown';

/*
 * What V8 takes to compile a module, by its own habits:
 *
 * - It skips the body of a function until the first call; but in modules it reads arrow functions whole.
 * - It copies a string literal at once, but a template character by character, and the minifier makes templates of all
 *   strings: a table of 260 kB takes thrice as long.
 */

type Span = { readonly start: number; readonly end: number };
type Edit = Span & { readonly text: string };

/** Function expressions for the arrow functions of a module's top level; the modules must not use `this` there. */
export function skippableFunctions(): Plugin {
  return { name: 'skippable-functions', renderChunk: (code) => withSkippableFunctions(code) };
}

/**
 * For modules of which an import does nothing but define things: marks the calls of their top levels as pure, so that a
 * bundler leaves out what is not used, although all modules are one file.
 */
export function pureDefinitions(): Plugin {
  return { name: 'pure-definitions', renderChunk: (code) => withPureDefinitions(code) };
}

/** String literals for templates without expressions, after the minifier. */
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

/** The code with the arrow functions that top-level variables and objects hold as function expressions. */
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

/** Visits what is in no function. */
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

/** The head of the function, and, where the body is an expression, what stands around that. */
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
  // Between the arrow and its expression there may be a parenthesis, which is closed behind it.
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

/** In ASCII alone: one character beyond it, and engines keep the whole file at two bytes each. */
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
