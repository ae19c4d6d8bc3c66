import type { BundledPackage } from './bundled-packages.ts';

/**
 * The licences of bundled packages require that their texts are distributed with them. Returns the text of each package.
 */
export function thirdPartyNotices(packages: readonly BundledPackage[]): string {
  const rule = '-'.repeat(80);
  const noticeOf = ({ name, version, license, licenceText }: BundledPackage): string =>
    `${rule}\n${name} ${version} (${license})\n${rule}\n\n${licenceText}\n`;
  return packages.map(noticeOf).join('\n');
}
