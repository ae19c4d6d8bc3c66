import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeFiscalIndex } from '../../../scripts/build/fiscal.ts';

const root = new URL('../../../', import.meta.url);
/** The other libraries are installed in their own cache folder. The package does not depend on them. */
export const workspace = fileURLToPath(new URL('.cache/bench-fiscal/', root));

const PEERS = {
  'codice-fiscale-js': '2.4.0',
  '@marketto/codice-fiscale-utils': '3.1.3',
  '@marketto/belfiore-connector-embedded': '1.2.1',
};

export const peerUrl = (path: string): string => pathToFileURL(`${workspace}node_modules/${path}`).href;

export const installPeers = (): void => {
  mkdirSync(workspace, { recursive: true });
  const manifest = { private: true, type: 'module', dependencies: PEERS };
  writeFileSync(`${workspace}package.json`, JSON.stringify(manifest));
  if (Object.keys(PEERS).every((name) => existsSync(`${workspace}node_modules/${name}/package.json`))) return;
  const npm = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: workspace,
    stdio: 'inherit',
  });
  if (npm.status !== 0) throw new Error('the peers could not be installed');
};

/** Builds the package as its users load it, without packing it. */
export const buildLibrary = async (): Promise<string> => {
  const folder = `${workspace}fiscal/`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}package.json`, JSON.stringify({ private: true, type: 'module' }));
  await writeFiscalIndex(folder);
  return `${folder}index.js`;
};
