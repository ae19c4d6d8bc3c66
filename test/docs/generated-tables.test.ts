import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { generatedPages } from '../../scripts/generate-docs.ts';

test.each([...generatedPages()])(
  '%s has the tables that node scripts/generate-docs.ts writes',
  async (path, text) => {
    expect(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')).toBe(text);
  },
);
