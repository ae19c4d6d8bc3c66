import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { developmentCredentials } from '../../../src/server/dev/credentials.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function project(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-dev-'));
  folders.push(folder);
  return folder;
}

describe('the credentials of development', () => {
  it('are generated once, for their owner alone', async () => {
    const dataDir = join(await project(), '.rtc');
    const made = await developmentCredentials({}, dataDir);
    expect(made.areNew).toBe(true);
    expect((await stat(join(dataDir, 'credentials.json'))).mode & 0o777).toBe(0o600);
    expect(await developmentCredentials({}, dataDir)).toEqual({ ...made, areNew: false });
  });

  it("are two pairs, so that the media server's pair reveals nothing of our API's", async () => {
    const { service, mediaServer } = await developmentCredentials({}, await project());
    expect(service.apiKey).not.toBe(mediaServer.apiKey);
    expect(service.apiSecret).not.toBe(mediaServer.apiSecret);
    expect(service.apiSecret.length).toBeGreaterThanOrEqual(32);
    expect(mediaServer.apiSecret.length).toBeGreaterThanOrEqual(32);
  });

  it('keep the pair of an earlier version, and add one for the media server', async () => {
    const dataDir = await project();
    const file = join(dataDir, 'credentials.json');
    const earlier = { apiKey: 'devkey', apiSecret: 'secret-of-an-earlier-version' };
    await writeFile(file, JSON.stringify(earlier), { mode: 0o600 });
    const upgraded = await developmentCredentials({}, dataDir);
    expect(upgraded).toMatchObject({ service: earlier, areNew: false });
    expect(upgraded.mediaServer).not.toEqual(earlier);
    expect(await developmentCredentials({}, dataDir)).toEqual(upgraded);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('use the pairs of the environment, and store neither of them', async () => {
    const dataDir = await project();
    const service = { API_KEY: 'a', API_SECRET: 'secret-of-the-service' };
    const mediaServer = { LIVEKIT_API_KEY: 'b', LIVEKIT_API_SECRET: 'secret-of-livekit' };
    expect(await developmentCredentials({ ...service, ...mediaServer }, dataDir)).toEqual({
      service: { apiKey: 'a', apiSecret: 'secret-of-the-service' },
      mediaServer: { apiKey: 'b', apiSecret: 'secret-of-livekit' },
      areNew: false,
    });
    expect(await readdir(dataDir)).toEqual([]);
    await developmentCredentials(service, dataDir);
    expect(await readFile(join(dataDir, 'credentials.json'), 'utf8')).not.toContain('secret-of-the-service');
  });

  it('reject half a pair by name', async () => {
    const half = { LIVEKIT_API_KEY: 'b' };
    await expect(developmentCredentials(half, await project())).rejects.toThrow(
      'Only one of LIVEKIT_API_KEY and LIVEKIT_API_SECRET is set. Set both or neither.',
    );
  });

  it('are ignored by git in a project with the default folder', async () => {
    const dataDir = join(await project(), '.rtc');
    await developmentCredentials({}, dataDir);
    expect(await readFile(join(dataDir, '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('leave an existing .gitignore as it is', async () => {
    const dataDir = join(await project(), '.rtc');
    await mkdir(dataDir);
    await writeFile(join(dataDir, '.gitignore'), 'mine\n');
    await developmentCredentials({}, dataDir);
    expect(await readFile(join(dataDir, '.gitignore'), 'utf8')).toBe('mine\n');
  });

  it('add no .gitignore to a folder that was chosen, because it may be a project itself', async () => {
    const dataDir = await project();
    await developmentCredentials({}, dataDir);
    expect(await readdir(dataDir)).toEqual(['credentials.json']);
  });
});
