import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goEnvironment } from '../../scripts/parts/go-toolchain.ts';
import '../support/parts/go.ts';
import { sharedLivekit } from '../support/parts/shared.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* The clients in other languages: their own tests, and calls of the service in front of the real LiveKit. */

const PYTHON = join(import.meta.dirname, '..', '..', 'clients', 'python');
const GO = join(import.meta.dirname, '..', '..', 'clients', 'go');
const run = promisify(execFile);

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ livekit: await sharedLivekit() });
});
afterAll(() => service.close());

const serviceEnvironment = (): NodeJS.ProcessEnv => ({
  RTC_URL: service.url,
  RTC_API_KEY: service.apiKey,
  RTC_API_SECRET: service.apiSecret,
});

describe('the client in Python', () => {
  it.each(['test_vectors.py', 'test_client.py', 'live.py'])('passes %s', async (file) => {
    const env = { ...process.env, ...serviceEnvironment(), PYTHONPATH: PYTHON, PYTHONDONTWRITEBYTECODE: '1' };
    const { stderr } = await run('python3', [join(PYTHON, 'tests', file)], { env });
    expect(stderr).toMatch(/Ran [1-9]\d* tests? in .*\n\nOK\n$/);
  });
});

describe('the client in Go', () => {
  it('is as gofmt writes it and go vet likes it', async () => {
    const env = await goEnvironment();
    expect((await run('gofmt', ['-l', '.'], { env, cwd: GO })).stdout).toBe('');
    await run('go', ['vet', '-tags=live', './...'], { env, cwd: GO });
  });

  it('passes its tests', async () => {
    const env = { ...(await goEnvironment()), ...serviceEnvironment() };
    const { stdout } = await run('go', ['test', '-count=1', '-tags=live', '-v', './...'], { env, cwd: GO });
    for (const test of [
      'TestSignaturesOfDeliveries',
      'TestReadsEveryPage',
      'TestRepeatsAPostUnderTheSameKey',
      'TestLiveRooms',
      'TestLiveLostResponseDoesAPostOnce',
      'TestLiveFiscalCodes',
    ]) {
      expect(stdout).toContain(`--- PASS: ${test} `);
    }
  });
});
