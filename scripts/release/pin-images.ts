/** An `image:` of a YAML file by an exact tag, with no digest yet. */
const IMAGE = /^(\s+image: )([^\s@{}]+:[\w.-]+)$/gm;

export type Pinned = {
  readonly text: string;
  readonly pinned: readonly string[];
  /** Why an image has its tag alone, one line each. */
  readonly unpinned: readonly string[];
};

/** Adds to each image of a compose file the digest that `findDigest` resolves to; one that is not found keeps its tag alone. */
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
      result.status === 'rejected' ? [`${images[index]}: ${reasonOf(result.reason)}`] : [],
    ),
  };
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

export type ChartImages = { readonly version: string; readonly registry: string };

/** Values of the chart that name the images of this version by their digests. */
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
