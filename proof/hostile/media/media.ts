import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { runFfmpeg } from '../../../test/support/parts/ffmpeg.ts';
import { speakToFile } from '../../../test/support/parts/speech.ts';
import { listProcesses } from '../../../test/support/process-group.ts';
import { type Experiment, type ExperimentContext, type Findings, makeFolder } from '../../experiment.ts';
import { atMost, exactly, type Figures, observed } from '../../figures.ts';
import { listen } from '../../support/listen.ts';
import { lookEvery, pollEvery } from '../../support/poll.ts';
import { readPeak } from '../../support/process-figures.ts';
import {
  findEnded,
  type RecorderStage,
  startRecorderStage,
  startRecording,
} from '../../support/recorder-stage.ts';
import { sum } from '../../support/statistics.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';
import { alteredFiles, CODECS, encodeSentence } from './altered.ts';
import { craftedFiles, type Expected, type HostileFile, type Source } from './files.ts';
import { box, movie, u32 } from './mp4.ts';

const SENTENCE = 'The meeting will start at nine tomorrow morning in the large conference room.';
/** A sentence in files and servers that a recording must not reach. If a transcript contains it, a recording reached one. */
const PLANTED = 'Seven purple elephants are dancing under the old wooden bridge.';
const CONTAINERS = { long: Object.keys(CODECS), short: ['mp4', 'mp3'] } as const;
const CHANGED = { long: 6, short: 0 } as const;
/** After every 20 hostile files, a good recording is transcribed. */
const GOOD_EVERY = 20;
/** The worker gives ffmpeg 1 GiB for its data. Its program comes on top. */
const LIMITS = { workerMb: 600, ffmpegMb: 1_100, temporaryBytes: 0, seconds: 60 } as const;

class Tally {
  readonly #wrong: string[] = [];
  readonly #outcomes = new Map<string, number>();
  readonly #peaks = { workerMb: 0, childMb: 0, temporaryBytes: 0, milliseconds: 0 };
  #good = 0;

  /** Transcribes the file, and returns what was seen in words. */
  async try(stage: MediaStage, file: HostileFile, source: Source): Promise<string> {
    await writeFile(stage.recording.path, file.make(source));
    stage.memory.take();
    const outcome = await transcribeFile(stage);
    const peaks = { ...stage.memory.take(), milliseconds: outcome.milliseconds };
    const wrong = judgeOutcome(file.expected, outcome, { sentence: SENTENCE, planted: PLANTED });
    if (wrong !== undefined) this.#wrong.push(`${file.name}: ${wrong}`);
    for (const key of ['workerMb', 'childMb', 'temporaryBytes', 'milliseconds'] as const) {
      this.#peaks[key] = Math.max(this.#peaks[key], peaks[key]);
    }
    if (file.name === 'a good recording') this.#good += 1;
    else this.#count(outcome);
    const [worker, ffmpeg] = [Math.round(peaks.workerMb), Math.round(peaks.childMb)];
    const seen = `${outcome.code ?? outcome.status}, ${outcome.milliseconds} ms, worker ${worker} MB, ffmpeg ${ffmpeg} MB`;
    return `${file.name}: ${seen}${wrong === undefined ? '' : `, WRONG: ${wrong}`}`;
  }

  #count({ status, code }: Outcome): void {
    const name = code ?? status;
    this.#outcomes.set(name, (this.#outcomes.get(name) ?? 0) + 1);
  }

  figures(good: string): Figures {
    const { workerMb, childMb, temporaryBytes, milliseconds } = this.#peaks;
    const longest = { name: 'longest transcription of a file', bound: LIMITS.seconds, unit: ' s' };
    const measured = Math.round(milliseconds / 100) / 10;
    const memory = (name: string, megabytes: number, bound: number) =>
      atMost({ name: `highest memory of ${name}`, measured: Math.round(megabytes), bound, unit: ' MB' });
    return [
      ...[...this.#outcomes].map(([name, count]) => observed(`files that ended as ${name}`, count)),
      observed(`transcriptions of ${good} between them`, this.#good),
      exactly('transcriptions that ended wrongly', this.#wrong.length, 0),
      atMost({ ...longest, measured }),
      memory('the worker', workerMb, LIMITS.workerMb),
      memory('ffmpeg', childMb, LIMITS.ffmpegMb),
      exactly('most bytes in temporary files', temporaryBytes, LIMITS.temporaryBytes),
    ];
  }
}

/** Longer than 48 hours of silence take. */
const poll = pollEvery({ everyMs: 20, withinMs: 20 * 60_000 });

/** Errors that describe a file. */
const CODES: readonly unknown[] = [
  'recording-damaged',
  'recording-empty',
  'recording-not-media',
  'recording-without-audio',
  'speech-not-recognised',
];

/** Share of the sentence's words that have to be there. */
const MIN_SHARE = 0.6;
const LOOK_MS = 25;
export const hostileMedia: Experiment = { name: 'hostile-media', run: transcribeHostile };

async function transcribeHostile(context: ExperimentContext): Promise<Findings> {
  const { runSize, report, cleanUp } = context;
  const folder = await makeFolder({ cleanUp });
  const [stage, { plant, asked }, { source, containers }] = await Promise.all([
    startStage(context, folder),
    startPlant(context, folder),
    makeSources(folder, runSize),
  ]);
  const all = [...craftedFiles, ...playlists(plant), ...alteredFiles(containers, CHANGED[runSize])];
  const files = all.filter(({ isQuick }) => runSize === 'long' || isQuick);
  const good: HostileFile = {
    name: 'a good recording',
    expected: 'words',
    make: () => containers.get('mp4') ?? Buffer.alloc(0),
  };
  const tally = new Tally();
  await tally.try(stage, good, source);
  for (const [index, file] of files.entries()) {
    const line = await tally.try(stage, file, source);
    report(`${index + 1} of ${files.length}: ${line}`);
    if ((index + 1) % GOOD_EVERY === 0 || index + 1 === files.length) await tally.try(stage, good, source);
  }
  return {
    figures: [
      observed('files', files.length),
      ...tally.figures(good.name),
      exactly('requests to addresses that a file named', asked(), 0),
      exactly('temporary files that were left', (await readdir(stage.temporary)).length, 0),
      exactly('ends of the worker', Number(stage.hasEnded()), 0),
    ],
  };
}

type MediaStage = Awaited<ReturnType<typeof startStage>>;

async function startStage(context: ExperimentContext, folder: string) {
  const temporary = await mkdtemp(join(folder, 'temporary-'));
  const settings = { DATA_DIR: join(folder, 'data'), ENCRYPTION_KEY: randomBytes(32).toString('base64') };
  const recorder = await startRecorderStage(context, settings);
  const [recording, worker] = await Promise.all([
    recordOnce(recorder),
    startWorkerProcess('stt-post', {
      settings: { ...settings, RECORDING_DIR: recorder.recordingDir, TMPDIR: temporary },
    }),
  ]);
  context.cleanUp(worker.kill);
  let hasEnded = false;
  void worker.exited.then(() => {
    hasEnded = true;
  });
  const memory = context.cleanUp(watchMemory(worker.groupId, temporary));
  return { ...recorder, recording, memory, temporary, hasEnded: () => hasEnded };
}

async function startPlant({ cleanUp }: ExperimentContext, folder: string) {
  const name = 'planted.wav';
  const path = join(folder, name);
  await speakToFile({ text: PLANTED, path });
  const bytes = await readFile(path);
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.end(bytes);
  });
  const { port } = cleanUp(await listen(server));
  const plant: Plant = { path, name, url: `http://127.0.0.1:${port}/planted.wav` };
  return { plant, asked: () => asked };
}

async function makeSources(folder: string, runSize: ExperimentContext['runSize']) {
  const path = join(folder, 'sentence.wav');
  await speakToFile({ text: SENTENCE, path });
  const raw = join(folder, 'sentence.raw');
  await runFfmpeg(['-i', path, '-f', 's16le', '-ac', '1', '-ar', '16000', '-y', raw]);
  const containers = await encodeSentence(path, folder, CONTAINERS[runSize]);
  const source: Source = { sound: await readFile(raw), mp3: containers.get('mp3') ?? Buffer.alloc(0) };
  return { source, containers };
}

type Outcome = {
  readonly status: string;
  /** The code of the error, if there is one. */
  readonly code: string | undefined;
  readonly words: string;
  readonly milliseconds: number;
};

/** Records a room, and returns the recording when it has its file. */
async function recordOnce(stage: RecorderStage) {
  const { client } = stage;
  const room = 'hostile-media';
  await client.call('POST', '/v1/rooms', { name: room });
  stage.enter(room);
  const id = await startRecording(stage, room);
  await poll(async () => (await client.call('GET', `/v1/recordings/${id}`)).json.mediaStartedAt !== null);
  await client.call('POST', `/v1/rooms/${room}/recording/stop`);
  return { id, path: await poll(async () => (await findEnded(stage, id))?.path) };
}

/** Transcribes the recording, and deletes the transcription. */
async function transcribeFile({ client, recording, hasEnded }: MediaStage): Promise<Outcome> {
  const startedAt = performance.now();
  const queued = await client.call('POST', `/v1/recordings/${recording.id}/transcribe`, { language: 'en' });
  const path = `/v1/transcriptions/${queued.json.transcriptionId}`;
  const found = await poll(async () => {
    if (hasEnded()) throw new Error('the worker has ended');
    const { json } = await client.call('GET', path);
    return (json.status === 'completed' || json.status === 'failed') && json;
  });
  const milliseconds = Math.round(performance.now() - startedAt);
  await client.call('DELETE', path);
  const segments: readonly { readonly text: string }[] = Array.isArray(found.segments) ? found.segments : [];
  const { code }: { readonly code?: string } = Object(found.error);
  const words = segments.map(({ text }) => text).join(' ');
  return { status: String(found.status), code, words, milliseconds };
}

/** Says what is wrong with an outcome; undefined if nothing is. */
function judgeOutcome(
  expected: Expected,
  { status, code, words }: Outcome,
  { sentence, planted }: { readonly sentence: string; readonly planted: string },
): string | undefined {
  if (computeShare(planted, words) > 0.3) return `it has the planted words: ${words}`;
  if (expected === 'words') {
    const isHeard = status === 'completed' && computeShare(sentence, words) >= MIN_SHARE;
    return isHeard ? undefined : `${code ?? status} with the words: ${words}`;
  }
  if (expected !== 'any') return code === expected ? undefined : `${code ?? status} instead of ${expected}`;
  return status === 'completed' || CODES.includes(code) ? undefined : `${code}`;
}

/** Share of the long words of a sentence that a text has. */
function computeShare(sentence: string, text: string): number {
  const heard = new Set(listWords(text));
  const wanted = listWords(sentence).filter((word) => word.length > 4);
  return wanted.filter((word) => heard.has(word)).length / wanted.length;
}

function listWords(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z]+/g) ?? [];
}

type Peaks = {
  /** Highest resident memory of the worker itself. */
  readonly workerMb: number;
  /** Highest resident memory of a process that it started. */
  readonly childMb: number;
  /** Most bytes in its folder for temporary files. */
  readonly temporaryBytes: number;
};

/** Looks at the processes of a group and at a folder, 40 times a second. Linux keeps the peak of each process itself. */
function watchMemory(groupId: number, folder: string) {
  const none: Peaks = { workerMb: 0, childMb: 0, temporaryBytes: 0 };
  let peaks = none;
  const sampler = lookEvery(LOOK_MS, async () => {
    for (const { pid, name } of await listProcesses(groupId)) {
      if (name === 'sh') continue;
      const megabytes = await readPeak(pid);
      if (name === 'ffmpeg') peaks = { ...peaks, childMb: Math.max(peaks.childMb, megabytes) };
      else peaks = { ...peaks, workerMb: Math.max(peaks.workerMb, megabytes) };
    }
    peaks = { ...peaks, temporaryBytes: Math.max(peaks.temporaryBytes, await bytesIn(folder)) };
  });
  return {
    /** Returns the peaks since the last call. */
    take: () => {
      const taken = peaks;
      peaks = none;
      return taken;
    },
    close: sampler.close,
  };
}

/** Bytes of all files in a folder. A file that is deleted meanwhile counts as empty. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(
      async ({ parentPath, name }) => (await stat(join(parentPath, name)).catch(() => ({ size: 0 }))).size,
    ),
  );
  return sum(sizes);
}

/** Places of speech that a recording must not reach: the path of a file, its name without a folder, and a URL. */
type Plant = { readonly path: string; readonly name: string; readonly url: string };

/** Files that refer to other files and addresses, in every format in which ffmpeg supports such references. */
function playlists({ path, name, url }: Plant): readonly HostileFile[] {
  const sources = [
    url,
    `file://${path}`,
    path,
    name,
    `concat:${path}|${path}`,
    `subfile,,start,0,end,9999999,,:${path}`,
  ];
  const texts = sources.flatMap((source) => [
    ...Object.entries(FORMATS).map(([format, write]) => ({ format, source, text: write(source) })),
  ]);
  const inline = `data:audio/wav;base64,${Buffer.from('RIFF').toString('base64')}`;
  return [
    ...[...texts, { format: 'HLS', source: inline, text: FORMATS.HLS(inline) }].map(
      ({ format, source, text }, index): HostileFile => ({
        name: `${format} that names ${readKind(source)}`,
        expected: 'recording-not-media',
        make: () => Buffer.from(text),
        ...(index === 0 ? { isQuick: true } : {}),
      }),
    ),
    ...sources.slice(0, 3).map(
      (source): HostileFile => ({
        name: `MOV whose sound is in ${readKind(source)}`,
        expected: 'any',
        make: ({ sound }) =>
          movie({ sound: sound.subarray(0, 2), samples: 80_000, elsewhere: reference(source) }),
      }),
    ),
  ];
}

function readKind(source: string): string {
  if (source.startsWith('/')) return 'an absolute path';
  return /^(http|file|concat|subfile|data)[:,]/.exec(source)?.[1] ?? 'a name';
}

const FORMATS = {
  HLS: (source: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n${source}\n#EXT-X-ENDLIST\n`,
  'HLS with a key': (source: string) =>
    `#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXT-X-KEY:METHOD=AES-128,URI="${source}"\n#EXTINF:5,\n${source}\n#EXT-X-ENDLIST\n`,
  'a list of ffconcat': (source: string) => `ffconcat version 1.0\nfile '${source}'\n`,
  'a list of ffconcat with options': (source: string) =>
    `ffconcat version 1.0\noption safe 0\noption protocol_whitelist file,http,tcp,data,concat,subfile\nfile '${source}'\n`,
  DASH: (source: string) =>
    `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT5S"><Period>` +
    `<AdaptationSet mimeType="audio/mp4"><Representation id="1" bandwidth="1"><BaseURL>${source}</BaseURL></Representation>` +
    `</AdaptationSet></Period></MPD>`,
  PLS: (source: string) => `[playlist]\nFile1=${source}\nNumberOfEntries=1\n`,
  SDP: (source: string) =>
    `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\na=control:${source}\nm=audio 9 RTP/AVP 0\n`,
  RTSP: (source: string) => `RTSPtextRTSP://${source.replace(/^\w+:\/\//, '')}`,
  SMIL: (source: string) => `<smil><body><audio src="${source}"/></body></smil>`,
  IMF: (source: string) =>
    `<?xml version="1.0"?><CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016"><Id>${source}</Id></CompositionPlaylist>`,
} as const;

/** A data reference of an MP4 file: the path of a Macintosh alias, or a URL. */
function reference(source: string): Buffer {
  if (!source.startsWith('/')) return box('url ', u32(0), Buffer.from(`${source}\0`));
  const alias = Buffer.alloc(150);
  const path = Buffer.from(source);
  const entry = Buffer.concat([Buffer.from([0, 2, path.length >> 8, path.length & 0xff]), path]);
  return box('alis', u32(0), alias, entry, Buffer.from('ffff0000', 'hex'));
}
