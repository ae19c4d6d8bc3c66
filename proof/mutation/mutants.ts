import { parseSync, Visitor } from 'oxc-parser';

/** A small change of a file. The tests should fail because of it. */
export type Mutant = {
  readonly file: string;
  readonly line: number;
  /** Offsets of the replaced text, and the replacement. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
};

type Span = { readonly start: number; readonly end: number };

const OPERATORS: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
};

/**
 * Returns every mutant of a file: changed operators, conditions and literals, and removed statements. Types and imports are
 * not changed.
 */
export function findMutants(file: string, text: string): readonly Mutant[] {
  const found: Omit<Mutant, 'file' | 'line'>[] = [];
  const left: Span[] = [];
  const add = ({ start, end }: Span, replacement: string): void =>
    void found.push({ start, end, replacement });
  const leave = ({ start, end }: Span): void => void left.push({ start, end });
  const operator = (node: { readonly operator: string; readonly left: Span; readonly right: Span }): void => {
    const other = OPERATORS[node.operator];
    if (other === undefined) return;
    const start = text.indexOf(node.operator, node.left.end);
    if (start >= 0 && start < node.right.start) add({ start, end: start + node.operator.length }, other);
  };
  const condition = ({ test }: { readonly test: Span }): void => {
    add(test, 'true');
    add(test, 'false');
  };
  new Visitor({
    BinaryExpression: operator,
    LogicalExpression: operator,
    IfStatement: condition,
    ConditionalExpression: condition,
    UnaryExpression(node) {
      if (node.operator === '!') add({ start: node.start, end: node.argument.start }, '');
    },
    ExpressionStatement(node) {
      if (node.expression.type === 'CallExpression') add(node, ';');
    },
    Literal(node) {
      if (typeof node.value === 'boolean') add(node, `${!node.value}`);
      if (typeof node.value === 'number') add(node, `${node.value + 1}`);
      if (typeof node.value === 'string' && node.value !== '') add(node, "''");
    },
    ImportDeclaration: leave,
    ExportAllDeclaration: leave,
    TSTypeAnnotation: leave,
    TSTypeAliasDeclaration: leave,
    TSInterfaceDeclaration: leave,
    TSTypeParameterInstantiation: leave,
    TSAsExpression: ({ typeAnnotation }) => leave(typeAnnotation),
  }).visit(parseSync(file, text).program);
  return found
    .filter(({ start, end }) => !left.some((span) => span.start <= start && end <= span.end))
    .map((mutant) => ({ ...mutant, file, line: text.slice(0, mutant.start).split('\n').length }));
}

export function apply(text: string, { start, end, replacement }: Mutant): string {
  return `${text.slice(0, start)}${replacement}${text.slice(end)}`;
}

/** Describes a mutant for people: its place, the text before, and the text after. */
export function describeMutant(text: string, mutant: Mutant): string {
  return `${mutant.file}:${mutant.line} ${findChange(text, mutant)}`;
}

export function findChange(text: string, { start, end, replacement }: Mutant): string {
  const before = text.slice(start, end).replace(/\s+/g, ' ').slice(0, 60);
  return `${before} → ${replacement === '' ? 'nothing' : replacement}`;
}
