import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { readGuide } from './guide.ts';
import { ROOT, writeBundle } from './output.ts';

const compressBrotli = promisify(brotliCompress);

/**
 * What the API reference is made of: the page's script out of the package that embeds it, with its compressed forms, our
 * own script and style, and the guides.
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

/** In brotli alone, which is a quarter of its size: the service makes the other forms of it. Four megabytes take seconds. */
async function writeViewer(folder: string): Promise<void> {
  const script = await readViewer();
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: script.length };
  await writeFile(`${folder}/scalar.js.br`, await compressBrotli(script, { params: quality }));
}

/** The script, asked for as a browser would. */
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
