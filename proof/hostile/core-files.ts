import { readdir, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/** Finds the core files that were written since, in the given folders and in those where the kernel puts them. */
export async function findCoreFiles(
  folders: readonly string[],
  sinceMs: number,
): Promise<readonly (readonly [path: string, bytes: Buffer])[]> {
  const pattern = (await readFile('/proc/sys/kernel/core_pattern', 'utf8').catch(() => 'core')).trim();
  const own = isAbsolute(pattern) ? [dirname(pattern)] : [];
  const usual = [process.cwd(), tmpdir(), '/var/crash', '/var/lib/systemd/coredump'];
  const found: (readonly [string, Buffer])[] = [];
  for (const folder of new Set([...folders, ...own, ...usual])) {
    for (const name of await readdir(folder).catch(() => [])) {
      if (!/^core(\.|$)|\.core$|\.crash$/.test(name)) continue;
      const path = join(folder, name);
      const facts = await stat(path);
      if (facts.isFile() && facts.mtimeMs >= sinceMs) found.push([path, await readFile(path)]);
    }
  }
  return found;
}
