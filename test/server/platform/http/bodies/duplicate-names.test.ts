import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../../../../../src/contract/problem.ts';
import { findDuplicateName } from '../../../../../src/server/platform/http/bodies/read-body.ts';
import { startTestService, type TestService } from '../../../../support/service.ts';

describe('a duplicate name', () => {
  it.each([
    ['{"a":1,"a":1}', '/a'],
    ['{"a":1,"\\u0061":2}', '/a'],
    ['{"":1,"":2}', '/'],
    ['{"a":{"b":[0,{"c":1},{"d":1,"e":2,"d":3}]}}', '/a/b/2/d'],
    [' { "a" : { } , "x" : "a" , "a" : [ ] } ', '/a'],
    ['{"a/b~":1,"a/b~":1}', '/a~1b~0'],
    ['[{"a":1},[{"q\\"":1,"q\\"":2}]]', '/1/0/q"'],
    ['{"\\\\":1,"\\\\":2}', '/\\'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__'],
  ])('is found: %s', (text, pointer) => {
    expect(findDuplicateName(text)).toBe(pointer);
  });

  it.each([
    '{}',
    '[]',
    '"a"',
    '1',
    '{"a":{"a":{"a":1}},"b":{"a":1}}',
    '[{"a":1},{"a":2}]',
    '{"a":"a","b":"\\"a\\":1,\\"a\\":2"}',
    '{"a":["a","a"],"b":"{","c":"}","d":"a"}',
    '{"toString":1,"constructor":2}',
    '{"a\\\\":1,"a":"\\\\\\""}',
  ])('is not found: %s', (text) => {
    JSON.parse(text);
    expect(findDuplicateName(text)).toBeUndefined();
  });
});

describe('a body with a duplicate name', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.close());

  it.each([
    ['/v1/rooms', '{"name":"a","name":"b"}', '#/name'],
    ['/v1/token', '{"roomId":"r","userId":"u","name":"n","role":"viewer","role":"host"}', '#/role'],
    [
      '/v1/token',
      '{"roomId":"r","userId":"u","name":"n","role":"host","metadata":{"a b":1,"a b":2}}',
      '#/metadata/a%20b',
    ],
  ])('is rejected by %s, with the name', async (path, body, pointer) => {
    const response = await service.call('POST', path, {
      body,
      headers: { 'Content-Type': 'application/json' },
    });
    expect(response.status).toBe(400);
    expect(response.json as Problem).toMatchObject({
      detail: `${pointer} is there more than once.`,
      errors: [{ pointer, detail: 'is there more than once' }],
    });
  });
});
