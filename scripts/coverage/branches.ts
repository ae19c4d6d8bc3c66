import { parseSync, Visitor } from 'oxc-parser';

/** A part of a file that runs or not, depending on a condition. */
export type Branch = {
  /** Offset of its first character. */
  readonly start: number;
  readonly line: number;
};

type Span = { readonly start: number };

/**
 * Returns the branches of a TypeScript file, in their order: bodies of functions and loops, both sides of a condition, right
 * sides of `&&`, `||` and `??`, cases, and `catch`. An `else` that is not written is not one.
 */
export function findBranches(file: string, text: string): readonly Branch[] {
  const starts = new Set<number>();
  const add = (span: Span | null): void => {
    if (span !== null) starts.add(span.start);
  };
  const body = (node: { readonly body: Span | null }): void => add(node.body);
  const sides = (node: { readonly consequent: Span; readonly alternate: Span | null }): void => {
    add(node.consequent);
    add(node.alternate);
  };
  new Visitor({
    FunctionDeclaration: body,
    FunctionExpression: body,
    ArrowFunctionExpression: body,
    ForStatement: body,
    ForOfStatement: body,
    ForInStatement: body,
    WhileStatement: body,
    CatchClause: body,
    IfStatement: sides,
    ConditionalExpression: sides,
    LogicalExpression: ({ right }) => add(right),
    SwitchCase: ({ consequent }) => add(consequent[0] ?? null),
  }).visit(parseSync(file, text).program);
  const lineEnds = [...text.matchAll(/\n/g)].map(({ index }) => index);
  let line = 1;
  return [...starts]
    .toSorted((a, b) => a - b)
    .map((start) => {
      while ((lineEnds[line - 1] ?? Number.POSITIVE_INFINITY) < start) line += 1;
      return { start, line };
    });
}
