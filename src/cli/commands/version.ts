import manifest from '../../../package.json' with { type: 'json' };
import { defineCommand, flag, ofNoun } from '../framework/parameters.ts';
import type { BillOfMaterials } from '../terminal/io.ts';
import { type Column, list, text } from '../terminal/result.ts';

type BundledPackage = { readonly name: string; readonly version: string; readonly licence: string };

const COLUMNS: readonly Column<BundledPackage>[] = [
  { heading: 'NAME', value: ({ name }) => name, paint: 'name' },
  { heading: 'VERSION', value: ({ version }) => version },
  { heading: 'LICENCE', value: ({ licence }) => licence },
];

const version = defineCommand({
  summary: 'Print the versions of rtc and Node',
  description:
    'With --bundled it lists the third-party packages that are part of rtc. The licence texts are in dist/THIRD-PARTY-NOTICES, the CycloneDX bill of materials in dist/sbom.cdx.json.',
  needs: 'nothing',
  fields: ['version', 'node', 'platform', 'arch', 'name', 'licence'],
  options: {
    bundled: flag('--bundled', 'list the packages that are bundled, with their versions and licences'),
  },
  examples: [
    { line: 'rtc version', does: 'For people' },
    { line: 'rtc version --json version', does: 'For scripts' },
    { line: 'rtc version --bundled', does: 'What is in it' },
  ],
  async run({ io }, { bundled }) {
    if (bundled) {
      const packages = listPackages(await io.loaders.bundled());
      return list({
        response: { packages },
        records: packages,
        columns: COLUMNS,
        identify: ({ name, version: ofPackage }) => `${name}@${ofPackage}`,
        empty: 'Nothing is bundled.',
      });
    }
    const response = { version: manifest.version, ...io.runtime };
    return text(`rtc ${response.version} (Node ${response.node}, ${response.platform}-${response.arch})`, {
      response,
    });
  },
});

function listPackages({ components }: BillOfMaterials): readonly BundledPackage[] {
  return components.map(({ group, name, version: ofPackage, licenses }) => ({
    name: group === undefined ? name : `${group}/${name}`,
    version: ofPackage,
    licence: licenses
      .map((entry) => ('license' in entry ? entry.license.id : entry.expression))
      .join(' AND '),
  }));
}

export const commands = ofNoun('version', [version]);
