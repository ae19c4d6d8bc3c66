import type { IncomingMessage } from 'node:http';
import type { RtcClient } from '../../../../client/client.ts';
import { RtcError } from '../../../../client/rtc-error.ts';
import { INVITABLE_ROLES, type Role } from '../../../../contract/choices.ts';
import {
  fileResponse,
  type LoopbackServer,
  readJson,
  startLoopbackServer,
} from '../../../pages/loopback-server.ts';
import {
  jsonResponse,
  type PageFile,
  type PageResponse,
  pageHeaders,
  problem,
  readPageFiles,
} from '../../../pages/page-response.ts';
import type { Io } from '../../../terminal/io.ts';
import { ignoreForbidden, ignoreNotFound, readClosing, readOccupancy, requireMedia } from '../joining.ts';
import { type Person, type Seat, Seats, userIdentity } from './seats.ts';

type PageIo = Pick<Io, 'launcher' | 'clock' | 'signal' | 'env'>;

export type PageRequest = {
  readonly client: RtcClient;
  readonly room: string;
  /** Identity; default: the user of this machine. */
  readonly as?: string | undefined;
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
  /** Default: a free one. */
  readonly port?: number | undefined;
  readonly publicUrl?: URL | undefined;
};

export type ServedPage = {
  /** Origin, such as http://127.0.0.1:41000. */
  readonly origin: string;
  /** Link for this machine or, with a public address, for one person anywhere. */
  readonly link: string;
  readonly close: () => Promise<void>;
};

/** Serves the page of a room. Throws when the page is not built, or when the media server carries no media. */
export async function servePage(io: PageIo, request: PageRequest): Promise<ServedPage> {
  const { client, room, as: identity = userIdentity(io.env), port = 0, publicUrl } = request;
  const { name = identity, role = 'host' } = request;
  const { url: mediaUrl } = await client.tokens.create({ roomId: room, userId: identity, name, role });
  await requireMedia(mediaUrl, io.signal);
  const seats = new Seats({
    client,
    room,
    person: { identity, name, role },
    monotonic: () => performance.now(),
  });
  const files = await readPageFiles(io.launcher, 'room');
  const { origin, close } = await startPageServer({
    client,
    seats,
    room,
    clock: io.clock,
    files,
    mediaUrl,
    port,
    publicUrl,
  });
  const code = seats.createCode(publicUrl === undefined ? 'local' : 'public');
  return { origin, link: makeLink(publicUrl?.origin ?? origin, code), close };
}

function makeLink(origin: string, code: string): string {
  return `${origin}/#code=${code}`;
}

/*
 * Serves one room's page on 127.0.0.1. Other web pages and other names that resolve to this machine (DNS rebinding) have no
 * access: Host must be one of ours, a POST must come from our own origin, and every action needs a token that was issued
 * here. Access tokens are sent in the fragment of the address and in a header, so that they are in no log.
 */

type PageServerSettings = Omit<PageActionDeps, 'origin'> & {
  readonly files: ReadonlyMap<string, PageFile>;
  /** WebSocket URL of the media server, which the page may connect to. */
  readonly mediaUrl: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** The address under which a proxy serves the page to others. */
  readonly publicUrl: URL | undefined;
};

export type PageServer = LoopbackServer;

const MAX_BODY_BYTES = 16 * 1024;

export async function startPageServer(settings: PageServerSettings): Promise<PageServer> {
  const { port, mediaUrl, publicUrl } = settings;
  const others = publicUrl === undefined ? [] : [publicUrl.origin];
  return await startLoopbackServer({
    port,
    headers: pageHeaders({
      connect: mediaOrigins(mediaUrl),
      permissions: 'camera=(self), microphone=(self), display-capture=(self)',
    }),
    respond: (request, origin) =>
      respond(
        { ...settings, origin: publicUrl?.origin ?? origin },
        [origin, origin.replace('127.0.0.1', 'localhost'), ...others],
        request,
      ),
  });
}

function mediaOrigins(mediaUrl: string): readonly string[] {
  const { protocol, host } = new URL(mediaUrl);
  return protocol === 'wss:' ? [`wss://${host}`, `https://${host}`] : [`ws://${host}`, `http://${host}`];
}

async function respond(
  settings: PageActionDeps & Pick<PageServerSettings, 'files' | 'publicUrl'>,
  origins: readonly string[],
  request: IncomingMessage,
): Promise<PageResponse> {
  const { method = 'GET', headers } = request;
  const [path = '/'] = (request.url ?? '/').split('?');
  const hosts = origins.map((origin) => new URL(origin).host);
  if (!hosts.includes(headers.host ?? '')) {
    return problem(421, 'This page is not served under that host name.');
  }
  if (method === 'GET' || method === 'HEAD') return fileResponse(settings.files.get(path));
  if (method !== 'POST' || !path.startsWith('/api/')) return problem(405, 'This method is not served here.');
  if (!origins.includes(headers.origin ?? '')) return problem(403, 'Only the page itself may do this.');
  if (headers['content-type'] !== 'application/json') return problem(415, 'Send application/json.');
  const body = await readJson(request, MAX_BODY_BYTES);
  if (body === undefined) return problem(400, 'The body is not a JSON object of at most 16 KiB.');
  try {
    return await runPageAction(settings, {
      action: path.slice('/api/'.length),
      token: /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1],
      body,
    });
  } catch (error) {
    if (!(error instanceof RtcError)) throw error;
    return refusal(error, settings.publicUrl === undefined ? error.detail : error.reason);
  }
}

/**
 * The page tells a refusal in its own words, by its code and its end. An operator's advice, such as a command to run,
 * does not leave this machine.
 */
function refusal({ status = 502, code, problem: refused }: RtcError, detail: string): PageResponse {
  const members: Readonly<Record<string, unknown>> = { ...refused };
  const until = members.blockedUntil ?? members.closedUntil ?? members.opensAt ?? null;
  return problem(status, detail, { code, until });
}

type PageActionDeps = {
  readonly client: Pick<RtcClient, 'events' | 'participants' | 'rooms' | 'transcription' | 'waiting'>;
  readonly seats: Seats;
  readonly room: string;
  readonly clock: () => number;
  /** The origin of links to the page. */
  readonly origin: string;
};

type PageAction = {
  readonly action: string;
  /** The access token of the page. */
  readonly token: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
};

/** Does what the page requests. Rejects with the client's error when the service refuses it. */
async function runPageAction(deps: PageActionDeps, request: PageAction): Promise<PageResponse> {
  const { action, token, body } = request;
  const { seats, client, room } = deps;
  if (action === 'join') {
    const invitation = await seats.redeem(toText(body.code));
    if (invitation !== undefined) return jsonResponse(200, invitation);
    return problem(403, 'This link was used already, or is too old.', { code: 'link-used' });
  }
  const seat = token === undefined ? undefined : seats.find(token);
  if (seat === undefined) {
    const detail = 'This link is from another run of rtc rooms open, or was blocked.';
    return problem(401, detail, { code: 'link-used' });
  }
  const { person, link } = seat;
  if (action === 'token') return await issueToken(seats, seat, body);
  // Whoever was blocked keeps the token, and must not act on others with it.
  if (link === 'public') await seats.confirm(seat);
  switch (action) {
    case 'mute': {
      if (!hasRole(person, ['host', 'moderator']))
        return problem(403, 'Only a host or a moderator may mute others.');
      const [identity, trackSid] = [toText(body.identity), toText(body.trackSid)];
      if (identity === '' || trackSid === '') return problem(400, 'identity and trackSid are required.');
      await client.participants.mute({ room, identity, trackSid });
      return { status: 204 };
    }
    case 'remove': {
      if (!hasRole(person, ['host'])) return problem(403, 'Only a host may remove others.');
      const identity = toText(body.identity);
      if (identity === '') return problem(400, 'identity is required.');
      await client.participants.remove(room, identity);
      return { status: 204 };
    }
    case 'room':
      return jsonResponse(200, await readOccupancy(client, room));
    case 'closing':
      return jsonResponse(200, { secondsLeft: (await readClosing(deps))?.secondsLeft ?? null });
    case 'hand':
      return await moveHand(deps, person, body.isRaised === true ? 'raised' : null);
    case 'invite':
      return invite(deps, seat, body.role);
    case 'captions': {
      if (!hasRole(person, ['host'])) return problem(403, 'Only a host may start and stop captions.');
      return jsonResponse(200, { isOn: await setCaptions(deps, body.isOn) });
    }
    default:
      return await decideEntry(deps, person, request);
  }
}

/** Lists who waits to be admitted, or decides about them. */
async function decideEntry(
  { client, room, seats }: PageActionDeps,
  person: Person,
  { action, body }: PageAction,
): Promise<PageResponse> {
  if (!['waiting', 'admit', 'admit-all', 'deny'].includes(action))
    return problem(404, 'There is no such action.');
  if (!hasRole(person, ['host', 'moderator']))
    return problem(403, 'Only a host or a moderator may let others in.');
  const identity = toText(body.identity);
  if (action === 'waiting') return jsonResponse(200, await followWaiting(client, room, toText(body.cursor)));
  if (action === 'admit-all') await client.waiting.admitAll(room);
  else if (identity === '') return problem(400, 'identity is required.');
  // The token is for the person alone.
  else if (action === 'admit') await client.waiting.admit({ room, identity });
  else {
    await client.waiting.deny({ room, identity });
    seats.drop(identity);
  }
  return { status: 204 };
}

const WAITING_EVENTS = ['participant_waiting', 'participant_admitted', 'participant_denied'] as const;
/** Whoever gives up causes no event, so the list is read again after this time at the latest. */
const WAIT_SECONDS = 10;

/**
 * Returns who waits, with a cursor. With the cursor of an earlier list, it returns once somebody else waits. A key that must not
 * read events gets no cursor.
 */
async function followWaiting(
  { events, waiting }: Pick<RtcClient, 'events' | 'waiting'>,
  room: string,
  cursor: string,
) {
  const asked =
    cursor === ''
      ? { cursor: 'latest' }
      : { cursor, roomId: room, types: WAITING_EVENTS, wait: WAIT_SECONDS };
  const page = await events.list(asked).catch(ignoreForbidden);
  return { ...(await waiting.list(room)), cursor: page?.nextCursor ?? null };
}

/**
 * Starts or stops the live transcription, and returns whether it runs. Without a boolean it only returns the state. A room that
 * was never transcribed has none, and another client may have stopped it.
 */
async function setCaptions({ client, room }: PageActionDeps, isOn: unknown): Promise<boolean> {
  if (isOn === true) await client.transcription.start(room);
  else if (isOn === false) await client.transcription.stop(room).catch(ignoreNotFound);
  const current = await client.transcription.get(room).catch(ignoreNotFound);
  return current?.status === 'active';
}

async function moveHand(
  { client, room }: PageActionDeps,
  person: Person,
  hand: string | null,
): Promise<PageResponse> {
  if (person.role === 'viewer') return problem(403, 'A viewer cannot raise a hand.');
  await client.participants.update({ room, identity: person.identity }, { attributes: { hand } });
  return { status: 204 };
}

async function issueToken(seats: Seats, seat: Seat, body: PageAction['body']): Promise<PageResponse> {
  if (body.asAnotherPerson !== true) return jsonResponse(200, await seats.issue(renameSeat(seat, body.name)));
  if (seat.link === 'public') return problem(403, 'This link is for one person, who is in the room already.');
  await seats.confirm(seat);
  return jsonResponse(200, await seats.take(seat));
}

function invite({ seats, origin }: PageActionDeps, { person, link }: Seat, wanted: unknown): PageResponse {
  const role = INVITABLE_ROLES[person.role].find((known) => known === wanted);
  if (role === undefined) return problem(403, `A ${person.role} cannot invite with this role.`);
  const code = seats.createCode(link, role);
  return jsonResponse(200, { link: makeLink(origin, code), isPublic: link === 'public' });
}

function renameSeat(seat: Seat, name: unknown): Seat {
  const text = toText(name).trim();
  return text === '' ? seat : { ...seat, person: { ...seat.person, name: text } };
}

function hasRole({ role }: Person, allowed: readonly Role[]): boolean {
  return allowed.includes(role);
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
