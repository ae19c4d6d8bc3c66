/** An `image:` line of a YAML file with an exact tag and without a digest. */
const IMAGE = /^(\s+image: )([^\s@{}]+:[\w.-]+)$/gm;

export type Pinned = {
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

export type ChartImages = { readonly version: string; readonly registry: string };

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
