import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../src/server/app/config/config.ts';
import { startService } from '../src/server/app/service.ts';
import { systemClock, systemIds } from '../src/server/platform/clock.ts';
import { createLog } from '../src/server/platform/pino-log.ts';
import { generateGo } from './clients/go.ts';
import { type Json, readModel } from './clients/model.ts';
import { generatePython } from './clients/python.ts';

/** Returns the generated files of the clients, from the service's OpenAPI document. */
export function generatedClients(
  document: Json,
): readonly { readonly path: string; readonly text: string }[] {
  const model = readModel(document);
  return [
    { path: 'clients/python/rtc_service/api.py', text: generatePython(model) },
    { path: 'clients/go/api.go', text: generateGo(model) },
  ];
}

/** `node scripts/generate-clients.ts` writes the generated files of the Python and Go clients from the OpenAPI document. */
if (import.meta.main) {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-clients-'));
  const config = loadConfig({ API_KEY: 'key', API_SECRET: 'secret', PORT: '0', DATA_DIR: folder });
  const deps = { log: createLog('fatal'), clock: systemClock, ids: systemIds };
  const service = await startService(config, deps);
  try {
    const response = await fetch(`${service.url}/openapi.json`);
    const document: Json = JSON.parse(await response.text());
    for (const { path, text } of generatedClients(document)) {
      await writeFile(join(import.meta.dirname, '..', path), text);
    }
  } finally {
    await service.close();
    await rm(folder, { recursive: true });
  }
}
