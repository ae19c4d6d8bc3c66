import { capitalise, type Definition, isObject, type Property, type Type } from './model.ts';

/**
 * Converts definitions for a language without unions. A union of objects becomes one object with the properties of all; a
 * property that some of them lack is optional. Other unions become `unknown`.
 */
export function mergeUnions(definitions: readonly Definition[]): readonly Definition[] {
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
