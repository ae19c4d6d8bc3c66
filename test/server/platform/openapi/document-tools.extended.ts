import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStore } from '../../../../src/server/app/create-store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import { systemClock } from '../../../../src/server/platform/clock.ts';
import { collectingLog } from '../../../support/app.ts';
import { openApiTools, runProgram } from '../../../support/parts/openapi-tools.ts';
import { type Stage, startStage } from '../../recordings/support/stage.ts';
import { chooseServicePort } from '../../webhooks/support/hooked-service.ts';
import { type Receiver, startReceiver } from '../../webhooks/support/receiver.ts';
import { GO_PROGRAM, PYTHON_PROGRAM, TYPESCRIPT_PROGRAM } from './support/generated-clients.ts';
import { startWorkers } from './support/scenario.ts';

/* Third-party tools read the document: linters have no warnings, and generated clients work with a live service. */

/** The expected output of each program: every noun is created, listed and read. */
const seenWith = (receiver: Receiver) => ({
  created: 'generated',
  rooms: ['generated', 'taped'],
  room: 'generated',
  participants: ['ada'],
  events: [
    ['participant_joined', 'ada'],
    ['track_published', 'ada'],
  ],
  recordings: ['taped'],
  recording: 'stopped',
  ingress: 'Camera 1',
  ingresses: [true],
  live: true,
  transcriptions: [true],
  transcription: [true, 'queued'],
  webhook: receiver.url,
  webhooks: 1,
  delivered: true,
  deliveries: [['webhook_test', 'delivered', 200]],
  token: 'wss',
  code: 'RSSMRA80B01H501T',
  valid: true,
  decoded: 'ROMA',
  regions: 20,
  provinces: true,
  cities: true,
  caps: [19],
  found: 'TIVOLI',
});

describe('third-party tools', () => {
  let tools: Awaited<ReturnType<typeof openApiTools>>;
  let stage: Stage;
  let receiver: Receiver;
  let store: Store;
  let folder: string;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    tools = await openApiTools();
    folder = await mkdtemp(join(tmpdir(), 'rtc-openapi-'));
    receiver = await startReceiver();
    const { port, webhookUrl } = await chooseServicePort();
    const data = { DATA_DIR: folder, PORT: String(port) };
    stage = await startStage({
      environment: { ...data, LIVEKIT_PUBLIC_URL: 'wss://media.example.org' },
      media: { webhookUrls: [webhookUrl], ingressUrls: { rtmp: 'rtmp://127.0.0.1:1935/live' } },
    });
    store = await openStore({
      database: { sqlitePath: join(folder, 'rtc.sqlite') },
      clock: systemClock,
      log: collectingLog([]),
    });
    await startWorkers(store);
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(stage.service.document));
    await writeFile(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n');
    const { url, apiKey, apiSecret } = stage.service;
    const { recordingId } = await stage.recordWhole('taped');
    env = {
      ...{ RTC_URL: url, API_KEY: apiKey, API_SECRET: apiSecret },
      ...{ RECORDING: recordingId, RECEIVER: receiver.url },
    };
    await vi.waitUntil(async () => (await listed('/v1/events?types=track_published', 'events')).length > 0, {
      timeout: 60_000,
    });
  });
  afterAll(async () => {
    await store?.close();
    await stage?.close();
    await receiver?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('have no findings in the document: Redocly', async () => {
    const { status, output } = await tools.npm('redocly', ['lint', '--format=json', 'openapi.json'], folder);
    expect([status, /"warnings":\s*(\d+)/.exec(output)?.[1]], output).toEqual([0, '0']);
  });

  it('have no findings in the document: Spectral', async () => {
    const args = ['lint', '--fail-severity=hint', '--ruleset=.spectral.yaml', 'openapi.json'];
    const { status, output } = await tools.npm('spectral', args, folder);
    expect(status, output).toBe(0);
  });

  it('have no findings in the document: openapi-spec-validator', async () => {
    const { status, output } = await tools.python('openapi-spec-validator', ['openapi.json'], folder);
    expect([status, output.trim()]).toEqual([0, 'openapi.json: OK']);
  });

  const listed = async (path: string, name: string): Promise<readonly { readonly [id: string]: string }[]> =>
    (await stage.service.call('GET', path)).json[name];
  const remove = (path: string) => stage.service.call('DELETE', path);
  afterEach(async () => {
    await remove('/v1/rooms/generated');
    for (const { id } of await listed('/v1/webhooks', 'webhooks')) await remove(`/v1/webhooks/${id}`);
    for (const { ingressId } of await listed('/v1/rooms/taped/ingress', 'ingress'))
      await remove(`/v1/rooms/taped/ingress/${ingressId}`);
    for (const { transcriptionId } of await listed('/v1/transcriptions', 'transcriptions'))
      await remove(`/v1/transcriptions/${transcriptionId}`);
  });
  const expectSeen = async ({ status, output }: { readonly status: number; readonly output: string }) => {
    expect(status, output).toBe(0);
    expect(JSON.parse(output.trim().split('\n').at(-1) ?? '')).toEqual(seenWith(receiver));
  };

  it('generate a Python client that creates, lists and reads: openapi-python-client', async () => {
    const config = 'post_hooks: []\ncontent_type_overrides:\n  video/mp4: application/octet-stream\n';
    await writeFile(join(folder, 'config.yml'), config);
    const args = [
      'generate',
      '--path=openapi.json',
      '--meta=none',
      '--config=config.yml',
      '--output-path=rtc',
    ];
    const { status, output } = await tools.python('openapi-python-client', args, folder);
    expect([status, output.trim()]).toEqual([0, 'Generating rtc']);
    await writeFile(join(folder, 'main.py'), PYTHON_PROGRAM);
    const path = { ...env, PYTHONPATH: `${tools.pythonPath}:${folder}` };
    await expectSeen(await runProgram('python3', ['main.py'], { cwd: folder, env: path }));
  });

  it('generate a Go client that creates, lists and reads: openapi-generator', async () => {
    const client = join(folder, 'go/rtc');
    await mkdir(client, { recursive: true });
    const { status, output } = await tools.java(
      [
        ...['generate', '-i', 'openapi.json', '-g', 'go', '-o', client],
        '--additional-properties=packageName=rtc,withGoMod=false,useOneOfDiscriminatorLookup=true',
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

  it('generate TypeScript types for requests: openapi-typescript', async () => {
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
