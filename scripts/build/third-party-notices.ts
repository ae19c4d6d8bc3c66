import type { BundledPackage } from './bundled-packages.ts';

/** What is bundled is distributed, and its licences ask to go with it: the text of each package's own. */
export function thirdPartyNotices(packages: readonly BundledPackage[]): string {
  const rule = '-'.repeat(80);
  const noticeOf = ({ name, version, license, licenceText }: BundledPackage): string =>
    `${rule}\n${name} ${version} (${license})\n${rule}\n\n${licenceText}\n`;
  return packages.map(noticeOf).join('\n');
}
