import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chartValues, findDigest, parseImage, pinImages } from '../../scripts/release/image-digest.ts';

/* Requests digests of images from a registry in place of Docker Hub, according to the distribution specification. */

const MANIFEST = '{"schemaVersion":2}';
const DIGEST = `sha256:${createHash('sha256').update(MANIFEST).digest('hex')}`;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Starts a registry. Returns its HOST:PORT and the request lines that it received. */
async function startRegistry(handle: Handler) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    handle(request, response);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { host: `127.0.0.1:${address.port}`, requests };
}

const manifest: Handler = (request, response) => {
  const known = request.url === '/v2/livekit/egress/manifests/v1.12.0';
  const isIndexWanted = request.headers.accept?.startsWith('application/vnd.oci.image.index.v1+json');
  if (!known || !isIndexWanted) return void response.writeHead(404).end();
  response.writeHead(200, { 'docker-content-digest': DIGEST });
  response.end(request.method === 'HEAD' ? undefined : MANIFEST);
};

/** A registry that requires a token, and gives one to everybody. */
const guarded: Handler = (request, response) => {
  const host = `http://${request.headers.host}`;
  const url = new URL(request.url ?? '', host);
  if (url.pathname === '/token') {
    const isAsked = url.searchParams.get('scope') === 'repository:livekit/egress:pull';
    return void response.end(JSON.stringify({ token: isAsked ? 'pass' : 'none' }));
  }
  if (request.headers.authorization === 'Bearer pass') return manifest(request, response);
  const challenge = `Bearer realm="${host}/token",service="registry",scope="repository:livekit/egress:pull"`;
  response.writeHead(401, { 'www-authenticate': challenge }).end();
};

describe('the name of an image', () => {
  it.each([
    ['postgres:15.18', 'registry-1.docker.io', 'library/postgres', '15.18'],
    ['livekit/egress:v1.12.0', 'registry-1.docker.io', 'livekit/egress', 'v1.12.0'],
    ['ghcr.io/org/name:1.0', 'ghcr.io', 'org/name', '1.0'],
    ['localhost:5000/name:1.0', 'localhost:5000', 'name', '1.0'],
  ])('%s is at %s, %s in version %s', (reference, registry, repository, tag) => {
    expect(parseImage(reference)).toEqual({ registry, repository, tag });
  });

  it.each(['postgres', 'localhost:5000/name'])(
    'must have an exact tag, which %s does not have',
    (reference) => {
      expect(() => parseImage(reference)).toThrow('has no exact tag');
    },
  );
});

describe('the digest of an image', () => {
  it('is requested without a pull', async () => {
    const { host, requests } = await startRegistry(manifest);
    expect(await findDigest(`${host}/livekit/egress:v1.12.0`)).toBe(DIGEST);
    expect(new Set(requests)).toEqual(new Set(['HEAD /v2/livekit/egress/manifests/v1.12.0']));
  });

  it('is read from a registry that requires a token of everyone', async () => {
    const { host } = await startRegistry(guarded);
    expect(await findDigest(`${host}/livekit/egress:v1.12.0`)).toBe(DIGEST);
  });

  it('is computed when the registry does not send it', async () => {
    const { host } = await startRegistry((_request, response) => void response.end(MANIFEST));
    expect(await findDigest(`${host}/name:1.0`)).toBe(DIGEST);
  });

  it('is unknown for a missing image, and when other credentials are required', async () => {
    const { host } = await startRegistry(manifest);
    await expect(findDigest(`${host}/livekit/egress:v9`)).rejects.toThrow('the registry responded with 404');
    const basic = await startRegistry(
      (_request, response) => void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end(),
    );
    await expect(findDigest(`${basic.host}/name:1.0`)).rejects.toThrow('credentials of an unknown kind');
  });

  it('sends nothing to a realm without TLS on another machine', async () => {
    const challenge = 'Bearer realm="http://example.org/token"';
    const { host } = await startRegistry(
      (_request, response) => void response.writeHead(401, { 'www-authenticate': challenge }).end(),
    );
    await expect(findDigest(`${host}/name:1.0`)).rejects.toThrow('credentials of an unknown kind');
  });
});

describe('the compose file of a release', () => {
  it('has the digest of each image that was found, explains why others have none, and is unchanged otherwise', async () => {
    const shipped = await readFile(join(import.meta.dirname, '../../compose.yaml'), 'utf8');
    const { text, pinned, unpinned } = await pinImages(shipped, async (image) => {
      if (image.startsWith('grafana/')) throw new Error('no response');
      return DIGEST;
    });
    const imagesIn = (file: string): readonly string[] => {
      const { services }: { services: Record<string, { image?: string }> } = parse(file, { merge: true });
      return Object.values(services).flatMap(({ image }) => image ?? []);
    };
    const images = imagesIn(shipped);
    expect([...pinned, 'grafana/grafana:12.1.0'].toSorted()).toEqual(images.toSorted());
    expect(unpinned).toEqual(['grafana/grafana:12.1.0: no response']);
    expect(imagesIn(text)).toEqual(
      images.map((image) => (image.startsWith('grafana/') ? image : `${image}@${DIGEST}`)),
    );
    expect(text.replaceAll(`@${DIGEST}`, '')).toBe(shipped);
  });
});

describe('the values of a release', () => {
  it('name both images by their digests', async () => {
    const values = await chartValues({ version: '1.2.3', registry: 'ghcr.io/org' }, async (image) =>
      image === 'ghcr.io/org/rtc-service:1.2.3' ? DIGEST : DIGEST.replaceAll(/[0-9a-f]{8}$/g, '00000000'),
    );
    expect(parse(values)).toEqual({
      image: { repository: 'ghcr.io/org/rtc-service', tag: '1.2.3', digest: DIGEST },
      workers: {
        image: {
          repository: 'ghcr.io/org/rtc-service-worker',
          tag: '1.2.3',
          digest: expect.stringMatching(/^sha256:[0-9a-f]{56}00000000$/),
        },
      },
    });
  });
});
