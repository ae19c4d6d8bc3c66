import type { Event } from '../../../contract/events.ts';
import type { Recording } from '../../../contract/recordings.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { formatBytes } from '../../terminal/byte-size.ts';
import { formatDuration, plural } from '../../terminal/time.ts';
import { explainDeliveries, type Reading } from './explain-deliveries.ts';
import { combine, type Explanation, type Moment, type NextStep, type Part } from './explanation.ts';
import { momentOfEvent, readEvents } from './timeline.ts';

/** Tolerance: the clocks of the recorder and the service may differ, and an end is reported some seconds late. */
const AROUND_MS = 60_000;

/** Explains a recording, with the events of its room during the recording. */
export async function explainRecording(reading: Reading, recording: Recording): Promise<Explanation> {
  const { recordingId, roomId } = recording;
  const since = recording.startedAt ?? recording.stoppedAt ?? recording.endedAt;
  const events =
    since === null ? [] : await readEvents(reading, { room: roomId, sinceMs: Date.parse(since) - AROUND_MS });
  const untilMs =
    recording.endedAt === null ? Number.POSITIVE_INFINITY : Date.parse(recording.endedAt) + AROUND_MS;
  const own = events.filter((event) => isAboutRecording(event, recording));
  const around = events.filter(
    (event) =>
      event.recording === undefined &&
      event.transcription === undefined &&
      Date.parse(event.timestamp) <= untilMs,
  );
  const { client, signal } = reading;
  const { transcriptions } = await client.transcriptions.list({ recordingId, signal });
  const parts = [
    { timeline: [...own, ...around].flatMap((event) => momentOfEvent(event) ?? []) },
    { timeline: milestones(recording) },
    judge(recording, around),
    ...transcriptions.map(({ transcriptionId, status, error }) =>
      partOfTranscription({ transcriptionId, status, error }),
    ),
    await explainDeliveries(reading, new Set(own.map(({ id }) => id))),
  ];
  return {
    subject: { kind: 'recording', id: recordingId },
    headline: writeHeadline(recording),
    ...combine(parts),
  };
}

function isAboutRecording(event: Event, { recordingId }: Recording): boolean {
  return event.recording?.egressId === recordingId || event.transcription?.recordingId === recordingId;
}

function writeHeadline({ recordingId, roomId, status, durationMs, sizeBytes, endedAt }: Recording): string {
  const name = `Recording ${recordingId} of room ${roomId}`;
  if (status === 'recording') return `${name} is running.`;
  if (status === 'aborted')
    return `${name} was aborted: it never received sound or pictures, and has no file.`;
  if (status === 'failed') return `${name} failed.`;
  if (endedAt === null) return `${name} was stopped; its file is still being written.`;
  const facts = [
    ...(durationMs === null ? [] : [formatDuration(durationMs / 1000)]),
    ...(sizeBytes === null ? [] : [formatBytes(sizeBytes)]),
  ];
  return `${name} is complete${facts.length === 0 ? '' : `: ${facts.join(', ')}`}.`;
}

/** Returns the instants of the record that no event has. */
function milestones({ recordingId: id, mediaStartedAt, stoppedAt }: Recording): readonly Moment[] {
  const moment = (at: string | null, text: string): readonly Moment[] =>
    at === null ? [] : [{ at, text, source: 'recording', id, isTrouble: false }];
  return [
    ...moment(mediaStartedAt, 'the first frame was recorded'),
    ...moment(stoppedAt, 'the recording was told to stop'),
  ];
}

function judge(recording: Recording, around: readonly Event[]): Part {
  const { recordingId, roomId, status, error, file, endedAt, mediaStartedAt } = recording;
  const room = shellQuote(roomId);
  const why = error === null ? '' : ` The recorder says: ${error}`;
  if (status === 'aborted') {
    const published = around.filter(({ event }) => event === 'track_published').length;
    const seen =
      published === 0
        ? 'nobody published a track while it ran, so there was nothing to record.'
        : `${plural(published, 'track')} ${published === 1 ? 'was' : 'were'} published, but the recorder received no media.`;
    return {
      troubles: [`${seen}${why}`],
      next: [
        published === 0
          ? step(
              'record again when somebody has a camera or microphone on',
              `rtc recordings start ${room} --wait`,
            )
          : step('check the recorder and its way to the media server', 'rtc doctor --probe'),
      ],
    };
  }
  if (status === 'failed') {
    return {
      troubles: [error === null ? 'no reason is known' : `the reason that is known: ${error}`],
      next: [
        step(
          "read the recorder's log (livekit/egress) of that time, and check the set-up",
          'rtc doctor --probe',
        ),
        step('then record again', `rtc recordings start ${room} --wait`),
      ],
    };
  }
  if (status === 'recording') {
    const waits =
      mediaStartedAt === null ? [step('it has no first frame yet: somebody must publish', null)] : [];
    return { next: [...waits, step('stop it', `rtc recordings stop ${room} --wait`)] };
  }
  if (endedAt === null)
    return { next: [step('wait for its file', `rtc wait recording ${recordingId} --for stopped`)] };
  if (file === null) return { troubles: [`it was stopped, but there is no file.${why}`] };
  return { next: [step('download it', `rtc recordings download ${recordingId}`)] };
}

type Transcribed = {
  readonly transcriptionId: string;
  readonly status: string;
  readonly error: { readonly message: string } | null;
};

function partOfTranscription({ transcriptionId, status, error }: Transcribed): Part {
  const read = step('read its text', `rtc transcriptions get ${transcriptionId}`);
  if (status === 'completed') return { next: [read] };
  if (status !== 'failed')
    return { next: [step(`its transcription is ${status}`, `rtc wait transcription ${transcriptionId}`)] };
  return {
    troubles: [`its transcription ${transcriptionId} failed: ${error?.message ?? 'no reason is known'}`],
  };
}

function step(text: string, command: string | null): NextStep {
  return { text, command };
}
