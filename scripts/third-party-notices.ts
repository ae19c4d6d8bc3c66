import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/*
 * What is bundled is distributed: its licences ask to go with it. Of every package that has a module in a bundle:
 * its name, version, licence, and the text of its licence and notice files.
 */

type Manifest = { readonly name?: string; readonly version?: string; readonly license?: string };

export function thirdPartyNotices(moduleIds: Iterable<string>): string {
  const roots = new Set([...moduleIds].flatMap((id) => packageRoot(id) ?? []));
  const entries = [...roots].map(noticeOf).toSorted((a, b) => (a.title < b.title ? -1 : 1));
  const unique = new Map(entries.map((entry) => [entry.title, entry.text]));
  const rule = '-'.repeat(80);
  return [...unique].map(([title, text]) => `${rule}\n${title}\n${rule}\n\n${text}\n`).join('\n');
}

/** The nearest folder above with a named manifest: inner ones only tell the module format. */
function packageRoot(id: string): string | undefined {
  if (!id.includes('/node_modules/')) return undefined;
  for (
    let folder = dirname(id.split('?')[0] ?? id);
    folder.includes('/node_modules/');
    folder = dirname(folder)
  ) {
    if (existsSync(join(folder, 'package.json')) && manifestOf(folder).name !== undefined) return folder;
  }
  return undefined;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

function noticeOf(folder: string): { readonly title: string; readonly text: string } {
  const { name, version, license } = manifestOf(folder);
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  const texts = files.toSorted().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return { title: `${name} ${version} (${license ?? 'see below'})`, text: texts.join('\n\n') };
}
