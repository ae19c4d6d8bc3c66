import { STATUS_CODES } from 'node:http';
import { expect, test } from 'vitest';
import { reasonPhrase } from '../../src/contract/errors.ts';

test('every client and server error has the reason phrase of Node', () => {
  const statuses = Object.keys(STATUS_CODES).map(Number);
  const errors = statuses.filter((status) => status >= 400);
  expect(errors.map(reasonPhrase)).toEqual(errors.map((status) => STATUS_CODES[status]));
});
