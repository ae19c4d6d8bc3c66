import { formatBytes, formatDuration, plural } from '../contract/amounts.ts';
import type { AuditEntry } from '../contract/audit.ts';
import type { Delivery } from '../contract/deliveries.ts';
import { PROBLEMS } from '../contract/errors.ts';
import type { Event } from '../contract/events.ts';
import type { Recording } from '../contract/recordings.ts';
import { shellQuote } from '../contract/shell-quote.ts';
import type { Webhook } from '../contract/webhooks.ts';
import {
  type Attempt,
  describeReason,
  explainDeliveries,
  mend,
  type Reading,
  resume,
} from './explain-deliveries.ts';
import { explainRoom, explainSession } from './explain-room.ts';
import {
  combine,
  type Explanation,
  type Moment,
  type NextStep,
  type Part,
  type SubjectKind,
  step,
} from './explanation.ts';
import {
  describeRequest,
  ifFound,
  momentOfEvent,
  momentOfRequest,
  readAudit,
  readEvents,
} from './timeline.ts';

const SHOWN_BODY = 120;

/** Tolerance: the clocks of the recorder and the service may differ, and an end is reported some seconds late. */
const AROUND_MS = 60_000;

type Subject = { readonly kind: SubjectKind; readonly id: string };

/** Says why there is nothing to explain, and how to find what there is. */
type Missing = { readonly missing: string; readonly next: string };

/** Explains what happened to a room, recording, delivery or request, how it is now, and what to do next. */
export async function explainSubject(
  reading: Reading,
  { kind, id }: Subject,
  nowMs: number,
): Promise<Explanation | Missing> {
  return await EXPLAIN[kind](reading, id, nowMs);
}

type Explain = (reading: Reading, id: string, nowMs: number) => Promise<Explanation | Missing>;

const EXPLAIN: Readonly<Record<SubjectKind, Explain>> = {
  room: async (reading, name, nowMs) =>
    (await explainRoom(reading, name, nowMs)) ?? {
      missing: `no room ${name} is open, and nothing is stored of one`,
      next: 'list them: rtc sessions list',
    },
  session: async (reading, id, nowMs) =>
    (await explainSession(reading, id, nowMs)) ?? {
      missing: `no session ${id} is stored`,
      next: 'list them: rtc sessions list',
    },
  recording: async (reading, id) => {
    const { client, signal } = reading;
    const found = await ifFound(client.recordings.get(id, { signal }));
    if (found !== undefined) return await explainRecording(reading, found);
    return { missing: `there is no recording ${id}`, next: 'list them: rtc recordings list' };
  },
  delivery: async (reading, id) => {
    const found = await findDelivery(reading, id);
    if (found !== undefined) return await explainDelivery(reading, found);
    return { missing: `no webhook has a delivery ${id}`, next: 'list them: rtc webhooks list' };
  },
  request: async (reading, given) => {
    const id = given.replace(/^urn:uuid:/i, '');
    const entries = await readAudit(reading, { requestId: id });
    const found = entries === undefined ? undefined : explainRequest(id, entries);
    if (found !== undefined) return found;
    const missing =
      entries === undefined
        ? `this key may not read the audit log, so request ${id} cannot be looked up`
        : `the audit log has no request ${id}; it only has requests that change something`;
    return { missing, next: `search the service's log for ${id}; it has every request` };
  },
};

/** Explains a request by its id, which every error has. */
function explainRequest(requestId: string, entries: readonly AuditEntry[]): Explanation | undefined {
  const last = entries.at(-1);
  if (last === undefined) return undefined;
  const isTrouble = last.status >= 400;
  return {
    subject: { kind: 'request', id: requestId },
    headline: `Request ${requestId}: ${describeRequest(last)}.`,
    timeline: entries.map(momentOfRequest),
    troubles: isTrouble ? [explainProblem(last.problem)] : [],
    next: suggestNextForRequest(last),
  };
}

function explainProblem(problem: string | null): string {
  const known = Object.entries(PROBLEMS).find(([code]) => code === problem);
  return known?.[1].meaning ?? 'the service gives no reason';
}

function suggestNextForRequest({ requestId, status, ids }: AuditEntry): readonly NextStep[] {
  const { roomId } = ids;
  return [
    ...(status >= 500
      ? [{ text: `the service's log has the cause: look for ${requestId} there`, command: null }]
      : []),
    ...(roomId === undefined
      ? []
      : [
          {
            text: 'see what happened in its room',
            command: `rtc explain --as room -- ${shellQuote(roomId)}`,
          },
        ]),
  ];
}

/** Searches all webhooks, because the id of a delivery does not name its webhook. Returns undefined when none has it. */
async function findDelivery(
  { client, signal }: Reading,
  id: string,
): Promise<{ readonly delivery: Delivery; readonly webhook: Webhook } | undefined> {
  for await (const webhook of client.webhooks.all({ signal })) {
    const delivery = await ifFound(client.deliveries.get(webhook.id, id, { signal }));
    if (delivery !== undefined) return { delivery, webhook };
  }
  return undefined;
}

type Found = { readonly delivery: Delivery; readonly webhook: Webhook };

/** Explains a delivery: its event, every attempt, and why it has not succeeded. */
async function explainDelivery(reading: Reading, { delivery, webhook }: Found): Promise<Explanation> {
  const { id, eventId, attempts, status, createdAt } = delivery;
  const events = await readEvents(reading, { sinceMs: Date.parse(createdAt) });
  const event = events.find((one) => one.id === eventId);
  const moment = event === undefined ? undefined : momentOfEvent(event);
  const room = event?.room == null ? '' : ` in room ${event.room.name}`;
  const stored: Moment = {
    at: createdAt,
    text: `${delivery.event}${room}${moment === undefined ? '' : `: ${moment.text}`}`,
    source: 'event',
    id: eventId,
    isTrouble: false,
  };
  const last = attempts.at(-1);
  const isThrough = status === 'delivered';
  return {
    subject: { kind: 'delivery', id },
    headline: writeHeadline(delivery, webhook),
    timeline: [stored, ...attempts.map((attempt) => momentOfAttempt(id, attempt))],
    troubles:
      isThrough || last === undefined ? [] : [`the receiver did not accept it: ${describeAttempt(last)}`],
    next: isThrough ? [] : suggestNextForDelivery({ delivery, webhook }, last),
  };
}

function writeHeadline(
  { id, event, status, waiting, attempts, nextAttemptAt }: Delivery,
  { id: webhookId, url, pausedAt }: Webhook,
): string {
  const what = `Delivery ${id} of ${event} to webhook ${webhookId} (${url})`;
  const tries = plural(attempts.length, 'attempt');
  if (status === 'delivered') return `${what} was accepted by the receiver at attempt ${attempts.length}.`;
  if (status === 'failed') return `${what} failed after ${tries}; it is not retried automatically.`;
  if (status === 'cancelled') return `${what} was cancelled: its webhook was deleted.`;
  if (status === 'pending' && pausedAt)
    return `${what} waits, because its webhook has been paused since ${pausedAt}.`;
  if (waiting) return `${what} waits for an earlier delivery of its room, which its webhook wants in order.`;
  const due = nextAttemptAt === null ? '' : `; the next one is due at ${nextAttemptAt}`;
  return `${what} has not been delivered yet, after ${tries}${due}.`;
}

function momentOfAttempt(id: string, attempt: Attempt): Moment {
  const isTaken = attempt.error === null && attempt.statusCode !== null && attempt.statusCode < 300;
  const outcome = isTaken ? `the receiver responded with ${attempt.statusCode}` : describeAttempt(attempt);
  return {
    at: attempt.startedAt,
    text: `attempt ${attempt.number}: ${outcome}, after ${attempt.durationMs} ms`,
    source: 'delivery',
    id,
    isTrouble: !isTaken,
  };
}

/** Includes the beginning of the receiver's response, which usually has the reason. */
function describeAttempt(attempt: Attempt): string {
  const body = attempt.responseBody?.trim() ?? '';
  if (body === '') return describeReason(attempt);
  const shown = body.length > SHOWN_BODY ? `${body.slice(0, SHOWN_BODY)}…` : body;
  return `${describeReason(attempt)} "${shown}"`;
}

function suggestNextForDelivery(
  { delivery: { id, webhookId, status }, webhook: { pausedAt } }: Found,
  last: Attempt | undefined,
): readonly NextStep[] {
  const mending = last === undefined ? [] : [mend(webhookId, last)];
  if (status === 'pending' && pausedAt) return [...mending, resume(webhookId)];
  if (status === 'pending') {
    return [
      ...mending,
      { text: 'or wait until it is over', command: `rtc wait delivery ${webhookId} ${id}` },
    ];
  }
  if (status === 'cancelled') return [];
  return [
    ...mending,
    { text: 'when it works, send it again', command: `rtc webhooks replay ${webhookId} ${id}` },
  ];
}

/** Explains a recording, with the events of its room during the recording. */
async function explainRecording(reading: Reading, recording: Recording): Promise<Explanation> {
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
    await explainDeliveries(reading, own),
  ];
  return {
    subject: { kind: 'recording', id: recordingId },
    headline: writeRecordingHeadline(recording),
    ...combine(parts),
  };
}

function isAboutRecording(event: Event, { recordingId }: Recording): boolean {
  return event.recording?.egressId === recordingId || event.transcription?.recordingId === recordingId;
}

function writeRecordingHeadline({
  recordingId,
  roomId,
  status,
  durationMs,
  sizeBytes,
  endedAt,
}: Recording): string {
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
