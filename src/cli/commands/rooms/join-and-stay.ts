import { resolve } from 'node:path';
import type { RtcClient } from '../../../client/client.ts';
import { RtcError } from '../../../client/rtc-error.ts';
import { formatDuration } from '../../../contract/amounts.ts';
import type { Role } from '../../../contract/choices.ts';
import type { RoomVisitEnd, RoomVisitNews } from '../../../contract/launcher.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { CliError, EXIT, type ExitCode } from '../../errors/cli-error.ts';
import { fileError, isFileError } from '../../errors/file-error.ts';
import { isMissingPackages, startError } from '../../errors/start-error.ts';
import type { Context } from '../../framework/context.ts';
import type { RoomPublication, RoomVisitToken } from '../../terminal/io.ts';
import { jsonLine } from '../../terminal/output.ts';
import { printStatus } from '../../terminal/terminal.ts';
import { readClosing, readOccupancy, requireMedia } from './joining.ts';

export type Visit = {
  readonly person: {
    readonly room: string;
    readonly identity: string;
    readonly name: string;
    readonly role: Role;
  };
  /** Parts of the test pattern, a path, or `-`; undefined publishes nothing. */
  readonly publish: { readonly parts: readonly ('audio' | 'video')[] } | string | undefined;
  /** A path, or `-`. */
  readonly listen: string | undefined;
  readonly isLooped: boolean;
  readonly raw: { readonly sampleRate: number; readonly channels: number };
};

/** Joins a room of the real media server, reports on stderr what happens in it, and returns the exit code of its end. */
export async function joinAndStay(context: Context, visit: Visit): Promise<ExitCode> {
  const { io } = context;
  const { room, identity, name, role } = visit.person;
  const client = await context.client();
  const issueToken = async (): Promise<RoomVisitToken> => {
    const body = { roomId: room, userId: identity, name, role };
    const issued = await client.tokens.create(body, { signal: io.signal });
    await requireMedia(issued.url, io.signal);
    return issued;
  };
  if (context.flags.isCurl) await issueToken();
  const { visitRoom } = await io.loaders.roomClient();
  let hasLeft = false;
  // Warnings are sent once: whoever joins later asks for the last one.
  const tellClosing = async (): Promise<void> => {
    const closing = await readClosing({ client, room, clock: io.clock }).catch(() => undefined);
    if (closing !== undefined && !hasLeft) report(context, visit, { type: 'closing', ...closing });
  };
  try {
    const end = await visitRoom({
      publication: readPublication(context, visit),
      isLooped: visit.isLooped,
      listenTo: openTarget(context, visit.listen),
      signal: io.signal,
      onNews: (news) => {
        report(context, visit, news);
        if (news.type === 'joined') void tellClosing();
      },
      issueToken,
    });
    reportEnd(context, visit, end);
    return toExitCode(end, visit);
  } catch (error) {
    if (error instanceof RtcError || error instanceof CliError || io.signal.aborted) throw error;
    if (isFileError(error)) throw ownFileError(context, visit, error);
    if (readErrorCode(error) === 'ERR_UNAVAILABLE') await requirePlace(client, room);
    const isUnavailable = isMissingPackages(error) || readErrorCode(error) === 'ERR_UNAVAILABLE';
    const exitCode = isUnavailable ? EXIT.unavailable : EXIT.failure;
    throw startError(error, { exitCode, signal: io.signal });
  } finally {
    hasLeft = true;
  }
}

/** LiveKit answers a join of a full room with 500 and no reason, so the room is asked. */
async function requirePlace(client: RtcClient, room: string): Promise<void> {
  const occupancy = await readOccupancy(client, room).catch(() => undefined);
  if (occupancy === undefined) return;
  const { people, maxParticipants } = occupancy;
  if (maxParticipants === 0 || people < maxParticipants) return;
  const next = `wait until somebody leaves: rtc participants list ${shellQuote(room)}`;
  throw new CliError(EXIT.conflict, `room ${room} is full: ${people} of ${maxParticipants}`, next);
}

function ownFileError({ io }: Context, { listen }: Visit, error: NodeJS.ErrnoException): CliError {
  const path = error.path ?? '';
  if (error.code === 'EEXIST') {
    return new CliError(EXIT.conflict, `${path} already exists`, 'name another file, or remove this one');
  }
  const isWritten = listen !== undefined && resolve(io.workingDirectory, listen) === path;
  return fileError(error, { doing: isWritten ? 'written' : 'read' });
}

function readErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function readPublication({ io }: Context, { publish, raw }: Visit): RoomPublication | undefined {
  if (publish === undefined) return undefined;
  if (publish === '-') return { kind: 'stdin', stream: io.stdin, raw };
  if (typeof publish === 'string') return { kind: 'file', path: resolve(io.workingDirectory, publish) };
  return { kind: 'test-pattern', parts: publish.parts };
}

function openTarget({ io }: Context, listen: string | undefined) {
  if (listen === undefined) return undefined;
  return listen === '-' ? io.stdout : resolve(io.workingDirectory, listen);
}

function report(context: Context, visit: Visit, news: RoomVisitNews): void {
  const { terminal, io } = context;
  if (terminal.json === undefined) printStatus(terminal, describeNews(news, visit));
  else io.stdout.write(`${jsonLine(terminal, news)}\n`);
}

function describeNews(news: RoomVisitNews, { person, listen }: Visit): string {
  switch (news.type) {
    case 'joined': {
      const others = news.others.length === 0 ? 'nobody else' : news.others.join(', ');
      return `Joined ${news.room} as ${news.identity} (${person.role}); with ${others}. Ctrl-C leaves.`;
    }
    case 'waiting':
      return `Waiting until somebody admits ${person.identity} to ${person.room}. Ctrl-C leaves.`;
    case 'published':
      return `Publishing ${news.kind === 'audio' ? 'sound' : 'pictures'}: ${news.trackSid}.`;
    case 'participant_joined':
      return `${news.identity} has joined.`;
    case 'participant_left':
      return `${news.identity} has left.`;
    case 'heard':
      return `Writing what ${news.identity} says to ${listen === '-' ? 'stdout' : listen}.`;
    case 'closing':
      return `${person.room} closes in ${formatDuration(news.secondsLeft)}.`;
    case 'reconnecting':
      return 'The connection is lost; trying again.';
    case 'reconnected':
      return 'The connection is back.';
  }
}

function reportEnd(context: Context, visit: Visit, end: RoomVisitEnd): void {
  const { terminal, io } = context;
  if (terminal.json === undefined) printStatus(terminal, textOfEnd(end, visit));
  else io.stdout.write(`${jsonLine(terminal, { type: 'left', reason: end })}\n`);
}

function textOfEnd(end: RoomVisitEnd, { person, publish }: Visit): string {
  const { room, identity } = person;
  switch (end) {
    case 'stopped':
      return `Left ${room}.`;
    case 'played':
      return `Played ${publish === '-' ? 'stdin' : String(publish)} to its end, and left ${room}.`;
    case 'room-closed':
      return `Room ${room} was closed.`;
    case 'removed':
      return `${identity} was removed from ${room}.`;
    case 'denied':
      return `${identity} was not admitted to ${room}.`;
    case 'replaced':
      return `Another ${identity} has joined ${room}, which ends this one: take another identity with --as.`;
    case 'disconnected':
      return `The media server has ended the connection to ${room}.`;
  }
}

/** The end of a room interrupts a file, and is the normal end of everything else. */
function toExitCode(end: RoomVisitEnd, { publish }: Visit): ExitCode {
  switch (end) {
    case 'stopped':
    case 'played':
      return EXIT.success;
    case 'room-closed':
      return typeof publish === 'string' ? EXIT.negative : EXIT.success;
    case 'removed':
    case 'denied':
    case 'replaced':
      return EXIT.negative;
    case 'disconnected':
      return EXIT.unavailable;
  }
}
