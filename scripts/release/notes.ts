/** The released version, and its section of the changelog. */
export type Release = { readonly version: string; readonly notes: string };

/**
 * Reads the section of package.json's version in the changelog. If there is none, reads `Unreleased`, which gets the
 * version when it is released.
 *
 * @throws an error if the changelog has no text about the version.
 */
export function readRelease(version: string, changelog: string): Release {
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
    throw new Error(`${version} is no semantic version`);
  const sections = changelog.split(/^## /m).slice(1);
  const own = sections.find(
    (section) => section.startsWith(`${version} `) || section.startsWith(`[${version}]`),
  );
  const section = own ?? sections.find((each) => each.startsWith('Unreleased'));
  const notes = section?.split('\n').slice(1).join('\n').trim() ?? '';
  if (notes === '') throw new Error(`CHANGELOG.md says nothing about ${version}`);
  return { version, notes };
}
