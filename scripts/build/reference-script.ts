import { mkdir, writeFile } from 'node:fs/promises';
import { ROOT } from './output.ts';

/** The API reference page's script, out of the package that embeds it: asked for as a browser would. */
export async function writeReferenceScript(out: string): Promise<readonly string[]> {
  const [{ fastify }, { default: reference }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ]);
  const app = fastify();
  await app.register(reference, {
    routePrefix: '/docs',
    configuration: { content: { openapi: '3.1.0', info: { title: '', version: '' }, paths: {} } },
  });
  const response = await app.inject('/docs/js/scalar.js');
  await app.close();
  if (response.statusCode !== 200 || response.rawPayload.length < 100_000) {
    throw new Error(`@scalar/fastify-api-reference answered ${response.statusCode} for its script`);
  }
  await mkdir(`${out}/reference`, { recursive: true });
  await writeFile(`${out}/reference/scalar.js`, response.rawPayload);
  return [`${ROOT}node_modules/@scalar/fastify-api-reference/dist/index.js`];
}
