import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CancelledError, CliError, EXIT } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import type { Io } from '../../terminal/io.ts';

/*
 * Adds transcripts of a recording to its MP4 file as subtitles that players can show, a track for each language. Audio and
 * video are copied unchanged. ffmpeg reads SubRip here, because it drops the speakers of WebVTT.
 */

export type Captions = {
  /** BCP 47. */
  readonly language: string;
  /** SubRip; empty when nothing was said. */
  readonly srt: string;
};

/** Reads the completed transcripts of a recording, one for each language. @throws CliError with exit code 3 without one */
export async function readCaptions(context: Context, recordingId: string): Promise<readonly Captions[]> {
  const client = await context.client();
  const { signal } = context.io;
  const captions: Captions[] = [];
  for await (const { transcriptionId, language } of client.transcriptions.all({
    recordingId,
    status: 'completed',
    signal,
  })) {
    captions.push({ language, srt: await client.transcriptions.text(transcriptionId, 'srt', { signal }) });
  }
  if (captions.length > 0) return captions.filter(({ srt }) => srt !== '');
  throw new CliError(
    EXIT.notFound,
    `no transcription of ${recordingId} is completed, so there are no captions`,
    `make one: rtc transcriptions create ${recordingId} --wait`,
  );
}

/** @throws CliError with exit code 6 when ffmpeg is missing */
export async function requireFfmpeg(io: Io): Promise<void> {
  const { exitCode } = await runFfmpeg(io, ['-version']);
  if (exitCode === 0) return;
  throw noFfmpeg();
}

/** Replaces `path` by the file with captions, as soon as that is complete. */
export async function addCaptions(io: Io, path: string, captions: readonly Captions[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-captions-'));
  const captioned = `${path}.captions.part`;
  try {
    const files = captions.map((_, index) => join(folder, `${index}.srt`));
    for (const [index, { srt }] of captions.entries())
      await writeFile(files[index] ?? '', withoutOverlap(srt), { mode: 0o600 });
    const { exitCode, stderr } = await runFfmpeg(io, [
      ...['-nostdin', '-v', 'error', '-y', '-i', path],
      ...files.flatMap((file) => ['-f', 'srt', '-i', file]),
      ...['-map', '0'],
      ...files.flatMap((_, index) => ['-map', `${index + 1}`]),
      ...['-c', 'copy', '-c:s', 'mov_text', '-movflags', '+faststart'],
      ...captions.flatMap(({ language }, index) => [
        `-metadata:s:s:${index}`,
        `language=${threeLetterLanguage(language)}`,
      ]),
      ...['-disposition:s:0', 'default', '-f', 'mp4', captioned],
    ]);
    if (io.signal.aborted) throw new CancelledError(`stopped; ${path} has no captions`);
    if (exitCode !== 0) throw ffmpegFailed(path, stderr);
    await rename(captioned, path);
  } finally {
    await rm(captioned, { force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

type FfmpegEnd = { readonly exitCode: number | null; readonly stderr: string };

/** Maximum characters of ffmpeg's messages that are kept. */
const STDERR_CHARACTERS = 4000;

function runFfmpeg(io: Io, args: readonly string[]): Promise<FfmpegEnd> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn('ffmpeg', args, {
      env: { PATH: io.env.PATH ?? '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const stop = (): void => void child.kill();
    io.signal.addEventListener('abort', stop);
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_CHARACTERS);
    });
    child.once('error', () => reject(noFfmpeg()));
    child.once('close', (exitCode) => {
      io.signal.removeEventListener('abort', stop);
      resolve({ exitCode, stderr });
    });
  });
}

function noFfmpeg(): CliError {
  return new CliError(
    EXIT.unavailable,
    'ffmpeg adds the captions, and cannot be started',
    'install ffmpeg and put it on PATH, or get the captions as a separate file: rtc transcriptions get ID --format vtt',
  );
}

function ffmpegFailed(path: string, stderr: string): CliError {
  const reason = stderr.trim().split('\n').at(-1) ?? '';
  return new CliError(EXIT.failure, `ffmpeg could not add the captions: ${reason}`, {
    next: `${path} is complete, without captions; get them as a separate file: rtc transcriptions get ID --format vtt`,
  });
}

/**
 * Returns the code of a language in MP4 (ISO 639-2/T) for a BCP 47 tag; `und` for an unknown one. The table has the
 * languages of the catalogue of speech models that have a code of two letters and are spoken most.
 */
function threeLetterLanguage(tag: string): string {
  const [language = ''] = tag.toLowerCase().split('-');
  return language.length === 3 ? language : (CODES[language] ?? 'und');
}

const CODES: Readonly<Record<string, string>> = {
  ar: 'ara',
  bg: 'bul',
  ca: 'cat',
  cs: 'ces',
  da: 'dan',
  de: 'deu',
  el: 'ell',
  en: 'eng',
  es: 'spa',
  et: 'est',
  fa: 'fas',
  fi: 'fin',
  fr: 'fra',
  he: 'heb',
  hi: 'hin',
  hr: 'hrv',
  hu: 'hun',
  id: 'ind',
  it: 'ita',
  ja: 'jpn',
  ko: 'kor',
  lt: 'lit',
  lv: 'lav',
  mt: 'mlt',
  nl: 'nld',
  no: 'nor',
  pl: 'pol',
  pt: 'por',
  ro: 'ron',
  ru: 'rus',
  sk: 'slk',
  sl: 'slv',
  sv: 'swe',
  th: 'tha',
  tr: 'tur',
  uk: 'ukr',
  vi: 'vie',
  zh: 'zho',
};

type Cue = { readonly fromMs: number; readonly toMs: number; readonly text: string };

/**
 * Rewrites SubRip so that no two captions overlap, because an MP4 file cannot have that: ffmpeg would cut the first one off
 * at the beginning of the second. While several people speak, one caption has the lines of all of them.
 */
export function withoutOverlap(srt: string): string {
  const cues = srt
    .split(/\n\s*\n/)
    .flatMap(parseCue)
    .filter(({ fromMs, toMs }) => toMs > fromMs);
  const marks = [...new Set(cues.flatMap(({ fromMs, toMs }) => [fromMs, toMs]))].toSorted((a, b) => a - b);
  const flat: Cue[] = [];
  // Cues begin in the order of the marks, and few last at once.
  let lasting: readonly Cue[] = [];
  let next = 0;
  const sorted = cues.toSorted((a, b) => a.fromMs - b.fromMs);
  for (const [index, fromMs] of marks.entries()) {
    lasting = lasting.filter(({ toMs }) => toMs > fromMs);
    for (let cue = sorted[next]; cue?.fromMs === fromMs; cue = sorted[next]) {
      lasting = [...lasting, cue];
      next += 1;
    }
    const toMs = marks[index + 1];
    if (toMs === undefined || lasting.length === 0) continue;
    flat.push({ fromMs, toMs, text: lasting.map(({ text }) => text).join('\n') });
  }
  return flat.map(writeCue).join('\n');
}

const TIMES = /^(\S+) --> (\S+)\s*\n/m;

function parseCue(block: string): readonly Cue[] {
  const times = TIMES.exec(block);
  if (times === null) return [];
  const [from = '', to = ''] = times.slice(1);
  const text = block.slice(times.index + times[0].length).trim();
  return [{ fromMs: toMs(from), toMs: toMs(to), text }];
}

function writeCue({ fromMs, toMs: untilMs, text }: Cue, index: number): string {
  return `${index + 1}\n${toTime(fromMs)} --> ${toTime(untilMs)}\n${text}\n`;
}

/** `00:01:02,345` */
function toMs(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0, ms = 0] = time.split(/[:,]/).map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
}

function toTime(ms: number): string {
  const parts = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  );
  return `${parts.join(':')},${String(ms % 1000).padStart(3, '0')}`;
}
