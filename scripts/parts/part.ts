import type { GoInstallOptions } from '../../src/server/dev/binaries/go-binary.ts';

/** Options for building a part: how to report progress, and where the build tools are. */
export type BuildOptions = Pick<GoInstallOptions, 'cacheDir' | 'onProgress' | 'env'>;

/** A third-party program that some tests run: a server or a tool. Also a program that is needed to build one. */
export interface Part {
  /** Its name in messages. */
  readonly name: string;
  /** The test modules that use it, as `file` or `file#export`, relative to the project. See needed-parts.ts. */
  readonly fixtures: readonly string[];
  /** Names of the parts that must be installed whenever it runs. */
  readonly runsWith?: readonly string[];
  /** Names of the parts that must be installed when it is built, and only then. */
  readonly builtWith?: readonly string[];
  /** Instructions for a system on which this script cannot install it. */
  readonly instructions: string;
  readonly isInstalled: () => Promise<boolean>;
  readonly debianPackages?: readonly string[];
  /** Builds it into the cache, if the system's packages do not have it. Throws if that fails. */
  readonly build?: (options: BuildOptions) => Promise<unknown>;
}
