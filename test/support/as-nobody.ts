/** A user without rights. */
const NOBODY_UID = 65534;

/** Runs `work` without the rights of root, who may write everywhere. */
export async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(NOBODY_UID);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
