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
export function writeInvitation(invitation: Invitation): string {
  return `#${new URLSearchParams(invitation)}`;
}
