/*
 * Requests of the page to the command line that serves it. All but the first one have the access token of the page: the command line
 * serves every holder of a token that it issued itself, even an expired one.
 */

/** Another token for the same person, perhaps with another name, or for another person in a second tab. */
type TokenRequest = { readonly asAnotherPerson?: true; readonly name?: string };

export async function requestToken(invitation: Invitation, request: TokenRequest = {}): Promise<Invitation> {
  return await parseInvitation(await post('token', { body: request, token: invitation.token }));
}

/** Exchanges a code for a seat; a code works once. */
export async function redeemCode(code: string): Promise<Invitation> {
  return await parseInvitation(await post('join', { body: { code }, token: undefined }));
}

/** How many people are in the room, and how many it takes; 0 is without a limit. */
export type Occupancy = { readonly people: number; readonly maxParticipants: number };

export async function readOccupancy(invitation: Invitation): Promise<Occupancy> {
  const read = await readFields(await post('room', { body: {}, token: invitation.token }));
  return { people: Number(read.people), maxParticipants: Number(read.maxParticipants) };
}

/** How long the room stays open, as those who are in it were told; undefined when they were not. */
export async function readSecondsLeft(invitation: Invitation): Promise<number | undefined> {
  const { secondsLeft } = await readFields(await post('closing', { body: {}, token: invitation.token }));
  return typeof secondsLeft === 'number' ? secondsLeft : undefined;
}

export async function moveHand(invitation: Invitation, wanted: 'up' | 'down'): Promise<void> {
  await post('hand', { body: { isRaised: wanted === 'up' }, token: invitation.token });
}

/** A link for another person. A public one works once, anywhere; another one works on this machine. */
export type InviteLink = { readonly link: string; readonly isPublic: boolean };

export async function createInvite(invitation: Invitation, role: string): Promise<InviteLink> {
  const read = await readFields(await post('invite', { body: { role }, token: invitation.token }));
  return { link: String(read.link), isPublic: read.isPublic === true };
}

export async function muteTrack(
  invitation: Invitation,
  target: { readonly identity: string; readonly trackSid: string },
): Promise<void> {
  await post('mute', { body: target, token: invitation.token });
}

export type WaitingPerson = {
  readonly identity: string;
  readonly name: string;
  readonly role: string;
  readonly waitingSince: string;
};

export type FoundWaiting = {
  /** Whether the room has a lobby. */
  readonly lobby: boolean;
  readonly waiting: readonly WaitingPerson[];
  /** To be told of the next change; empty when it must be asked for. */
  readonly cursor: string;
};

/** Returns who waits to be admitted: with the cursor of an earlier list, after some seconds or once it has changed. */
export async function readWaiting(invitation: Invitation, cursor = ''): Promise<FoundWaiting> {
  const read = await readFields(await post('waiting', { body: { cursor }, token: invitation.token }));
  const waiting = Array.isArray(read.waiting) ? read.waiting.filter(isWaitingPerson) : [];
  return { lobby: read.lobby === true, waiting, cursor: typeof read.cursor === 'string' ? read.cursor : '' };
}

function isWaitingPerson(value: unknown): value is WaitingPerson {
  if (typeof value !== 'object' || value === null) return false;
  const fields: Record<string, unknown> = { ...value };
  return ['identity', 'name', 'role', 'waitingSince'].every((name) => typeof fields[name] === 'string');
}

export async function admit(invitation: Invitation, identity: string): Promise<void> {
  await post('admit', { body: { identity }, token: invitation.token });
}

export async function admitAll(invitation: Invitation): Promise<void> {
  await post('admit-all', { body: {}, token: invitation.token });
}

export async function deny(invitation: Invitation, identity: string): Promise<void> {
  await post('deny', { body: { identity }, token: invitation.token });
}

export async function removeParticipant(invitation: Invitation, identity: string): Promise<void> {
  await post('remove', { body: { identity }, token: invitation.token });
}

/** Returns whether the captions of the room are on. */
export async function readCaptions(invitation: Invitation): Promise<boolean> {
  return await postCaptions(invitation, {});
}

/** Starts or stops the captions of the room. Returns whether they are on afterwards. */
export async function switchCaptions(invitation: Invitation, wanted: 'on' | 'off'): Promise<boolean> {
  return await postCaptions(invitation, { isOn: wanted === 'on' });
}

async function postCaptions(invitation: Invitation, body: object): Promise<boolean> {
  const { isOn } = await readFields(await post('captions', { body, token: invitation.token }));
  return isOn === true;
}

/** Makes the address of the page useless, for somebody who may not come again with it. */
export function forgetInvitation(): void {
  history.replaceState(null, '', location.pathname);
}

/** Keeps the address of the page usable: it has the newest token for a reload. */
export function keepInvitation(invitation: Invitation): void {
  history.replaceState(null, '', writeInvitation(invitation));
}

type Action = { readonly body: object; readonly token: string | undefined };

async function post(action: string, { body, token }: Action): Promise<Response> {
  const response = await fetch(`/api/${action}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  }).catch(() => undefined);
  if (response === undefined) throw new PageError('page-ended', 'The page is no longer served.');
  if (response.ok) return response;
  const { code, detail, until } = await readFields(response);
  throw new PageError(String(code), String(detail ?? `Status ${response.status}.`), String(until ?? ''));
}

/** A request that was refused. `code` is the service's error code, or `page-ended` when nobody serves the page any more. */
export class PageError extends Error {
  readonly code: string;
  /** Instant at which the refusal ends; empty if it does not, or if nobody knows. */
  readonly until: string;

  constructor(code: string, message: string, until = '') {
    super(message);
    this.code = code;
    this.until = until;
  }
}

async function readFields(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const body: unknown = await response.json().catch(() => undefined);
  return typeof body === 'object' && body !== null ? { ...body } : {};
}

async function parseInvitation(response: Response): Promise<Invitation> {
  const fields = await readFields(response);
  if (isInvitation(fields)) return fields;
  throw new Error('The command line sent something that is not an invitation.');
}

function isInvitation(value: unknown): value is Invitation {
  if (typeof value !== 'object' || value === null) return false;
  const fields: Record<string, unknown> = { ...value };
  return ['room', 'identity', 'name', 'role', 'url', 'token'].every(
    (name) => typeof fields[name] === 'string',
  );
}

/*
 * The fragment of the page's address, which browsers never send to a server. The link that `rtc rooms open` prints has a
 * code, which the page exchanges for an invitation and replaces by it:
 *
 *   http://127.0.0.1:PORT/#code=…
 *   http://127.0.0.1:PORT/#room=demo&identity=ada&name=Ada&role=host&url=ws://…&token=…
 *
 * The page also uses the access token to prove itself to the command line when it needs a fresh one: see requestToken.
 */

export type Invitation = {
  readonly room: string;
  readonly identity: string;
  readonly name: string;
  readonly role: string;
  /** WebSocket URL of the media server. */
  readonly url: string;
  /** LiveKit access token. */
  readonly token: string;
  /** Whether the token leads into the waiting room. */
  readonly waiting?: boolean;
};

/** The code of a new link, or null. */
export function readCode(fragment: string): string | null {
  return new URLSearchParams(fragment.replace(/^#/, '')).get('code');
}

/** Returns undefined when the fragment is not a complete invitation. */
export function readInvitation(fragment: string): Invitation | undefined {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const read = (name: string): string => fields.get(name) ?? '';
  const invitation = {
    room: read('room'),
    identity: read('identity'),
    name: read('name'),
    role: read('role'),
    url: read('url'),
    token: read('token'),
  };
  return Object.values(invitation).includes('') ? undefined : invitation;
}

/** The fragment of an invitation, with its `#`. */
function writeInvitation(invitation: Invitation): string {
  const { room, identity, name, role, url, token } = invitation;
  return `#${new URLSearchParams({ room, identity, name, role, url, token })}`;
}
