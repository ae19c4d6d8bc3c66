import { randomUUID } from 'node:crypto';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runFfmpeg } from '../../../test/support/parts/ffmpeg.ts';
import { speechRecordings } from '../../../test/support/parts/speech-model.ts';
import { percentile } from '../../support/statistics.ts';
import { measureLive, measureTurns } from './live.ts';
import { openStage, type SpeechStage } from './stage.ts';

/*
 * `npm run bench:speech`, after `npm run build`, measures what speech to text costs. `--only live|turns|recorded` runs one
 * part. `--times 325` sets how often the recording repeats a reading of 44 s; by default it has half an hour, and 325 are
 * four hours. The workers are those of `rtc worker`, with the small English model. Everything runs on this machine,
 * including the media server and the speakers.
 */

const { values } = parseArgs({
  options: { only: { type: 'string' }, times: { type: 'string', default: '40' } },
});
const PARTS = { live, turns, recorded };
const stage = await openStage();
try {
  for (const [name, part] of Object.entries(PARTS)) {
    if (values.only === undefined || values.only === name) await part(stage);
  }
} finally {
  await stage.close();
}
// The room client keeps the process alive.
process.exit();

async function live(on: SpeechStage): Promise<void> {
  const { utterances, storedMs, printedMs, peakMb } = await measureLive(on);
  const at = (times: readonly number[], share: number): string =>
    `${Math.round(percentile(times, share))} ms`;
  console.log(`live, five speakers at once: ${storedMs.length} of ${utterances} utterances printed`);
  for (const [end, times] of [
    ['stored segment', storedMs],
    ["follow's line", printedMs],
  ] as const) {
    console.log(
      `    end of speech to ${end}: p50 ${at(times, 0.5)}, p95 ${at(times, 0.95)}, worst ${at(times, 1)}`,
    );
  }
  console.log(`    memory of the worker: ${peakMb.toFixed(0)} MB; load ${loadavg()[0]?.toFixed(1)}`);
}

async function turns(on: SpeechStage): Promise<void> {
  const { workerShare, idleShare, turns: stored } = await measureTurns(on);
  const percent = (share: number): string => `${(share * 100).toFixed(2)} % of one core`;
  console.log(`who speaks when, five open microphones in a room that is recorded: ${stored} turns stored`);
  console.log(`    the worker: ${percent(workerShare)}; idle ${percent(idleShare)}`);
}

/** Measures the transcription of a recording that repeats somebody's reading, from the claim to the completion. */
async function recorded({ store, recordingDir, startWorker }: SpeechStage): Promise<void> {
  const filepath = `${randomUUID()}.mp4`;
  const source = ['-stream_loop', `${Number(values.times) - 1}`, '-i', speechRecordings().twoCities.path];
  // AAC in MP4 with the index at the end, as the recorder writes it.
  await runFfmpeg([...source, '-c:a', 'aac', '-b:a', '96k', '-y', join(recordingDir, filepath)]);
  const worker = await startWorker('stt-post');
  const [recordingId, room, egressId, now] = [randomUUID(), randomUUID(), `EG_${randomUUID()}`, Date.now()];
  const place = { id: recordingId, room, filepath, bucket: null };
  const { recording } = await store.recordings.claim(
    { ...place, owner: 'bench', claimUntil: now + 60_000 },
    now,
  );
  await store.recordings.update(recording, { status: 'stopped', egressId, startedAt: now, stoppedAt: now });
  const id = `tr_${randomUUID()}`;
  const transcription = { id, room, recordingId, egressId, language: 'en', speakers: {} };
  await store.transcriptions.enqueuePost({ ...transcription, createdAt: now, originAt: now });
  let found = await store.transcriptions.find(id);
  for (; found?.status !== 'completed'; found = await store.transcriptions.find(id)) {
    if (found?.status === 'failed') throw new Error(`it failed: ${found.errorCode} ${found.errorMessage}`);
    await delay(20);
  }
  const audioSeconds = (found.durationMs ?? 0) / 1000;
  const share = (seconds: number): string =>
    `${seconds.toFixed(1)} s, ${(seconds / audioSeconds).toFixed(4)} of its length`;
  console.log(
    `recorded, ${(audioSeconds / 60).toFixed(0)} min: ${share(((found.endedAt ?? 0) - (found.startedAt ?? 0)) / 1000)}`,
  );
  console.log(`    of processors ${share(await worker.processorSeconds())}`);
  console.log(`    memory of the worker: ${(await worker.peakMb()).toFixed(0)} MB`);
  await worker.close();
}
