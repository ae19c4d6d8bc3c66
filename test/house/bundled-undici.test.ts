import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { buildUndici } from '../../scripts/build/undici.ts';

const SOURCES = join(import.meta.dirname, '../../src');

/** Returns the names that the sources import from undici as values: `import { type Dispatcher, Pool } from 'undici'`. */
function importedNames(): readonly string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const lists = files.flatMap((file) => {
    const code = readFileSync(join(SOURCES, file), 'utf8');
    const imports = code.matchAll(/(?:import|const) \{([^}]*)\} (?:from|= await import\() ?'undici'/g);
    return [...imports].map(([, names = '']) => names);
  });
  const names = lists.flatMap((list) => list.split(',')).map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== '' && !name.startsWith('type ')))];
}

it('the bundled undici exports every name that the sources import', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rtc-undici-'));
  try {
    await buildUndici(folder);
    const parts = ['agent', 'proxy'].map(
      (part) => import(pathToFileURL(join(folder, `undici/${part}.js`)).href),
    );
    const exported = (await Promise.all(parts)).flatMap((part) => Object.keys(part));
    const names = importedNames();
    expect(names).toContain('Agent');
    expect(names.filter((name) => !exported.includes(name))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
