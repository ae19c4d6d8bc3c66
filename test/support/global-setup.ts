/** Starts the real parts that the tests share, once per run. */
export async function setup(): Promise<void> {}
