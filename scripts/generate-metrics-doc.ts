import { writeFile } from 'node:fs/promises';
import { metricsDocument } from './metrics-document.ts';

/** `node scripts/generate-metrics-doc.ts` writes docs/metrics.md from the metrics of the service. */
await writeFile(new URL('../docs/metrics.md', import.meta.url), metricsDocument());
