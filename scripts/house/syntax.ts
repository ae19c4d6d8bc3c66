import { Visitor } from 'oxc-parser';
import type { Figure } from './print-figures.ts';
import { round, type Source, sumLines } from './sources.ts';

type Counts = { assertions: number; longLists: number; booleans: number };

/** The fields of a syntax node that this file reads. The parser has a separate type for each kind of node. */
type TypeNode = { readonly type: string; readonly types?: readonly TypeNode[] };
type Parameter = {
  readonly typeAnnotation?: { readonly typeAnnotation: TypeNode } | null;
  readonly left?: Parameter;
};
type FunctionNode = { readonly params: readonly unknown[] };

export function measureSyntax(sources: readonly Source[]): readonly Figure[] {
  const counts: Counts = { assertions: 0, longLists: 0, booleans: 0 };
  for (const source of sources) count(source, counts);
  const lines = sumLines(sources);
  return [
    {
      what: 'type assertions in 1,000 lines',
      measured: round((1000 * counts.assertions) / lines, 2),
      atMost: 2,
      method: '`as X` without `as const`, `<X>x` and `x!` in src',
    },
    {
      what: 'functions with more than three parameters',
      measured: counts.longLists,
      atMost: 0,
      method: 'declarations, expressions, arrows and methods of src',
    },
    {
      what: 'functions with a boolean parameter',
      measured: counts.booleans,
      atMost: 0,
      method: 'a parameter whose written type is boolean, or a union with it',
    },
    { what: 'lines of src', measured: lines, atMost: 36_000, method: 'without src/fiscal/data' },
  ];
}

function count({ program }: Source, counts: Counts): void {
  const visitFunction = ({ params }: FunctionNode): void => {
    if (params.length > 3) counts.longLists += 1;
    if (params.some((param) => isBoolean(param as Parameter))) counts.booleans += 1;
  };
  const visitAssertion = (): void => {
    counts.assertions += 1;
  };
  new Visitor({
    FunctionDeclaration: visitFunction,
    FunctionExpression: visitFunction,
    ArrowFunctionExpression: visitFunction,
    TSNonNullExpression: visitAssertion,
    TSTypeAssertion: visitAssertion,
    TSAsExpression({ typeAnnotation }) {
      const isConst =
        typeAnnotation.type === 'TSTypeReference' &&
        typeAnnotation.typeName.type === 'Identifier' &&
        typeAnnotation.typeName.name === 'const';
      if (!isConst) visitAssertion();
    },
  }).visit(program);
}

/** If a parameter has a default, its type is on the left side. */
function isBoolean(parameter: Parameter): boolean {
  const type = (parameter.typeAnnotation ?? parameter.left?.typeAnnotation)?.typeAnnotation;
  if (type === undefined) return false;
  return type.type === 'TSBooleanKeyword' || type.types?.some(isBooleanKeyword) === true;
}

function isBooleanKeyword({ type }: TypeNode): boolean {
  return type === 'TSBooleanKeyword';
}
