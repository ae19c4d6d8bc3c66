import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApiTools, runProgram } from '../../../support/parts/openapi-tools.ts';
import { type Stage, startStage } from '../../recordings/support/stage.ts';
import { GO_PROGRAM, PYTHON_PROGRAM, TYPESCRIPT_PROGRAM } from './support/generated-clients.ts';

/* Others' tools on the document: linters have no warning, and generated clients work against a live service. */

const SEEN = {
  created: 'generated',
  rooms: ['generated', 'taped'],
  room: 'generated',
  recordings: ['taped'],
  recording: 'stopped',
  webhook: 'https://example.org/hooks/rtc',
  webhooks: 1,
  role: 'wss',
};

describe('tools of others', () => {
  let tools: Awaited<ReturnType<typeof openApiTools>>;
  let stage: Stage;
  let folder: string;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    tools = await openApiTools();
    stage = await startStage({ environment: { LIVEKIT_PUBLIC_URL: 'wss://media.example.org' } });
    folder = await mkdtemp(join(tmpdir(), 'rtc-openapi-'));
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(stage.service.document));
    await writeFile(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n');
    const { url, apiKey, apiSecret } = stage.service;
    const { recordingId } = await stage.recordWhole('taped');
    env = { RTC_URL: url, API_KEY: apiKey, API_SECRET: apiSecret, RECORDING: recordingId };
  });
  afterAll(async () => {
    await stage?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('find nothing to say of the document: Redocly', async () => {
    const { status, output } = await tools.npm('redocly', ['lint', '--format=json', 'openapi.json'], folder);
    expect([status, /"warnings":\s*(\d+)/.exec(output)?.[1]], output).toEqual([0, '0']);
  });

  it('find nothing to say of the document: Spectral', async () => {
    const args = ['lint', '--fail-severity=hint', '--ruleset=.spectral.yaml', 'openapi.json'];
    const { status, output } = await tools.npm('spectral', args, folder);
    expect(status, output).toBe(0);
  });

  it('find nothing to say of the document: openapi-spec-validator', async () => {
    const { status, output } = await tools.python('openapi-spec-validator', ['openapi.json'], folder);
    expect([status, output.trim()]).toEqual([0, 'openapi.json: OK']);
  });

  const closeRoom = () => stage.service.call('DELETE', '/v1/rooms/generated');
  const forgetWebhooks = async () => {
    const { webhooks }: { webhooks: readonly { readonly id: string }[] } = (
      await stage.service.call('GET', '/v1/webhooks')
    ).json;
    for (const { id } of webhooks) await stage.service.call('DELETE', `/v1/webhooks/${id}`);
  };
  const expectSeen = async ({ status, output }: { readonly status: number; readonly output: string }) => {
    expect(status, output).toBe(0);
    expect(JSON.parse(output.trim().split('\n').at(-1) ?? '')).toEqual(SEEN);
    await closeRoom();
    await forgetWebhooks();
  };

  it('make a Python client that creates, lists and reads: openapi-python-client', async () => {
    await writeFile(join(folder, 'config.yml'), 'post_hooks: []\n');
    const args = [
      'generate',
      '--path=openapi.json',
      '--meta=none',
      '--config=config.yml',
      '--output-path=rtc',
    ];
    const { status, output } = await tools.python('openapi-python-client', args, folder);
    expect(status, output).toBe(0);
    await writeFile(join(folder, 'main.py'), PYTHON_PROGRAM);
    const path = { ...env, PYTHONPATH: `${tools.pythonPath}:${folder}` };
    await expectSeen(await runProgram('python3', ['main.py'], { cwd: folder, env: path }));
  });

  it('make a Go client that creates, lists and reads: openapi-generator', async () => {
    const client = join(folder, 'go/rtc');
    await mkdir(client, { recursive: true });
    const { status, output } = await tools.java(
      [
        ...['generate', '-i', 'openapi.json', '-g', 'go', '-o', client],
        '--additional-properties=packageName=rtc,withGoMod=false',
        '--global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false',
      ],
      folder,
    );
    expect(status, output).toBe(0);
    await writeFile(join(folder, 'go/main.go'), GO_PROGRAM);
    await writeFile(
      join(folder, 'go/go.mod'),
      'module example\n\ngo 1.21\n\nrequire gopkg.in/validator.v2 v2.0.1\n',
    );
    const goEnv = {
      cwd: join(folder, 'go'),
      env: { ...env, GOFLAGS: '-mod=mod' },
    };
    await expectSeen(await runProgram('go', ['run', '.'], goEnv));
  });

  it('make types of TypeScript with which requests are typed: openapi-typescript', async () => {
    const { status, output } = await tools.npm(
      'openapi-typescript',
      ['openapi.json', '-o', 'rtc.d.ts'],
      folder,
    );
    expect(status, output).toBe(0);
    await writeFile(join(folder, 'main.ts'), TYPESCRIPT_PROGRAM);
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    const root = join(import.meta.dirname, '../../../..');
    const checked = await runProgram(
      join(root, 'node_modules/.bin/tsc'),
      [
        ...['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--skipLibCheck'],
        ...[
          '--allowImportingTsExtensions',
          '--typeRoots',
          join(root, 'node_modules/@types'),
          '--types',
          'node',
        ],
        'main.ts',
      ],
      { cwd: folder },
    );
    expect(checked.output).toBe('');
    await expectSeen(await runProgram(process.execPath, ['main.ts'], { cwd: folder, env }));
  });
});
