declare module 'postject' {
  /** Injects `data` into the executable as the resource `name`, and marks that it is present. */
  export function inject(
    program: string,
    name: string,
    data: Buffer,
    options: { readonly sentinelFuse: string },
  ): Promise<void>;
}
