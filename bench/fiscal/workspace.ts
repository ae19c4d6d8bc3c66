import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const root = new URL('../../', import.meta.url);
/** Peers are compared with, never depended on: they live in a cache folder of their own. */
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

/** The library as its users load it: one JavaScript file. */
export const buildLibrary = async (): Promise<string> => {
  const bundle = await rolldown({ input: fileURLToPath(new URL('src/fiscal/index.ts', root)) });
  const file = `${workspace}fiscal.js`;
  await bundle.write({ file, format: 'esm' });
  await bundle.close();
  return file;
};
