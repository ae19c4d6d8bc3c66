import { writeFiscalIndex } from './fiscal.ts';
import { writeBundle } from './output.ts';

/** Packages of a library stay outside of its bundle. node: and npm names do not start with a dot or a slash. */
const isPackage = (id: string): boolean => !id.startsWith('.') && !id.startsWith('/');

/** Bundles the libraries. They contain only our own modules. */
export async function buildLibraries(out: string): Promise<readonly string[]> {
  for (const name of ['client', 'contract']) {
    // One bundle at a time, because a shared chunk would make the client load what only the contract needs.
    await writeBundle(
      {
        input: { index: `src/${name}/index.ts` },
        platform: name === 'contract' ? 'node' : 'neutral',
        external: isPackage,
      },
      { dir: `${out}/${name}` },
    );
  }
  await writeFiscalIndex(`${out}/fiscal`);
  return [];
}
