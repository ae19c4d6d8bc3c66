import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { metricsDocument } from '../../scripts/metrics-document.ts';

test('docs/metrics.md describes every metric (node scripts/generate-metrics-doc.ts)', async () => {
  const document = await readFile(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  expect(document).toBe(metricsDocument());
});
