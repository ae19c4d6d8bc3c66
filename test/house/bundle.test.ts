import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { DIST } from '../support/parts/built.ts';

const read = (path: string): Promise<string> => readFile(`${DIST}${path}`, 'utf8');

type Component = {
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly unknown[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
};
type Sbom = {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
};

const sbom = JSON.parse(await read('sbom.cdx.json')) as Sbom;
const notices = await read('THIRD-PARTY-NOTICES');

/** The titles of the packages with a text, and the text. */
const sections = [
  ...notices.matchAll(
    /^-{80}\n((?:[^-].*\n)+)-{80}\n\n([\s\S]*?)(?=\n-{80}\n(?:[^-].*\n)+-{80}\n|$(?![\s\S]))/gm,
  ),
];

describe('the list of bundled packages', () => {
  test('has each package once, with its licence and the hash of the lock file', () => {
    expect([sbom.bomFormat, sbom.specVersion]).toEqual(['CycloneDX', '1.6']);
    expect(sbom.components.length).toBeGreaterThan(50);
    const purls = sbom.components.map(({ purl }) => purl);
    expect(new Set(purls).size).toBe(purls.length);
    for (const { licenses, hashes } of sbom.components) {
      expect(licenses).toHaveLength(1);
      expect(hashes?.[0]?.content).toMatch(/^[0-9a-f]{128}$/);
    }
    expect(sbom.dependencies[0]?.dependsOn).toEqual(purls);
  });

  test.each(['fastify', 'undici', '@redis/client', '@bufbuild/protobuf', 'commander', 'pg', 'typebox'])(
    'has %s',
    (name) => {
      const names = sbom.components.map((entry) => (entry.group ? `${entry.group}/` : '') + entry.name);
      expect(names.filter((other) => other === name)).toEqual([name]);
    },
  );

  test('has a complete licence text for each package', () => {
    const titles = sections
      .flatMap(([, lines = '']) => lines.trim().split('\n'))
      .map((title) => title.replace(/ \(.*$/, ''));
    const listed = sbom.components.map(
      ({ group, name, version }) => `${group ? `${group}/` : ''}${name} ${version}`,
    );
    expect(titles.toSorted()).toEqual(listed.toSorted());
    expect(new Set(sections.map(([, , text]) => text)).size).toBe(sections.length);
    for (const [, title, text = ''] of sections) {
      expect(text.length, title).toBeGreaterThan(400);
      expect(text, title).toMatch(/WITHOUT WARRANTY|WITHOUT WARRANTIES|DISCLAIMS ALL WARRANTIES|AS IS/i);
    }
  });

  test('has undici once, which the command line and the service share', async () => {
    const files = (await readdir(DIST, { recursive: true })).filter((file) => file.endsWith('.js'));
    const texts = await Promise.all(files.map(async (file) => ({ file, text: await read(file) })));
    // The beginning of undici's HTTP parser, a WebAssembly module in base64.
    const withParser = texts.filter(({ text }) => text.includes('AGFzbQEAAAAB'));
    expect(withParser.map(({ file }) => file.replace(/-[\w-]+\.js$/, ''))).toEqual(['undici/chunks/agent']);
    const importers = texts.filter(({ text }) => text.includes('undici/agent.js"'));
    expect(new Set(importers.map(({ file }) => file.split('/')[0]))).toEqual(new Set(['cli', 'server']));
    expect(texts.filter(({ text }) => text.includes('undici-part:'))).toEqual([]);
  });
});
