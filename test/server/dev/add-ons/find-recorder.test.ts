import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findRecorderProgram, RECORDER_IMAGE } from '../../../../src/server/dev/add-ons/recorder.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-recorder-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function install(name: string, script = 'exit 0'): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const find = (set: Readonly<Record<string, string>> = {}) => findRecorderProgram({ PATH: folder, ...set });

describe('the recorder of rtc dev', () => {
  it('is EGRESS_PROGRAM, whatever is on PATH', async () => {
    const path = await install('egress');
    const program = { kind: 'program', name: 'egress', path };
    expect(await find({ EGRESS_PROGRAM: path, PATH: '/nowhere' })).toEqual(program);
  });

  it('has the name by which it starts itself again for each recording', async () => {
    const path = await install('my-egress');
    await expect(find({ EGRESS_PROGRAM: path })).rejects.toMatchObject({
      reason: expect.stringContaining('is not a program called egress'),
    });
  });

  it('is not searched elsewhere when EGRESS_PROGRAM cannot be run', async () => {
    await install('egress');
    await expect(find({ EGRESS_PROGRAM: '/nowhere/egress' })).rejects.toMatchObject({
      reason: 'EGRESS_PROGRAM is "/nowhere/egress", which is not a program called egress',
    });
  });

  it('is preferably a program on PATH, and otherwise a container', async () => {
    await install('docker');
    const path = await install('egress');
    expect(await find()).toEqual({ kind: 'program', name: 'egress', path });
  });

  it.each(['darwin', 'win32'] as const)(
    'is not a container on %s, where it would run in a virtual machine',
    async (platform) => {
      await install('docker');
      await install('docker.exe');
      await expect(findRecorderProgram({ PATH: folder }, platform)).rejects.toMatchObject({
        reason: "LiveKit's egress worker is not on PATH",
      });
      expect(await findRecorderProgram({ PATH: folder }, 'linux')).toMatchObject({ kind: 'container' });
    },
  );

  it('is missing where there is neither program nor container engine', async () => {
    await expect(find()).rejects.toMatchObject({
      reason: "LiveKit's egress worker is not on PATH",
      hint: { command: 'rtc help recorder' },
    });
  });
});

// On other platforms, containers run in a virtual machine.
describe.runIf(process.platform === 'linux')('the recorder of rtc dev in a container', () => {
  it.each(['docker', 'podman'])('is the image that %s has', async (engine) => {
    const path = await install(engine);
    expect(await find()).toEqual({ kind: 'container', name: engine, path, image: RECORDER_IMAGE });
  });

  it('is missing when the image would have to be downloaded, which is left to the user', async () => {
    await install('docker', '[ "$1" = info ]');
    await expect(find()).rejects.toMatchObject({
      reason: expect.stringContaining('docker does not have its image'),
      hint: { command: `docker pull ${RECORDER_IMAGE}` },
    });
  });

  it('is missing when the engine does not respond', async () => {
    await install('docker', 'exit 1');
    await expect(find()).rejects.toMatchObject({
      reason: expect.stringContaining('docker does not respond'),
    });
  });

  it('has the version in compose.yaml', () => {
    const compose = readFileSync(join(import.meta.dirname, '../../../../compose.yaml'), 'utf8');
    expect(compose).toContain(`image: ${RECORDER_IMAGE}\n`);
  });
});
