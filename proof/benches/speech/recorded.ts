import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FileLocation } from '../../../src/server/recordings/files/recording-files.ts';
import { runFfmpeg } from '../../../test/support/parts/ffmpeg.ts';
import { speechRecordings } from '../../../test/support/parts/speech-model.ts';
import type { SpeechStage } from './stage.ts';

export type RecordedFigures = {
  readonly audioSeconds: number;
  readonly seconds: number;
  /** Processor time of the worker since its start. */
  readonly processorSeconds: number;
  readonly peakBytes: number;
  readonly texts: readonly string[];
};

/**
 * Measures the transcription of a recording that repeats somebody's reading `times` times, from the claim to the
 * completion.
 */
export async function measureRecorded(stage: SpeechStage, times: number): Promise<RecordedFigures> {
  const filepath = `${randomUUID()}.mp4`;
  await makeRecording(join(stage.recordingDir, filepath), times);
  return await measureFile(stage, { filepath, bucket: null });
}

/** Writes AAC in MP4 with the index at the end, as the recorder does. */
export async function makeRecording(path: string, times: number): Promise<void> {
  const source = ['-stream_loop', String(times - 1), '-i', speechRecordings().twoCities.path];
  await runFfmpeg([...source, '-c:a', 'aac', '-b:a', '96k', '-y', path]);
}

export async function measureFile(stage: SpeechStage, location: FileLocation): Promise<RecordedFigures> {
  const { store } = stage;
  const worker = await stage.startWorker('stt-post');
  const job = await enqueue(stage, location);
  for (;;) {
    const found = await store.transcriptions.find(job);
    if (found?.status === 'failed') throw new Error(`it failed: ${found.errorCode} ${found.errorMessage}`);
    if (found?.status === 'completed') {
      const { startedAt, endedAt, durationMs } = found;
      const [peakBytes, processorSeconds] = [worker.peakBytes(), worker.processorSeconds()];
      await worker.close();
      const segments = await store.transcriptions.listSegments(job);
      return {
        audioSeconds: (durationMs ?? 0) / 1000,
        seconds: ((endedAt ?? 0) - (startedAt ?? 0)) / 1000,
        processorSeconds,
        peakBytes,
        texts: segments.map(({ text }) => text),
      };
    }
    await delay(20);
  }
}

async function enqueue({ store }: SpeechStage, { filepath, bucket }: FileLocation): Promise<string> {
  const [id, room, owner, egressId] = [randomUUID(), randomUUID(), 'bench', `EG_${randomUUID()}`];
  const now = Date.now();
  const claimed = { id, room, filepath, bucket, owner, claimUntil: now + 60_000 };
  const { recording } = await store.recordings.claim(claimed, now);
  await store.recordings.update(recording, { status: 'stopped', egressId, startedAt: now, stoppedAt: now });
  const transcription = { id: `tr_${randomUUID()}`, room, recordingId: id, egressId, language: 'en' };
  await store.transcriptions.enqueuePost({ ...transcription, speakers: {}, createdAt: now, originAt: now });
  return transcription.id;
}
