import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultCacheDir } from '../../../src/server/dev/binaries/go-binary.ts';
import { findModel } from '../../../src/server/transcription/models/catalogue.ts';
import { vadModelPath } from '../../../src/server/transcription/models/model-store.ts';
import { startHttpServer, type TestHttpServer } from '../../cli/support/http-server.ts';
import { type Ended, rtcProcess, type Started, startRtc } from '../../cli/support/process.ts';
import { collectErrors, startBrowser, type TestBrowser } from '../../support/parts/browser.ts';
import { runFfmpeg } from '../../support/parts/ffmpeg.ts';
import '../../support/parts/livekit.ts';
import { recorderEnvironment } from '../../support/parts/recorder.ts';
import '../../support/parts/redis.ts';
import { freePort } from '../../support/parts/run-part.ts';
import { speechRecordings, TEST_MODEL, testModel } from '../../support/parts/speech-model.ts';
import { wordErrorRate } from '../../support/word-error-rate.ts';
import { joinCall } from '../../web/support/console.ts';
import { makeArchive } from './models/archives.ts';

/*
 * The steps of an operator who uses speech, by commands and with real parts: a model from a mirror in a closed network, a
 * call of three people with captions in a browser, LiveKit's recorder, and the transcription of the recording.
 */

const POLL_OPTIONS = { timeout: 120_000, interval: 100 };
const MINUTES_MS = 600_000;

const CACHE = defaultCacheDir(process.env);
const run = promisify(execFile);

/** Bob and Eve read two halves of a sentence. One begins when the other pauses. Ada reads Beckett. */
const PAUSE_SECONDS = 20.8;
const [BOB, EVE] = speechRecordings().twoCities.text.split(/(?<=winter of despair, )/);
const PEOPLE = {
  'Ada Lovelace': /tried|failed|matter|again/i,
  'Bob Byron': /wisdom|foolishness|belief|incredulity/i,
  'Eve Evans': /heaven|authorities|superlative|comparison/i,
} as const;

describe('a call that is recorded', () => {
  let folder: string;
  let cacheDir: string;
  let mirror: TestHttpServer;
  let browser: TestBrowser;
  let env: Readonly<Record<string, string>>;
  let recordingId: string;
  const running: Started[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-call-'));
    const cacheHome = join(folder, 'cache');
    cacheDir = join(cacheHome, basename(CACHE));
    await mkdir(cacheDir, { recursive: true });
    // The media server is built once for all tests. The models of this test are installed separately.
    await symlink(join(CACHE, 'livekit-server'), join(cacheDir, 'livekit-server'));
    mirror = await startMirror(folder);
    browser = await startBrowser({ microphone: speechRecordings().beckett.path });
    env = {
      ...recorderEnvironment(),
      ...{ HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), XDG_CACHE_HOME: cacheHome },
      ...{ DATA_DIR: join(folder, 'data'), PORT: String(await freePort()) },
      // There is no package registry in this network.
      ...{ npm_config_registry: 'http://127.0.0.1:1', PIP_INDEX_URL: 'http://127.0.0.1:1' },
    };
  }, MINUTES_MS);

  afterAll(async () => {
    await browser?.close();
    for (const { child, ended } of running.toReversed()) {
      child.kill('SIGINT');
      await ended;
    }
    await mirror?.close();
    await rm(folder, { recursive: true, force: true });
  }, MINUTES_MS);

  const start = (...argv: readonly string[]): Started => {
    const started = startRtc(argv, { env, cwd: folder });
    running.push(started);
    return started;
  };
  const succeeded = (argv: readonly string[], { code, stdout, stderr }: Ended): string => {
    expect([argv, code], stderr).toEqual([argv, 0]);
    return stdout;
  };
  const rtc = async (...argv: readonly string[]): Promise<string> =>
    succeeded(argv, await rtcProcess(argv, { env, cwd: folder }));

  it(
    'begins with a model that is installed from a mirror, where no registry can be reached',
    async () => {
      const from = ['--from', `${mirror.url}/models`, '--accept-unverified'];
      await rtc('stt', 'install', TEST_MODEL, ...from);
      expect(mirror.received.map(({ url }) => url)).toEqual([
        '/models/silero_vad_legacy.onnx',
        `/models/${findModel(TEST_MODEL)?.archive}`,
      ]);
      expect(JSON.parse(await rtc('stt', 'get', TEST_MODEL, '--json'))).toMatchObject({
        status: 'unverified',
        folder: join(cacheDir, 'models', TEST_MODEL),
      });
    },
    MINUTES_MS,
  );

  it(
    'shows what each of three people says as captions in a browser, while it is recorded',
    async () => {
      const dev = start('dev', '--media', 'livekit', '--with', 'recorder,stt-live,stt-post');
      await dev.seen(/Ctrl-C stops it all/);
      const languages = async () =>
        JSON.parse(await rtc('api', 'GET', '/v1/health')).capabilities.languages?.live ?? [];
      await expect.poll(languages, POLL_OPTIONS).toContain('en');
      const link = start('rooms', 'open', 'demo', '--as', 'ada', '--name', 'Ada Lovelace', '--print');
      await link.seen(/http:\S+/);
      const window = await browser.openWindow();
      window.setDefaultTimeout(POLL_OPTIONS.timeout);
      const page = await window.newPage();
      const errors = collectErrors(page);
      await page.goto(/http:\S+/.exec(link.output())?.[0] ?? '');
      await joinCall(page);
      const captions = page.getByRole('button', { name: 'Captions' });
      await captions.click();
      await expect.poll(() => captions.getAttribute('aria-pressed'), POLL_OPTIONS).toBe('true');
      recordingId = JSON.parse(
        await rtc('recordings', 'start', 'demo', '--wait', '--timeout', '2m', '--json'),
      ).egressId;
      await untilCaption(page, 'Ada Lovelace');
      await page.getByRole('button', { name: 'Mute' }).click();
      for (const [identity, name] of [
        ['bob', 'Bob Byron'],
        ['eve', 'Eve Evans'],
      ] as const) {
        const who = ['--as', identity, '--name', name, '--publish', join(folder, `${identity}.wav`)];
        const argv = ['rooms', 'join', 'demo', ...who];
        const [ended] = await Promise.all([rtcProcess(argv, { env, cwd: folder }), untilCaption(page, name)]);
        succeeded(argv, ended);
      }
      await rtc('recordings', 'stop', 'demo', '--wait', '--timeout', '2m');
      expect(errors).toEqual([]);
      await window.close();
    },
    MINUTES_MS,
  );

  it(
    'has a transcript that names each of them',
    async () => {
      const argv = ['transcriptions', 'create', recordingId, '--language', 'en', '--wait', '--timeout', '4m'];
      const text = await rtc(...argv, '--format', 'text');
      console.log(text);
      for (const [name, words] of Object.entries(PEOPLE)) expect(saidBy(text, name), name).toMatch(words);
      for (const [name, said] of [
        ['Bob Byron', BOB],
        ['Eve Evans', EVE],
      ] as const) {
        const errors = wordErrorRate(said ?? '', saidBy(text, name));
        console.log(`${name}: ${(errors * 100).toFixed(1)} % of the words are wrong`);
      }
    },
    MINUTES_MS,
  );

  it('is found by what one of them said', async () => {
    const found = await rtc('transcriptions', 'search', 'wisdom', '--recording', recordingId, '--json');
    expect(JSON.parse(found).hits).toMatchObject([
      { kind: 'post', segment: { speaker: 'Bob Byron', participantIdentity: 'bob' } },
    ]);
  });

  it('has its captions in the file that is downloaded', async () => {
    const file = join(folder, 'call.mp4');
    await rtc('recordings', 'download', recordingId, file, '--with-captions');
    const entries = ['-show_entries', 'stream=codec_type,codec_name:stream_tags=language'];
    const { stdout } = await run('ffprobe', ['-v', 'error', ...entries, '-of', 'json', file]);
    const codecs: readonly { readonly codec_name: string }[] = JSON.parse(stdout).streams;
    expect(codecs.map(({ codec_name }) => codec_name).toSorted()).toEqual(['aac', 'h264', 'mov_text']);
    expect(codecs).toContainEqual(
      expect.objectContaining({ codec_name: 'mov_text', tags: { language: 'eng' } }),
    );
    const srt = join(folder, 'call.srt');
    await runFfmpeg(['-i', file, '-map', '0:s:0', srt]);
    const shown = await readFile(srt, 'utf8');
    for (const name of Object.keys(PEOPLE)) expect(shown).toContain(name);
    expect(shown).toMatch(/wisdom/i);
  });
});

/** Serves the archive of the model, as sherpa-onnx's releases contain it, and the detector, from one address. */
async function startMirror(folder: string): Promise<TestHttpServer> {
  const model = testModel(CACHE) ?? '';
  const archive = join(folder, findModel(TEST_MODEL)?.archive ?? '');
  const top = basename(archive, '.tar.bz2');
  const files = ['encoder_model.ort', 'decoder_model_merged.ort', 'tokens.txt'];
  makeArchive(archive, [
    ...files.map((file) => ({ path: `${top}/${file}`, file: join(model, file) })),
    { path: `${top}/test_wavs/en.wav`, file: speechRecordings().beckett.path },
  ]);
  const { path } = speechRecordings().twoCities;
  // A new subscriber to a track does not receive its first seconds.
  const later = ['-af', 'adelay=2000:all=1'];
  await runFfmpeg(['-i', path, '-to', String(PAUSE_SECONDS), ...later, join(folder, 'bob.wav')]);
  await runFfmpeg(['-ss', String(PAUSE_SECONDS), '-i', path, ...later, join(folder, 'eve.wav')]);
  const served = new Map<string, Buffer>(
    await Promise.all(
      [archive, vadModelPath(CACHE) ?? ''].map(
        async (file) => [`/models/${basename(file)}`, await readFile(file)] as const,
      ),
    ),
  );
  return await startHttpServer(({ url }, response) => {
    const bytes = served.get(url);
    if (bytes === undefined) response.writeHead(404).end();
    else response.end(bytes);
  });
}

/** Waits until the page shows a caption of a person with one of the words that only this person says. */
async function untilCaption(page: Page, name: keyof typeof PEOPLE): Promise<void> {
  const caption = page.getByRole('region', { name: 'Captions' }).locator('p').filter({ hasText: name });
  await caption.filter({ hasText: PEOPLE[name] }).first().waitFor();
}

/** Returns what one person said, from lines such as `[00:00:12] Ada Lovelace: Ever tried.`. */
function saidBy(transcript: string, name: string): string {
  const lines = transcript.split('\n').filter((line) => line.slice(11).startsWith(`${name}: `));
  return lines.map((line) => line.slice(11 + name.length + 2)).join(' ');
}
