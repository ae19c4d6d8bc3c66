import { type TSchema, Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/contract/errors.ts';
import { compileValidator } from '../../../../src/server/platform/http/validate.ts';

describe('the errors of an invalid body', () => {
  it.each([
    [1, '', 'must not be empty'],
    [2, 'a', 'must have at least 2 characters'],
  ])('say the least length when it is %i', (minLength, text, detail) => {
    const schema = Type.Object({ text: Type.String({ minLength }) });
    expect(findErrors(schema, { text })).toEqual([{ pointer: '#/text', detail }]);
  });

  it.each(['é', '€', '😀', '~', '/', '%', 'a'])(
    'have short pointers, without a cut escape of %s',
    (character) => {
      for (const before of ['', 'a', 'aa', 'aaa']) {
        const name = before + character.repeat(400);
        const [{ pointer } = { pointer: '' }] = findErrors(Type.Object({}, { additionalProperties: false }), {
          [name]: 1,
        });
        expect(pointer.length).toBeLessThanOrEqual(300);
        expect(pointer.length).toBeGreaterThan(280);
        const [, part = ''] = decodeURIComponent(pointer).split('/');
        expect(name.startsWith(part.replaceAll('~1', '/').replaceAll('~0', '~'))).toBe(true);
        expect(part).not.toMatch(/~(?![01])/);
      }
    },
  );
});

function findErrors(schema: TSchema, value: unknown): readonly { readonly pointer: string }[] {
  try {
    compileValidator(schema, 'body')(value);
  } catch (error) {
    if (error instanceof ServiceError) return (error.errors ?? []).filter((one) => 'pointer' in one);
  }
  return [];
}
