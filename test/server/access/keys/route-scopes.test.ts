import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES, type Scope } from '../../../../src/contract/choices.ts';
import type { Key } from '../../../../src/contract/keys.ts';
import { startTestService, type TestService } from '../../../support/service.ts';

type SignedOperation = { readonly method: string; readonly path: string; readonly scopes: readonly string[] };

let service: TestService;
let operations: readonly SignedOperation[];

beforeAll(async () => {
  service = await startTestService();
  operations = signedOperations(service);
});
afterAll(() => service.close());

function signedOperations({ document }: TestService): readonly SignedOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as unknown as Record<string, OperationObject>)
      .filter(([, { security }]) => security.length > 0)
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{(\w+)\}/g, ':$1'),
        scopes: operation['x-scopes'] ?? [],
      })),
  );
}

type OperationObject = { readonly security: readonly object[]; readonly 'x-scopes'?: readonly string[] };

describe('the scopes of routes', () => {
  it('are declared for every signed route', () => {
    expect(operations.length).toBeGreaterThan(50);
    for (const { method, path, scopes } of operations) {
      const known = [...SCOPES, 'any', 'root'];
      expect([`${method} ${path}`, scopes]).toEqual([`${method} ${path}`, expect.arrayContaining([])]);
      expect(scopes.length).toBeGreaterThan(0);
      for (const scope of scopes) expect(known).toContain(scope);
    }
  });

  it('do not let a key with only the scope read change anything', () => {
    const changing = operations.filter(({ method, scopes }) => method !== 'GET' && scopes.includes('read'));
    expect(changing).toEqual([]);
  });

  it('are those of the table in the documentation', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/keys.md'), 'utf8');
    const rows = page.split('\n').flatMap((line) => {
      const [, scopes, requests = ''] =
        /^\| ([a-z ]+) \| ((?:GET|POST|PUT|PATCH|DELETE) .*) \|$/.exec(line) ?? [];
      return scopes === undefined ? [] : requests.split(', ').map((request) => `${request}: ${scopes}`);
    });
    const expected = operations.map(
      ({ method, path, scopes }) => `${method} ${path}: ${scopes.join(' or ')}`,
    );
    expect(rows.toSorted()).toEqual(expected.toSorted());
  });

  it.each(SCOPES)('are enforced for a key with %s', async (scope: Scope) => {
    const made = await service.call('POST', '/v1/keys', { body: { name: scope, scopes: [scope] } });
    const { id, secret = '' } = made.json as Key;
    const refused: string[] = [];
    for (const { method, path } of operations) {
      const filled = path.replaceAll(/:\w+/g, 'x');
      const response = await service.call(method, filled, { signing: { apiKey: id, apiSecret: secret } });
      if (response.text.includes('urn:problem-type:rtc:insufficient-scope'))
        refused.push(`${method} ${path}`);
    }
    const lacking = operations.filter(({ scopes }) => {
      if (scopes.includes('root')) return true;
      return !scopes.includes('any') && !scopes.includes(scope) && scope !== 'admin';
    });
    expect(refused).toEqual(lacking.map(({ method, path }) => `${method} ${path}`));
  });
});
