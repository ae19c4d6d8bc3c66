import { beforeEach, describe, expect, it } from 'vitest';
import { downloadLine } from '../../../src/cli/commands/stt/commands.ts';
import type { ModelInstallation, SpeechModel } from '../../../src/contract/launcher.ts';
import { listModels } from '../../../src/server/stt.ts';
import { type RunOptions, run } from '../support/run.ts';

const NO_FIGURES = { memoryBytes: null, speed: null, errorRates: [] } as const;

const MODELS: readonly SpeechModel[] = [
  {
    ...NO_FIGURES,
    memoryBytes: 136_000_000,
    speed: { realTimeFactor: 0.03, threads: 1, machine: null, source: null },
    ...{ name: 'small-en', status: 'installed', languages: ['en'], licence: 'MIT', about: 'Small, English' },
    ...{ downloadBytes: 85_000_000, diskBytes: null, accuracy: 'https://a.example', isVerifiable: true },
    folder: '/cache/models/small-en',
  },
  {
    ...NO_FIGURES,
    speed: { realTimeFactor: 0.0284, threads: 2, machine: 'Raspberry Pi 4', source: 'https://d.example' },
    errorRates: [
      { percent: 1.95, unit: 'words', test: 'Libri (English)', source: 'https://e.example' },
      { percent: 4.75, unit: 'characters', test: 'MLS (French)', source: 'https://f.example' },
    ],
    ...{ name: 'european', status: 'installable', languages: ['de', 'en', 'es', 'fr', 'it', 'pt'] },
    ...{ licence: 'CC-BY-4.0', about: 'Six languages', downloadBytes: 487_000_000, diskBytes: 670_000_000 },
    ...{ accuracy: 'https://b.example', isVerifiable: true, folder: null },
  },
  {
    ...NO_FIGURES,
    ...{ name: 'korean', status: 'installable', languages: ['ko'], licence: 'Own', about: 'Korean' },
    ...{ downloadBytes: null, diskBytes: null, accuracy: 'https://c.example' },
    ...{ isVerifiable: false, folder: null },
  },
];

let installed: { readonly name: string; readonly installation: ModelInstallation }[];
let isInstalled: boolean;
let failure: Error | undefined;
beforeEach(() => {
  [installed, isInstalled, failure] = [[], false, undefined];
});

const stt = async () => ({
  listModels: () =>
    MODELS.map((model) =>
      isInstalled && model.folder === null
        ? { ...model, status: 'unverified' as const, folder: `/cache/models/${model.name}` }
        : model,
    ),
  install: async (name: string, installation: ModelInstallation) => {
    installed.push({ name, installation });
    installation.onProgress(`downloading ${name}`);
    installation.onBytes({ received: 100, total: 400 });
    if (failure !== undefined) throw failure;
    isInstalled = true;
    return `/cache/models/${name}`;
  },
});
const rtc = (argv: readonly string[], options: RunOptions = {}) =>
  run(['stt', ...argv], { loaders: { stt }, ...options });

describe('rtc stt models', () => {
  it('lists the catalogue, with many languages as a number', async () => {
    const { code, stdout } = await rtc(['models'], {
      terminals: ['stdout'],
      columns: 120,
      env: { NO_COLOR: '1' },
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/NAME +STATUS +LANGUAGES +SIZE +LICENCE +CORE +ERRORS/);
    expect(stdout).toMatch(/small-en +installed +en +85 MB +MIT +3 % +-/);
    expect(stdout).toMatch(/european +installable +6 +487 MB +CC-BY-4\.0 +6 % +1\.95 %/);
    expect(stdout).toMatch(/korean +installable +ko +- +Own +- +-/);
  });

  it('fits into 80 columns with the real catalogue', async () => {
    const real = async () => ({ ...(await stt()), listModels });
    const { stdout } = await run(['stt', 'models'], {
      loaders: { stt: real },
      ...{ terminals: ['stdout'], columns: 80, env: { NO_COLOR: '1' } },
    });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toMatch(/parakeet-tdt-0\.6b-v3 +\w+ +25 +487 MB +\S+ +6 % +1\.95 %/);
  });

  it('lists the models of one language', async () => {
    const { stdout } = await rtc(['models', '--language', 'it-IT', '--json']);
    expect(JSON.parse(stdout).models).toMatchObject([
      { name: 'european', languages: expect.arrayContaining(['it']), accuracy: 'https://b.example' },
    ]);
  });
});

describe('rtc stt get', () => {
  it('shows the figures with their sources', async () => {
    const { code, stdout } = await rtc(['get', 'european'], {
      terminals: ['stdout'],
      columns: 400,
      env: { NO_COLOR: '1' },
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/DOWNLOAD +487 MB/);
    expect(stdout).toMatch(/ON DISK +670 MB/);
    expect(stdout).toContain(
      '6 % at most: 0.0284 of the length of the sound with 2 threads on Raspberry Pi 4, https://d.example',
    );
    expect(stdout).toContain(
      '1.95 % of words, Libri (English), https://e.example; 4.75 % of characters, MLS (French), https://f.example',
    );
  });

  it('shows what this project measured', async () => {
    const options: RunOptions = { terminals: ['stdout'], columns: 400, env: { NO_COLOR: '1' } };
    const { stdout } = await rtc(['get', 'small-en'], options);
    expect(stdout).toMatch(/IN MEMORY +136 MB/);
    expect(stdout).toContain('measured by this project');
  });

  it('shows everything as JSON', async () => {
    const { stdout } = await rtc(['get', 'korean', '--json']);
    expect(JSON.parse(stdout)).toEqual(MODELS[2]);
  });

  it('names the models when the given one does not exist', async () => {
    const { code, stderr } = await rtc(['get', 'latin']);
    expect(code).toBe(2);
    expect(stderr).toContain('models: small-en, european, korean');
  });
});

describe('rtc stt install', () => {
  it('shows size and licence, and passes on the source of the model', async () => {
    const { code, stderr, stdout } = await rtc(['install', 'european', '--from', '/media/usb']);
    expect(code).toBe(0);
    expect(stderr).toContain('european: Six languages. 487 MB, licence CC-BY-4.0.');
    expect(stdout).toContain('/cache/models/european');
    expect(installed).toMatchObject([
      { name: 'european', installation: { from: '/media/usb', acceptUnverified: false } },
    ]);
  });

  it('refuses files that nothing verifies without a terminal, and names the option', async () => {
    failure = Object.assign(new Error('unverified'), { name: 'UnverifiedModel' });
    const { code, stderr } = await rtc(['install', 'korean']);
    expect(code).toBe(2);
    expect(stderr).toContain('rtc stt install korean --accept-unverified');
  });

  it('installs an unverified model when that is accepted', async () => {
    const { code, stdout } = await rtc(['install', 'korean', '--accept-unverified']);
    expect([code, installed[0]?.installation.acceptUnverified]).toEqual([0, true]);
    expect(stdout).toContain('unverified');
  });

  it('asks on a terminal, and installs nothing when the answer is no', async () => {
    const options = { terminals: ['stdin', 'stderr'], stdin: 'n\n' } as const;
    const { code, stderr } = await rtc(['install', 'korean'], options);
    expect(code).toBe(130);
    expect(stderr).toContain('No published SHA-256 of korean is known');
    expect(installed).toEqual([]);
  });

  it('names the models when the given one does not exist', async () => {
    const { code, stderr } = await rtc(['install', 'latin']);
    expect(code).toBe(2);
    expect(stderr).toContain('models: small-en, european, korean');
  });

  it('ends with 1 and the reason when it fails', async () => {
    failure = new Error('The archive is damaged.');
    const { code, stderr } = await rtc(['install', 'european']);
    expect(code).toBe(1);
    expect(stderr).toContain('The archive is damaged');
  });
});

describe('the line of a download', () => {
  it('has a bar, the speed and the remaining time', () => {
    const line = downloadLine({ received: 210_000_000, total: 487_000_000, bytesPerSecond: 10_000_000 });
    expect(line).toBe('██████████░░░░░░░░░░░░░░  43 %  210 MB of 487 MB, 10 MB/s, 28 s left');
  });

  it('has only the bytes when the server does not send the total', () => {
    const line = downloadLine({ received: 5_000_000, total: undefined, bytesPerSecond: undefined });
    expect(line).toBe('5.0 MB');
  });
});
