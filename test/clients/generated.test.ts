import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generatedClients } from '../../scripts/generate-clients.ts';
import { startTestService, type TestService } from '../support/service.ts';

const ROOT = join(import.meta.dirname, '..', '..');

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('the generated files of the clients', () => {
  it('match the OpenAPI document (node scripts/generate-clients.ts)', async () => {
    const generated = generatedClients({ ...service.document });
    expect(generated.map(({ path }) => path)).toEqual([
      'clients/python/rtc_service/api.py',
      'clients/go/api.go',
    ]);
    for (const { path, text } of generated) {
      expect((await readFile(join(ROOT, path), 'utf8')).split('\n'), path).toEqual(text.split('\n'));
    }
  });
});
