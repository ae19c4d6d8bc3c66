import { createHash } from 'node:crypto';

/*
 * Asks a registry for the digest of an image. It follows the OCI distribution specification, section "Pulling manifests",
 * and Docker's "Token authentication". A tag can be moved to another image; a digest cannot.
 */

/** Media types of manifests: the index of all platforms is preferred to the manifest of one platform. */
const ACCEPT = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const TIMEOUT_MS = 10_000;

type Image = { readonly registry: string; readonly repository: string; readonly tag: string };

/** `postgres:15.18` is library/postgres of Docker Hub. A first part with a dot or a port is the name of a registry. */
export function parseImage(reference: string): Image {
  const [, name = '', tag = ''] = /^(.+):([\w][\w.-]*)$/.exec(reference) ?? [];
  if (name === '' || tag.includes('/')) throw new Error(`${reference} has no exact tag`);
  const [first = '', ...rest] = name.split('/');
  if (rest.length > 0 && /[.:]|^localhost$/.test(first)) {
    return { registry: first, repository: rest.join('/'), tag };
  }
  return { registry: 'registry-1.docker.io', repository: rest.length === 0 ? `library/${name}` : name, tag };
}

/** Resolves to the `sha256:…` of the image. Rejects with the reason if the registry does not return it. */
export async function findDigest(reference: string): Promise<string> {
  const { registry, repository, tag } = parseImage(reference);
  const url = `${readScheme(registry)}://${registry}/v2/${repository}/manifests/${tag}`;
  const authorization = await authorize(url);
  // A HEAD does not count as a pull. Registries limit the number of pulls.
  const { headers } = await fetchOk(url, { method: 'HEAD', authorization });
  const digest = headers.get('docker-content-digest');
  if (digest !== null && DIGEST.test(digest)) return digest;
  const manifest = await fetchOk(url, { method: 'GET', authorization });
  const hash = createHash('sha256').update(Buffer.from(await manifest.arrayBuffer()));
  return `sha256:${hash.digest('hex')}`;
}

type RequestOptions = { readonly method: 'HEAD' | 'GET'; readonly authorization: string | undefined };

async function fetchOk(url: string, options: RequestOptions): Promise<Response> {
  const response = await send(url, options);
  if (!response.ok) throw new Error(`the registry responded with ${response.status}`);
  return response;
}

async function send(url: string, { method, authorization }: RequestOptions): Promise<Response> {
  const headers = { accept: ACCEPT, ...(authorization === undefined ? {} : { authorization }) };
  return await fetch(url, { method, headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/** Resolves to a token for anonymous pulls if the registry requires one; otherwise to undefined. */
async function authorize(url: string): Promise<string | undefined> {
  const response = await send(url, { method: 'HEAD', authorization: undefined });
  if (response.status !== 401) return undefined;
  const challenge = response.headers.get('www-authenticate') ?? '';
  const parameters = new Map(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const realm = URL.parse(parameters.get('realm') ?? '');
  if (!/^bearer /i.test(challenge) || realm === null || realm.protocol !== `${readScheme(realm.host)}:`) {
    throw new Error('the registry requires credentials of an unknown kind');
  }
  for (const name of ['service', 'scope']) {
    const value = parameters.get(name);
    if (value !== undefined) realm.searchParams.set(name, value);
  }
  const found: { token?: unknown; access_token?: unknown } = JSON.parse(
    await (await fetchOk(realm.href, { method: 'GET', authorization: undefined })).text(),
  );
  return `Bearer ${found.token ?? found.access_token}`;
}

/** Uses plain HTTP only for a registry on this machine, as Docker does. */
function readScheme(host: string): 'http' | 'https' {
  return /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(host) ? 'http' : 'https';
}

/** An `image:` line of a YAML file with an exact tag and without a digest. */
const IMAGE = /^(\s+image: )([^\s@{}]+:[\w.-]+)$/gm;

type Pinned = {
  readonly text: string;
  readonly pinned: readonly string[];
  /** Reasons why images have no digest, one line each. */
  readonly unpinned: readonly string[];
};

/**
 * Adds the digest that `findDigest` resolves to, to each image of a compose file. An image without a digest keeps only its
 * tag.
 */
export async function pinImages(
  text: string,
  findDigest: (image: string) => Promise<string>,
): Promise<Pinned> {
  const images = [...new Set([...text.matchAll(IMAGE)].map(([, , image = '']) => image))];
  const found = await Promise.allSettled(images.map(findDigest));
  const digests = new Map(
    found.flatMap((result, index) =>
      result.status === 'fulfilled' ? [[images[index] ?? '', result.value] as const] : [],
    ),
  );
  return {
    text: text.replaceAll(IMAGE, (line, start: string, image: string) => {
      const digest = digests.get(image);
      return digest === undefined ? line : `${start}${image}@${digest}`;
    }),
    pinned: images.filter((image) => digests.has(image)),
    unpinned: found.flatMap((result, index) =>
      result.status === 'rejected' ? [`${images[index]}: ${readReason(result.reason)}`] : [],
    ),
  };
}

function readReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

type ChartImages = { readonly version: string; readonly registry: string };

/** Returns values of the chart with the digests of this version's images. */
export async function chartValues(
  { version, registry }: ChartImages,
  findDigest: (image: string) => Promise<string>,
): Promise<string> {
  const lines = async (name: string): Promise<readonly string[]> => [
    `repository: ${registry}/${name}`,
    `tag: '${version}'`,
    `digest: ${await findDigest(`${registry}/${name}:${version}`)}`,
  ];
  const [service, worker] = await Promise.all([lines('rtc-service'), lines('rtc-service-worker')]);
  return [
    `# The images of rtc-service ${version}: helm install … --values this-file`,
    ...['image:', ...service.map((line) => `  ${line}`)],
    ...['workers:', '  image:', ...worker.map((line) => `    ${line}`)],
    '',
  ].join('\n');
}
