import { membersOf, objectsOf } from '../../../contract/unknown-value.ts';
import type { Route } from '../http/route.ts';
import { allSamples } from './samples/code-samples.ts';
import type { JsonObject } from './schema-document.ts';

/**
 * Adapts the document for the reference page: the guides are its introduction. The page signs by itself, so it does not ask
 * for the values of signature headers.
 */
export function pageDocument(document: JsonObject, guide: string, routes: readonly Route[]): JsonObject {
  const samples = new Map(routes.map((route) => [route.operationId, allSamples(route)]));
  const { info, tags, paths, components, ...rest } = document;
  const { securitySchemes: _, ...shown } = membersOf(components);
  return {
    ...rest,
    info: { ...membersOf(info), description: guide },
    tags: tagTitles(document).map(([name, title], index) => ({
      ...objectsOf(tags)[index],
      name,
      'x-displayName': title,
    })),
    paths: mapOperations(membersOf(paths), ({ security: _security, ...operation }) => ({
      ...operation,
      'x-codeSamples': samples.get(String(operation.operationId)),
    })),
    components: shown,
  };
}

/** Returns the names of the groups of operations, which are parts of addresses, and their titles. */
export function tagTitles({ tags }: JsonObject): readonly (readonly [string, string])[] {
  return objectsOf(tags).map(({ name }) => {
    const text = String(name);
    return [text, text.charAt(0).toUpperCase() + text.slice(1)];
  });
}

function mapOperations(paths: JsonObject, change: (operation: JsonObject) => JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(membersOf(item)).map(([method, operation]) => [method, change(membersOf(operation))]),
      ),
    ]),
  );
}
