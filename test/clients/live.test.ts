import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goEnvironment } from '../../scripts/parts/go-toolchain.ts';
import { type Block, blocksIn } from '../docs/support/blocks.ts';
import '../support/parts/go.ts';
import { sharedLivekit } from '../support/parts/shared.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Runs the tests of the Python and Go clients, and lets the clients call the service with the real LiveKit. */

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
  it('is formatted by gofmt and accepted by go vet', async () => {
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

/** Returns the code blocks of a client's readme. */
function readReadme(client: 'python' | 'go'): readonly string[] {
  const isItsOwn = ({ page }: Block): boolean => page === `clients/${client}/README.md`;
  return blocksIn(client).flatMap(([, block]) => (isItsOwn(block) ? [block.code] : []));
}

const indented = (code: string): string => code.replaceAll(/^(?=.)/gm, '    ');

describe('the readmes of the clients', () => {
  it('have programs in Python that run', async () => {
    const [calls = '', webhook = ''] = readReadme('python');
    const program = `
import os
from types import SimpleNamespace
from rtc_service import Client

api_key, api_secret = os.environ["RTC_API_KEY"], os.environ["RTC_API_SECRET"]
# It would follow without an end.
Client.follow_events = lambda self, **_: iter(())
${calls.replace('"http://127.0.0.1:3000"', 'os.environ["RTC_URL"]')}

def view(request, secret):
${indented(webhook)}

assert view(SimpleNamespace(get_data=lambda: b"{}", headers={}), "whsec_c2VjcmV0") == ("", 401)
`;
    const env = {
      ...process.env,
      ...serviceEnvironment(),
      PYTHONPATH: PYTHON,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const { stdout } = await run('python3', ['-c', program], { env });
    expect(stdout).toMatch(/^demo 0$/m);
    expect(stdout).toMatch(/^404 room-not-found /m);
  });

  it('have programs in Go that compile', async () => {
    const [calls, webhook] = readReadme('go');
    const program = `package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"example.org/rtc"
)

func calls(ctx context.Context, apiKey, apiSecret string) error {
${calls}
	_, _, _ = room, token, err
	return nil
}

func webhook(w http.ResponseWriter, r *http.Request, secret string) {
${webhook}
}

func main() {
	_ = calls(context.Background(), "", "")
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { webhook(w, r, "") })
	_, _ = io.Discard, time.Now
	fmt.Println()
}
`;
    const folder = await mkdtemp(join(tmpdir(), 'rtc-go-readme-'));
    try {
      const { stdout } = await run('go', ['list', '-m'], { env: await goEnvironment(), cwd: GO });
      const name = stdout.trim();
      await writeFile(join(folder, 'main.go'), program.replace('"example.org/rtc"', `rtc "${name}"`));
      const module = `module readme\n\ngo 1.23\n\nrequire ${name} v0.0.0\n\nreplace ${name} => ${GO}\n`;
      await writeFile(join(folder, 'go.mod'), module);
      await run('go', ['vet', '.'], { env: await goEnvironment(), cwd: folder });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
