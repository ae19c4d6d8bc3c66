import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MissingPackagesError, requireNativePackages } from '../../src/server/app/native-packages.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rtc-native-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Makes the package's folder as npm lays it out. */
async function install(name: string, { isProject }: { readonly isProject: boolean }): Promise<string> {
  const root = join(directory, name, 'node_modules', 'rtc-service');
  await mkdir(root, { recursive: true });
  if (isProject) await writeFile(join(directory, name, 'package.json'), '{}');
  const peerDependencies = { '@livekit/rtc-node': '1.2.3', 'sherpa-onnx-node': '4.5.6' };
  await writeFile(join(root, 'package.json'), JSON.stringify({ peerDependencies }));
  return root;
}

const nothing = { isInstalled: () => false };

describe('the packages of the workers and of rtc rooms join', () => {
  it('are found in a checkout', () => {
    expect(() => requireNativePackages('rtc rooms join')).not.toThrow();
    expect(() => requireNativePackages('stt-live')).not.toThrow();
    expect(() => requireNativePackages('stt-post')).not.toThrow();
  });

  it('are named for a live worker with the command for a global installation and its size', async () => {
    const root = await install('global', { isProject: false });
    expect(() => requireNativePackages('stt-live', { ...nothing, root })).toThrow(
      new MissingPackagesError(
        'stt-live needs packages that are not installed: @livekit/rtc-node, sherpa-onnx-node',
        {
          text: 'install 65 MB with',
          command: 'npm install -g @livekit/rtc-node@1.2.3 sherpa-onnx-node@4.5.6',
        },
      ),
    );
  });

  it('are only those of rooms for rtc rooms join', async () => {
    const root = await install('joiner', { isProject: false });
    expect(() => requireNativePackages('rtc rooms join', { ...nothing, root })).toThrow(
      new MissingPackagesError('rtc rooms join needs a package that is not installed: @livekit/rtc-node', {
        text: 'install 32 MB with',
        command: 'npm install -g @livekit/rtc-node@1.2.3',
      }),
    );
  });

  it('are only those of speech for a worker that reads recordings', async () => {
    const root = await install('project', { isProject: true });
    expect(() => requireNativePackages('stt-post', { ...nothing, root })).toThrow(
      new MissingPackagesError('stt-post needs a package that is not installed: sherpa-onnx-node', {
        text: 'install 33 MB with',
        command: 'npm install sherpa-onnx-node@4.5.6',
      }),
    );
  });

  it('are installed with the checkout when they were left out of it', async () => {
    const root = join(directory, 'checkout');
    await mkdir(root);
    await writeFile(join(root, 'package.json'), '{"private":true}');
    const isInstalled = (name: string): boolean => name === '@livekit/rtc-node';
    expect(() => requireNativePackages('stt-live', { isInstalled, root })).toThrow(
      'stt-live needs a package that is not installed: sherpa-onnx-node. Install 33 MB with: npm ci',
    );
  });
});
