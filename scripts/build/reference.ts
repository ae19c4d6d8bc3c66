import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { readGuide } from './guide.ts';
import { ROOT, writeBundle } from './output.ts';

const compressBrotli = promisify(brotliCompress);

/**
 * Writes the files of the API reference: the script, taken from the package that embeds it, in compressed forms; our own
 * script and style; and the guides.
 */
export async function writeReference(out: string): Promise<readonly string[]> {
  const folder = `${out}/reference`;
  await mkdir(folder, { recursive: true });
  const [modules] = await Promise.all([
    writeBundle(
      { input: { start: 'src/web/reference/start.ts' }, platform: 'browser' },
      { dir: folder, minify: true, format: 'iife' },
    ),
    writeViewer(folder),
    copyFile(`${ROOT}src/web/reference/reference.css`, `${folder}/reference.css`),
    writeGuide(folder),
  ]);
  return [...modules, `${ROOT}node_modules/@scalar/fastify-api-reference/dist/index.js`];
}

/**
 * Writes the script only in brotli, which is a quarter of its size. The service makes the other forms from it, because four
 * megabytes take seconds to compress.
 */
async function writeViewer(folder: string): Promise<void> {
  const script = await readViewer();
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: script.length };
  await writeFile(`${folder}/scalar.js.br`, await compressBrotli(script, { params: quality }));
}

/** Requests the script as a browser would. */
async function readViewer(): Promise<Buffer> {
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
  return response.rawPayload;
}

async function writeGuide(folder: string): Promise<void> {
  const { markdown, html } = await readGuide();
  await Promise.all([writeFile(`${folder}/guide.md`, markdown), writeFile(`${folder}/guide.html`, html)]);
}
