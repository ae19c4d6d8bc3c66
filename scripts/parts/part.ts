import type { GoInstallOptions } from '../../src/server/dev/binaries/go-binary.ts';

/** How a part that has to be built reports and finds what it is built with. */
export type BuildOptions = Pick<GoInstallOptions, 'cacheDir' | 'onProgress' | 'env'>;

/** A program of others that some tests run: a server, a tool, or what such a program is built with. */
export interface Part {
  /** What it is called in messages. */
  readonly name: string;
  /** The test modules that use it, as `file` or `file#export`, relative to the project; see needed-parts.ts. */
  readonly fixtures: readonly string[];
  /** Names of the parts that must be there whenever it runs. */
  readonly runsWith?: readonly string[];
  /** Names of the parts that must be there when it is built, and only then. */
  readonly builtWith?: readonly string[];
  /** What to do by hand on a system that is not prepared by this script. */
  readonly remedy: string;
  readonly isThere: () => Promise<boolean>;
  readonly debianPackages?: readonly string[];
  /** Puts it into the cache; tried after the packages. Throws when it does not succeed. */
  readonly build?: (options: BuildOptions) => Promise<unknown>;
}
