/*
 * Requests of the page to the command line that serves it. Every request has the access token of the page: the command line
 * serves every holder of a token that it issued itself, even an expired one.
 */

/** Another token for the same person, with the same identity, or with a new one for a second tab. */
type TokenRequest = { readonly asAnotherPerson: boolean };

export async function requestToken(invitation: Invitation, request: TokenRequest): Promise<Invitation> {
  return await readInvitationOf(await post('token', { body: request, token: invitation.token }));
}

/** Exchanges a code for a seat; a code works once. */
export async function redeemCode(code: string): Promise<Invitation> {
  return await readInvitationOf(await post('join', { body: { code }, token: undefined }));
}

export async function muteTrack(
  invitation: Invitation,
  target: { readonly identity: string; readonly trackSid: string },
): Promise<void> {
  await post('mute', { body: target, token: invitation.token });
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
  const response = await post('captions', { body, token: invitation.token });
  const state: unknown = await response.json();
  return typeof state === 'object' && state !== null && 'isOn' in state && state.isOn === true;
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
  if (response === undefined) {
    throw new Error('The command line that opened this page has ended. Run rtc rooms open again.');
  }
  if (response.ok) return response;
  throw new Error(await detailOf(response));
}

async function detailOf(response: Response): Promise<string> {
  const problem: unknown = await response.json().catch(() => undefined);
  if (typeof problem === 'object' && problem !== null && 'detail' in problem) return String(problem.detail);
  return `The command line responded with status ${response.status}.`;
}

async function readInvitationOf(response: Response): Promise<Invitation> {
  const invitation: unknown = await response.json();
  if (isInvitation(invitation)) return invitation;
  throw new Error('The command line sent something that is not an invitation.');
}

function isInvitation(value: unknown): value is Invitation {
  if (typeof value !== 'object' || value === null) return false;
  const fields: Record<string, unknown> = { ...value };
  return ['room', 'identity', 'role', 'url', 'token'].every((name) => typeof fields[name] === 'string');
}

/*
 * The fragment of the page's address, which browsers never send to a server. The link that `rtc rooms open` prints has a
 * code, which the page exchanges for an invitation and replaces by it:
 *
 *   http://127.0.0.1:PORT/#code=…
 *   http://127.0.0.1:PORT/#room=demo&identity=ada&role=host&url=ws://…&token=…
 *
 * The page also uses the access token to prove itself to the command line when it needs a fresh one: see session.ts.
 */

export type Invitation = {
  readonly room: string;
  readonly identity: string;
  readonly role: string;
  /** WebSocket URL of the media server. */
  readonly url: string;
  /** LiveKit access token. */
  readonly token: string;
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
    role: read('role'),
    url: read('url'),
    token: read('token'),
  };
  return Object.values(invitation).includes('') ? undefined : invitation;
}

/** The fragment of an invitation, with its `#`. */
function writeInvitation(invitation: Invitation): string {
  return `#${new URLSearchParams(invitation)}`;
}
