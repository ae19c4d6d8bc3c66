import { formatDuration, plural } from '../contract/amounts.ts';
import type { Block } from '../contract/blocks.ts';
import type { Event } from '../contract/events.ts';
import type { Participant } from '../contract/participants.ts';
import type { Room } from '../contract/rooms.ts';
import type { Session, SessionDetail } from '../contract/sessions.ts';
import { shellQuote } from '../contract/shell-quote.ts';
import { explainDeliveries, type Reading } from './explain-deliveries.ts';
import {
  combine,
  type Explanation,
  type Moment,
  type NextStep,
  type Part,
  showPerson,
  step,
} from './explanation.ts';
import { ifFound, momentOfEvent, momentOfRequest, readAudit, readEvents } from './timeline.ts';

/** How far back a room is explained that the media server has without a stored session. */
const LOOKED_BACK_MS = 86_400_000;

/**
 * Explains a room since it was last opened, with the media server's current state. Returns undefined when neither has the
 * room.
 */
export async function explainRoom(
  reading: Reading,
  name: string,
  nowMs: number,
): Promise<Explanation | undefined> {
  const { client, signal } = reading;
  const room = await ifFound(client.rooms.get(name, { signal }));
  const [newest] = (await client.sessions.list({ roomId: name, limit: 1, signal })).sessions;
  const blocks = (await client.blocks.list(name, { signal })).blocks;
  if (room === undefined && newest === undefined && blocks.length === 0) return undefined;
  const session =
    newest === undefined ? undefined : await ifFound(client.sessions.get(newest.sessionId, { signal }));
  const explanation = await explainCall(reading, { name, room, session, blocks }, nowMs);
  return { subject: { kind: 'room', id: name }, ...explanation };
}

/** Explains one session of a room, also one that was followed by others. Returns undefined when it is not stored. */
export async function explainSession(
  reading: Reading,
  id: string,
  nowMs: number,
): Promise<Explanation | undefined> {
  const { client, signal } = reading;
  const session = await ifFound(client.sessions.get(id, { signal }));
  if (session === undefined) return undefined;
  const { roomId: name, endedAt } = session;
  const room = endedAt === null ? await ifFound(client.rooms.get(name, { signal })) : undefined;
  const explanation = await explainCall(reading, { name, room, session, blocks: [] }, nowMs);
  return { subject: { kind: 'session', id }, ...explanation };
}

type Call = {
  readonly name: string;
  /** The room, as the media server has it. */
  readonly room: Room | undefined;
  readonly session: SessionDetail | undefined;
  readonly blocks: readonly Block[];
};

/** Events are stored some time after they happened. */
const STORED_LATER_MS = 60_000;

async function explainCall(
  reading: Reading,
  { name, room, session, blocks }: Call,
  nowMs: number,
): Promise<Omit<Explanation, 'subject'>> {
  const untilMs = session?.endedAt == null ? undefined : Date.parse(session.endedAt) + STORED_LATER_MS;
  const isWithin = (at: string): boolean => untilMs === undefined || Date.parse(at) <= untilMs;
  const sinceMs = session === undefined ? nowMs - LOOKED_BACK_MS : Date.parse(session.createdAt);
  const stored = await readEvents(reading, { room: name, sinceMs, untilMs });
  const own = stored.filter((event) => session === undefined || event.room?.id === session.sessionId);
  const events = [...(await readWaitedBefore(reading, session)), ...own];
  const requests = await readAudit(reading, { roomId: name, since: new Date(sinceMs).toISOString() });
  const people = room === undefined ? undefined : await ifFound(readPeople(reading, name));
  const parts = [
    { timeline: events.flatMap((event) => momentOfEvent(event) ?? []) },
    { timeline: (requests ?? []).filter(({ occurredAt }) => isWithin(occurredAt)).map(momentOfRequest) },
    compare(room, session),
    ...(session === undefined ? [] : [partOfResults(session)]),
    await explainDeliveries(reading, events),
    partOfBlocks(name, blocks, session),
  ];
  const present = people?.map(showPerson);
  const { next, ...combined } = combine(parts);
  const looking =
    room === undefined
      ? lastSteps(session)
      : [step('watch it', `rtc events tail --room ${shellQuote(name)}`)];
  return {
    headline: writeHeadline(name, { room, session, present, nowMs }),
    ...combined,
    next: [...next, ...looking],
  };
}

const WAITING = ['participant_waiting', 'participant_admitted', 'participant_denied'] as const;

/** The media server tells when it opened a room in whole seconds. */
const SECOND_MS = 1000;

/** Whoever waited before the room was opened: these events belong to no session. */
async function readWaitedBefore(
  reading: Reading,
  session: SessionDetail | undefined,
): Promise<readonly Event[]> {
  if (session === undefined) return [];
  const { client, signal } = reading;
  const { roomId: room, createdAt: until } = session;
  const [before] = (await client.sessions.list({ roomId: room, until, limit: 1, signal })).sessions;
  const untilMs = Date.parse(until);
  const sinceMs = Math.max(
    untilMs - LOOKED_BACK_MS,
    before?.endedAt == null ? 0 : Date.parse(before.endedAt),
  );
  const events = await readEvents(reading, { room, types: WAITING, sinceMs, untilMs });
  return events.filter(
    ({ room: named, timestamp }) => named?.id === '' && Date.parse(timestamp) < untilMs + SECOND_MS,
  );
}

async function readPeople({ client, signal }: Reading, room: string): Promise<readonly Participant[]> {
  const people: Participant[] = [];
  for await (const participant of client.participants.all(room, { signal })) people.push(participant);
  return people;
}

type Known = {
  readonly room: Room | undefined;
  readonly session: SessionDetail | undefined;
  readonly present: readonly string[] | undefined;
  readonly nowMs: number;
};

const NAMED = 10;

function writeHeadline(name: string, { room, session, present, nowMs }: Known): string {
  if (room === undefined) {
    if (session === undefined) return `Room ${name} is not open, and only its blocks are stored.`;
    if (session.endedAt === null) return `Room ${name} is no longer open.`;
    const { endedAt, durationMs, totalParticipants, peakParticipants } = session;
    const ago = formatDuration(Math.max(0, nowMs - Date.parse(endedAt)) / 1000);
    if (totalParticipants === 0) return `Room ${name} was closed ${ago} ago; nobody had joined.`;
    const lasted = formatDuration(durationMs / 1000);
    const people = `${plural(totalParticipants, 'person', 'people')}, at most ${peakParticipants} at once`;
    return `Room ${name} was closed ${ago} ago, after ${lasted} with ${people}.`;
  }
  const who = present ?? [];
  const named = who.slice(0, NAMED).join(', ');
  const more = who.length > NAMED ? ` and ${who.length - NAMED} more` : '';
  const recorded = session?.recordings.some(({ status }) => status === 'recording')
    ? ', and is being recorded'
    : '';
  const inside =
    who.length === 0
      ? 'nobody is in it'
      : `${plural(who.length, 'person is', 'people are')} in it: ${named}${more}`;
  return `Room ${name} is open${recorded}; ${inside}.`;
}

/** Notes differences between the media server and the stored state, which the reconciler corrects within a minute. */
function compare(room: Room | undefined, session: Session | undefined): Part {
  const isOpen = session !== undefined && session.endedAt === null;
  if (room === undefined && isOpen) {
    return {
      troubles: ['the media server no longer has the room, and no event reported its end'],
      next: [
        step(
          'the service finds its end by comparison within a minute; if not, check the set-up',
          'rtc doctor --probe',
        ),
      ],
    };
  }
  if (room === undefined || isOpen) return {};
  return {
    troubles: ['the room is open on the media server, but no event reported it'],
    next: [step("check whether the media server's events reach the service", 'rtc doctor --probe')],
  };
}

/** Lists blocked identities. A join with an older token is no event: whoever tries it is put out. */
function partOfBlocks(room: string, blocks: readonly Block[], session: SessionDetail | undefined): Part {
  const names = new Map(session?.participants.map(({ identity, name }) => [identity, name]));
  const show = ({ identity }: Block) => showPerson({ identity, name: names.get(identity) });
  const until = ({ blockedUntil }: Block) => (blockedUntil === null ? 'for ever' : `until ${blockedUntil}`);
  return {
    timeline: blocks.map(
      (block): Moment => ({
        at: block.blockedAt,
        text: `${show(block)} was blocked ${until(block)}`,
        source: 'block',
        id: block.identity,
        isTrouble: false,
      }),
    ),
    next: blocks.map((block) =>
      step(
        `${show(block)} gets no token for this room ${until(block)}, and is put out if it comes with an older one; let it in again`,
        `rtc blocks remove ${shellQuote(room)} ${shellQuote(block.identity)}`,
      ),
    ),
  };
}

/** Describes starts of transcriptions, which have no event, and what failed. */
function partOfResults({ recordings, transcriptions }: SessionDetail): Part {
  const bad = recordings.filter(({ status }) => status === 'failed' || status === 'aborted');
  const failed = transcriptions.filter(({ status }) => status === 'failed');
  return {
    timeline: transcriptions.map(({ transcriptionId: id, recordingId, startedAt: at }): Moment => {
      const text = recordingId === null ? 'was started' : `of recording ${recordingId} was asked for`;
      return { at, text: `transcription ${id} ${text}`, source: 'transcription', id, isTrouble: false };
    }),
    troubles: [
      ...bad.map(({ recordingId, status, error }) =>
        status === 'aborted'
          ? `recording ${recordingId} was aborted: no media arrived`
          : `recording ${recordingId} failed: ${error ?? 'no reason is known'}`,
      ),
      ...failed.map(({ transcriptionId }) => `transcription ${transcriptionId} failed`),
    ],
    next: [
      ...bad.map(({ recordingId }) =>
        step('see why the recording has no file', `rtc explain ${recordingId}`),
      ),
      ...failed.map(({ transcriptionId }) =>
        step('see why the transcription failed', `rtc transcriptions get ${transcriptionId}`),
      ),
    ],
  };
}

function lastSteps(session: Session | undefined): readonly NextStep[] {
  if (session === undefined) return [];
  return [step('see who was there when', `rtc sessions participants ${session.sessionId}`)];
}
