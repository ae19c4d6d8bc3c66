import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { settingsDocument } from '../../scripts/settings-document.ts';

test('docs/settings.md describes every setting (node scripts/generate-settings-doc.ts)', async () => {
  const document = await readFile(new URL('../../docs/settings.md', import.meta.url), 'utf8');
  expect(document).toBe(settingsDocument());
});
