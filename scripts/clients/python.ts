import {
  type Definition,
  isObject,
  type Model,
  type Operation,
  type Property,
  type Type,
  wrap,
} from './model.ts';

const KEYWORDS: ReadonlySet<string> = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import
   in is lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
);

const HEADER = `"""The endpoints and schemas of rtc-service, generated from its OpenAPI document. Do not edit."""

from __future__ import annotations

from typing import Any, Iterator, Literal, Mapping, Optional, TypedDict, Union

Query = Mapping[str, Union[str, int, bool, None]]


`;

const TRANSPORT = `class Operations:
    """One method for each endpoint. They raise RtcError, as Client says."""

    def _call(
        self, method: str, path: str, query: Query, body: Optional[object], idempotency_key: Optional[str] = None
    ) -> Any:
        raise NotImplementedError

    def _text(self, path: str, query: Query) -> str:
        raise NotImplementedError

    @staticmethod
    def _path(template: str, *values: str) -> str:
        raise NotImplementedError
`;

/** Returns the text of rtc_service/api.py. */
export function generatePython({ definitions, operations }: Model): string {
  const classes = inOrder(definitions).map(definition).join('\n\n');
  return `${HEADER}${classes}\n\n${TRANSPORT}\n${operations.map(methods).join('\n')}`;
}

/** Aliases are evaluated when the module is loaded, so they come after the names that they use. */
function inOrder(definitions: readonly Definition[]): readonly Definition[] {
  return [...definitions.filter(isObject), ...definitions.filter((each) => !isObject(each))];
}

function definition(each: Definition): string {
  if (!isObject(each)) return `${each.name} = ${toType(each.type, 'value')}\n`;
  const required = each.properties.filter(({ isRequired }) => isRequired);
  const optional = each.properties.filter(({ isRequired }) => !isRequired);
  if (optional.length === 0)
    return typedDict({ name: each.name, from: 'TypedDict', properties: required, doc: each.description });
  if (required.length === 0) {
    return typedDict({
      name: each.name,
      from: 'TypedDict, total=False',
      properties: optional,
      doc: each.description,
    });
  }
  const base = `_${each.name}Required`;
  return [
    typedDict({ name: base, from: 'TypedDict', properties: required, doc: undefined }),
    typedDict({ name: each.name, from: `${base}, total=False`, properties: optional, doc: each.description }),
  ].join('\n\n');
}

type TypedDict = {
  readonly name: string;
  readonly from: string;
  readonly properties: readonly Property[];
  readonly doc: string | undefined;
};

function typedDict({ name, from, properties, doc }: TypedDict): string {
  if (properties.some((each) => KEYWORDS.has(each.name)))
    return functionalTypedDict({ name, from, properties, doc });
  const lines = properties.flatMap(({ name: key, type, description }) => [
    ...(description === undefined ? [] : wrap(description, '    # ')),
    `    ${key}: ${toType(type)}`,
  ]);
  return [`class ${name}(${from}):`, ...docstring(doc, '    '), ...lines, ''].join('\n');
}

/** A class cannot have a property with a reserved name such as `from`, so this writes the functional form. */
function functionalTypedDict({ name, from, properties, doc }: TypedDict): string {
  const [base, total] = from.split(', ');
  if (base !== 'TypedDict') throw new Error(`${name} has an optional property that is a keyword of Python`);
  const lines = properties.map((each) => `        "${each.name}": ${JSON.stringify(toType(each.type))},`);
  const comment = doc === undefined ? [] : wrap(doc, '# ');
  const end = total === undefined ? [] : [`    ${total},`];
  const call = [`    "${name}",`, '    {', ...lines, '    },', ...end];
  return [...comment, `${name} = TypedDict(`, ...call, ')', ''].join('\n');
}

function docstring(doc: string | undefined, indent: string): readonly string[] {
  if (doc === undefined) return [];
  const lines = wrap(doc, indent);
  if (lines.length === 1) return [`${indent}"""${doc}"""`, ''];
  return [`${indent}"""${lines.join('\n').slice(indent.length)}`, `${indent}"""`, ''];
}

/** Annotations are not evaluated, but aliases are: Python 3.9 does not support X | Y. */
function toType(type: Type, place: 'annotation' | 'value' = 'annotation'): string {
  switch (type.kind) {
    case 'string':
      return 'str';
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'unknown':
      return 'Any';
    case 'choice':
      return `Literal[${type.values.map((value) => JSON.stringify(value)).join(', ')}]`;
    case 'array':
      return `list[${toType(type.of, place)}]`;
    case 'map':
      return `dict[str, ${toType(type.of, place)}]`;
    case 'nullable':
      return `Optional[${toType(type.of, place)}]`;
    case 'union':
      return `Union[${type.of.map((each) => toType(each, place)).join(', ')}]`;
    case 'name':
      return type.name;
  }
}

function methods(operation: Operation): string {
  return [method(operation), ...textMethod(operation), ...iterator(operation)].join('\n');
}

function method(operation: Operation): string {
  const { body, response } = operation;
  const result = response === undefined ? 'None' : toType(response);
  const bodyParameter =
    body === undefined
      ? []
      : [body.isRequired ? `body: ${toType(body.type)}` : `body: Optional[${toType(body.type)}] = None`];
  const passed = [
    `"${operation.method}"`,
    toPath(operation),
    toQuery(operation.query),
    body === undefined ? 'None' : 'body',
    ...(operation.takesIdempotencyKey ? ['idempotency_key'] : []),
  ];
  const line = `self._call(${passed.join(', ')})`;
  const call =
    line.length + result.length > 95
      ? `self._call(\n${passed.map((each) => `            ${each},\n`).join('')}        )`
      : line;
  return [
    signature({ name: snake(operation.id), operation, extra: bodyParameter, result }),
    ...docstring(`${operation.summary}.`, '        ').slice(0, 1),
    ...(response === undefined
      ? [`        ${call}`]
      : [`        response: ${result} = ${call}`, '        return response']),
    '',
  ].join('\n');
}

function textMethod(operation: Operation): readonly string[] {
  if (!operation.hasTextFormats) return [];
  return [
    [
      signature({
        name: `${snake(operation.id)}_text`,
        operation: { ...operation, query: [] },
        extra: ['format: Literal["text", "vtt", "srt"]'],
        result: 'str',
      }),
      `        """${operation.summary}, as text or captions."""`,
      `        return self._text(${toPath(operation)}, {"format": format})`,
      '',
    ].join('\n'),
  ];
}

function iterator(operation: Operation): readonly string[] {
  const { id, items } = operation;
  // Events never end; follow_events reads them. For an operation that is not a list, such as a live transcription, the
  // cursor leads to future items and not to further pages.
  if (items === undefined || id === 'listEvents' || !/^(list|search)/.test(id)) return [];
  const query = operation.query.filter(({ name }) => name !== 'cursor');
  const passed = [
    ...operation.pathParameters.map(({ name }) => snake(name)),
    ...query.map(({ name }) => `${snake(name)}=${snake(name)}`),
    'cursor=cursor',
  ];
  return [
    [
      signature({
        name: snake(id)
          .replace(/^list_/, 'iterate_')
          .replace(/^search_/, 'search_all_'),
        operation: { ...operation, query },
        extra: [],
        result: `Iterator[${toType(items.type)}]`,
      }),
      `        """${operation.summary}: every item of every page."""`,
      '        cursor: Optional[str] = None',
      '        while True:',
      `            page = self.${snake(id)}(${passed.join(', ')})`,
      `            yield from page["${items.name}"]`,
      '            cursor = page.get("nextCursor")',
      '            if cursor is None:',
      '                return',
      '',
    ].join('\n'),
  ];
}

type Signature = {
  readonly name: string;
  readonly operation: Pick<Operation, 'pathParameters' | 'query' | 'takesIdempotencyKey'>;
  readonly extra: readonly string[];
  readonly result: string;
};

function signature({ name, operation, extra, result }: Signature): string {
  const query = operation.query.map((each) =>
    each.isRequired
      ? `${snake(each.name)}: ${toType(each.type)}`
      : `${snake(each.name)}: Optional[${toType(each.type)}] = None`,
  );
  const named = [
    ...query,
    ...(operation.takesIdempotencyKey ? ['idempotency_key: Optional[str] = None'] : []),
  ];
  const parameters = [
    'self',
    ...operation.pathParameters.map((each) => `${snake(each.name)}: ${toType(each.type)}`),
    ...extra,
    ...(named.length === 0 ? [] : ['*', ...named]),
  ];
  const line = `    def ${name}(${parameters.join(', ')}) -> ${result}:`;
  if (line.length <= 120) return line;
  return `    def ${name}(\n${parameters.map((each) => `        ${each},`).join('\n')}\n    ) -> ${result}:`;
}

function toPath({ path, pathParameters }: Operation): string {
  if (pathParameters.length === 0) return JSON.stringify(path);
  const template = path.replaceAll(/\{[^}]*\}/g, '{}');
  return `self._path("${template}", ${pathParameters.map(({ name }) => snake(name)).join(', ')})`;
}

function toQuery(query: readonly Property[]): string {
  return `{${query.map(({ name }) => `"${name}": ${snake(name)}`).join(', ')}}`;
}

/** `roomId` becomes `room_id`. */
/** A keyword of Python gets an underscore at its end (PEP 8). */
function snake(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return KEYWORDS.has(words) ? `${words}_` : words;
}
