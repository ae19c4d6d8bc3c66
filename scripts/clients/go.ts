import {
  capitalise,
  type Definition,
  isObject,
  type Model,
  type Operation,
  type Property,
  type Type,
  wrap,
} from './model.ts';

const HEADER = `// Code generated from the OpenAPI document of rtc-service. DO NOT EDIT.

package rtc

import (
	"context"
	"iter"
	"net/http"
	"net/url"
)
`;

/** Words that are upper case in Go's names. */
const INITIALISMS: ReadonlySet<string> = new Set(['Id', 'Url', 'Api', 'Sid', 'Cf']);

/** Returns the text of api.go, formatted like gofmt does it. */
export function generateGo({ definitions, operations }: Model): string {
  return [
    HEADER,
    ...mergeUnions(definitions).map(definition),
    ...operations.flatMap((operation) => [
      ...listParameters(operation),
      method(operation),
      ...texts(operation),
      ...iterator(operation),
    ]),
  ].join('\n');
}

function definition(each: Definition): string {
  const name = goName(each.name);
  const doc = comment(each.description, { name, indent: '' });
  if (!isObject(each)) return `${doc}type ${name} = ${toType(each.type)}\n`;
  return `${doc}type ${name} struct {\n${fieldLines(each.properties.map(field))}}\n`;
}

type Field = { readonly doc: string; readonly name: string; readonly type: string; readonly tag: string };

function field({ name, description, type, isRequired }: Property): Field {
  const choices = listChoices(type);
  const doc = [description, ...(choices.length === 0 ? [] : [`One of ${choices.join(', ')}.`])]
    .filter((sentence) => sentence !== undefined)
    .join('. ')
    .replaceAll('..', '.');
  return {
    doc: doc === '' ? '' : wrap(doc, '\t// ').join('\n').concat('\n'),
    name: goName(name),
    type: isRequired ? toType(type) : optional(type),
    tag: ` \`json:"${isRequired ? name : `${name},omitempty`}"\``,
  };
}

/** gofmt aligns the columns of lines that no comment separates. */
function fieldLines(fields: readonly Field[]): string {
  const runs: Field[][] = [];
  for (const each of fields) {
    const run = runs.at(-1);
    if (run === undefined || each.doc !== '') runs.push([each]);
    else run.push(each);
  }
  return runs
    .flatMap((run) => {
      const name = Math.max(...run.map((each) => each.name.length));
      const type = Math.max(...run.map((each) => each.type.length));
      return run.map((each) => {
        const line = `\t${each.name.padEnd(name)} ${each.type.padEnd(type)}${each.tag}`;
        return `${each.doc}${line.trimEnd()}\n`;
      });
    })
    .join('');
}

function listChoices(type: Type): readonly string[] {
  if (type.kind === 'nullable' || type.kind === 'array') return listChoices(type.of);
  return type.kind === 'choice' ? type.values : [];
}

/** A pointer distinguishes absent from zero. Slices, maps and `any` can be nil. */
function optional(type: Type): string {
  const written = toType(type);
  return /^(\*|\[\]|map\[|any$)/.test(written) ? written : `*${written}`;
}

function toType(type: Type): string {
  switch (type.kind) {
    case 'string':
    case 'choice':
      return 'string';
    case 'integer':
      return 'int64';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    case 'array':
      return `[]${toType(type.of)}`;
    case 'map':
      return `map[string]${toType(type.of)}`;
    case 'nullable':
      return optional(type.of);
    case 'name':
      return goName(type.name);
    case 'unknown':
    case 'union':
      return 'any';
  }
}

/** Writes the query of an operation. Zero values are not sent. */
function listParameters({ id, query }: Operation): readonly string[] {
  if (query.length === 0) return [];
  const name = `${capitalise(id)}Params`;
  const fields = query.map(
    ({ name: key, description, type }): Field => ({
      doc: description === undefined ? '' : wrap(description, '\t// ').join('\n').concat('\n'),
      name: goName(key),
      type: toType(type),
      tag: '',
    }),
  );
  const sets = query.map(({ name: key, type }) => `\t${setter(key, type)}\n`);
  return [
    `// ${name} is the query of ${capitalise(id)}. What is zero is not sent.\ntype ${name} struct {\n${fieldLines(fields)}}\n`,
    `func (params ${name}) values() url.Values {\n\tvalues := url.Values{}\n${sets.join('')}\treturn values\n}\n`,
  ];
}

function setter(key: string, { kind }: Type): string {
  const value = `params.${goName(key)}`;
  if (kind === 'boolean') return `setBool(values, "${key}", ${value})`;
  return kind === 'integer' ? `setInt(values, "${key}", ${value})` : `setString(values, "${key}", ${value})`;
}

function method(operation: Operation): string {
  const { id, body, response, query, method: verb } = operation;
  const name = goName(capitalise(id));
  const parameters = [
    'ctx context.Context',
    ...pathParameters(operation),
    ...(body === undefined ? [] : [`body ${body.isRequired ? '' : '*'}${toType(body.type)}`]),
    ...(query.length === 0 ? [] : [`params ${capitalise(id)}Params`]),
  ];
  const values = query.length === 0 ? 'nil' : 'params.values()';
  const request = `request{method: http.Method${capitalise(verb.toLowerCase())}, path: ${toPath(operation)}, query: ${values}${
    body === undefined ? '' : `, body: ${body.isRequired ? 'body' : 'orNil(body)'}`
  }}`;
  const doc = `// ${name}: ${operation.summary}.\n`;
  if (response === undefined) {
    return `${doc}func (c *Client) ${name}(${parameters.join(', ')}) error {\n\treturn c.do(ctx, ${request}, nil)\n}\n`;
  }
  const result = toType(response);
  return [
    `${doc}func (c *Client) ${name}(${parameters.join(', ')}) (${result}, error) {`,
    `\tvar response ${result}`,
    `\terr := c.do(ctx, ${request}, &response)`,
    '\treturn response, err',
    '}\n',
  ].join('\n');
}

function texts(operation: Operation): readonly string[] {
  if (!operation.hasTextFormats) return [];
  const name = `${goName(capitalise(operation.id))}Text`;
  const parameters = ['ctx context.Context', ...pathParameters(operation), 'format string'];
  return [
    [
      `// ${name}: ${operation.summary}, as text, vtt or srt.`,
      `func (c *Client) ${name}(${parameters.join(', ')}) (string, error) {`,
      `\treturn c.text(ctx, request{method: http.MethodGet, path: ${toPath(operation)}, query: url.Values{"format": {format}}})`,
      '}\n',
    ].join('\n'),
  ];
}

function iterator(operation: Operation): readonly string[] {
  const { id, items } = operation;
  // For an operation that is not a list, such as a live transcription, the cursor leads to future items and not to further
  // pages.
  if (items === undefined || id === 'listEvents' || !/^(list|search)/.test(id)) return [];
  const list = goName(capitalise(id));
  const name = list.replace(/^List/, 'All').replace(/^Search/, 'SearchAll');
  const params = ['ctx context.Context', ...pathParameters(operation), `params ${capitalise(id)}Params`];
  const passed = ['ctx', ...operation.pathParameters.map((each) => argument(each.name)), 'params'];
  return [
    [
      `// ${name}: ${operation.summary}, every item of every page. It ends after an error.`,
      `func (c *Client) ${name}(${params.join(', ')}) iter.Seq2[${toType(items.type)}, error] {`,
      `\treturn pages(func(cursor string) ([]${toType(items.type)}, *string, error) {`,
      '\t\tif cursor != "" {',
      '\t\t\tparams.Cursor = cursor',
      '\t\t}',
      `\t\tpage, err := c.${list}(${passed.join(', ')})`,
      `\t\treturn page.${goName(items.name)}, page.NextCursor, err`,
      '\t})',
      '}\n',
    ].join('\n'),
  ];
}

function pathParameters(operation: Operation): readonly string[] {
  return operation.pathParameters.map(({ name }) => `${argument(name)} string`);
}

function toPath({ path, pathParameters: parameters }: Operation): string {
  if (parameters.length === 0) return `"${path}"`;
  const parts = path.split(/\{[^}]*\}/);
  return parts
    .flatMap((part, at) => [
      part === '' ? '' : `"${part}"`,
      at < parameters.length ? `url.PathEscape(${argument(parameters[at]?.name ?? '')})` : '',
    ])
    .filter((part) => part !== '')
    .join(' + ');
}

/** `roomId` becomes `roomID`, `fiscal_code` becomes `fiscalCode`. */
function argument(name: string): string {
  const written = goName(name);
  return written.charAt(0).toLowerCase() + written.slice(1);
}

/** `roomId` becomes `RoomID`. */
function goName(name: string): string {
  const words = capitalise(
    name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
  ).match(/[A-Z][a-z0-9]*/g);
  return (words ?? [name]).map((word) => (INITIALISMS.has(word) ? word.toUpperCase() : word)).join('');
}

function comment(
  description: string | undefined,
  { name, indent }: { name: string; indent: string },
): string {
  if (description === undefined) return '';
  return wrap(`${name}: ${description}.`, `${indent}// `).join('\n').concat('\n');
}

/**
 * Converts definitions for a language without unions. A union of objects becomes one object with the properties of all; a
 * property that some of them lack is optional. Other unions become `unknown`.
 */
function mergeUnions(definitions: readonly Definition[]): readonly Definition[] {
  const merger = new Merger(definitions);
  return definitions.flatMap((definition) => merger.merge(definition));
}

class Merger {
  readonly #known: ReadonlyMap<string, Definition>;

  constructor(definitions: readonly Definition[]) {
    this.#known = new Map(definitions.map((definition) => [definition.name, definition]));
  }

  merge(definition: Definition): readonly Definition[] {
    if (isObject(definition)) {
      return [
        {
          ...definition,
          properties: definition.properties.map((each) => ({ ...each, type: withoutUnion(each.type) })),
        },
      ];
    }
    const objects = this.#objectsOf(definition.type);
    if (objects === undefined) return [{ ...definition, type: withoutUnion(definition.type) }];
    return this.#mergeObjects(definition, objects);
  }

  /** Returns the objects of a union that consists only of objects. */
  #objectsOf(type: Type): readonly (readonly Property[])[] | undefined {
    if (type.kind !== 'union') return undefined;
    const objects = type.of.map((each) => {
      const found = each.kind === 'name' ? this.#known.get(each.name) : undefined;
      return found !== undefined && isObject(found) ? found.properties : undefined;
    });
    return objects.every((properties) => properties !== undefined) ? objects : undefined;
  }

  #mergeObjects(
    { name, description }: Pick<Definition, 'name' | 'description'>,
    objects: readonly (readonly Property[])[],
  ): readonly Definition[] {
    const further: Definition[] = [];
    const byName = Map.groupBy(objects.flat(), (property) => property.name);
    const properties = [...byName].map(([key, found]): Property => {
      const type = this.#mergeTypes(
        found.map((each) => each.type),
        name + capitalise(key),
      );
      further.push(...type.further);
      const isRequired = found.length === objects.length && found.every((each) => each.isRequired);
      return { name: key, description: found[0]?.description, type: type.type, isRequired };
    });
    return [{ name, description, properties }, ...further];
  }

  #mergeTypes(
    types: readonly Type[],
    name: string,
  ): { readonly type: Type; readonly further: readonly Definition[] } {
    const isNullable = types.some(({ kind }) => kind === 'nullable');
    const present = [...new Map(types.map(unwrap).map((type) => [JSON.stringify(type), type])).values()];
    const [first] = present;
    const wrap = (of: Type): Type => (isNullable ? { kind: 'nullable', of } : of);
    if (first !== undefined && present.length === 1) return { type: wrap(withoutUnion(first)), further: [] };
    if (present.every(({ kind }) => kind === 'choice' || kind === 'string')) {
      return { type: wrap({ kind: 'string' }), further: [] };
    }
    const objects = this.#objectsOf({ kind: 'union', of: present });
    if (objects === undefined) return { type: { kind: 'unknown' }, further: [] };
    const further = this.#mergeObjects({ name, description: undefined }, objects);
    return { type: wrap({ kind: 'name', name }), further };
  }
}

function unwrap(type: Type): Type {
  return type.kind === 'nullable' ? type.of : type;
}

function withoutUnion(type: Type): Type {
  switch (type.kind) {
    case 'union':
      return { kind: 'unknown' };
    case 'array':
    case 'map':
    case 'nullable':
      return { kind: type.kind, of: withoutUnion(type.of) };
    default:
      return type;
  }
}
