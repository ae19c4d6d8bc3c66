import { PageError } from './session.ts';

/*
 * The words for the user of the page when there is no call: a guest's words and local time. An operator's advice, such as a
 * command to run, is shown on the operator's own machine only.
 */

export type Notice = {
  readonly title: string;
  readonly advice?: string;
  /** The label of the button that tries again; without it nothing would change. */
  readonly action?: string;
};

export const BROKEN_LINK: Notice = {
  title: 'This link is not whole.',
  advice: 'Copy all of it, or ask for a new one.',
};

export const DENIED: Notice = {
  title: 'The host did not let you in.',
  advice: 'To ask once more, you need a new link.',
};

export const LEFT: Notice = { title: 'You left the room.', action: 'Join again' };

export function describeRefusal(error: unknown): Notice {
  if (!(error instanceof PageError)) {
    return { title: error instanceof Error ? error.message : String(error), action: 'Try again' };
  }
  const until = describeInstant(error.until);
  switch (error.code) {
    case 'page-ended':
      return isOwnMachine()
        ? { title: 'The command that served this page has ended.', advice: 'Run rtc rooms open again.' }
        : { title: 'This page is no longer served.', advice: 'Ask whoever invited you for a new link.' };
    case 'participant-blocked':
      return until === undefined
        ? { title: 'You cannot enter this room.', advice: 'A host has blocked you.' }
        : { title: `You cannot enter this room until ${until}.`, advice: 'A host has blocked you.' };
    case 'room-closed':
      return until === undefined
        ? { title: 'This room is closed.', action: 'Try again' }
        : { title: `This room is closed until ${until}.`, action: 'Try again' };
    case 'room-not-open-yet':
      return { title: `This room opens ${until ?? 'later'}.`, action: 'Try again' };
    case 'waiting-room-full':
      return { title: 'Too many people wait already.', action: 'Try again' };
    case 'waiting-not-found':
      return { title: 'This person does not wait any more.' };
    case 'link-used':
      return {
        title: 'This link was used already, or is too old.',
        advice: 'A link is for one person, and for ten minutes. Ask whoever invited you for a new one.',
      };
    case 'unreachable':
    case 'timed-out':
    case 'media-unavailable':
      return { title: 'The service cannot be reached at the moment.', action: 'Try again' };
    default:
      return { title: error.message, action: 'Try again' };
  }
}

/** A refusal in one text, for a banner during the call. */
export function describeFailure(error: unknown): string {
  if (error instanceof DOMException) return describeDeviceError(error.name);
  const { title, advice } = describeRefusal(error);
  return advice === undefined ? title : `${title} ${advice}`;
}

export function describeFullRoom(people: number, maxParticipants: number): Notice {
  return {
    title: `The room is full: ${people} of ${maxParticipants}.`,
    advice: 'You can enter when somebody has left.',
    action: 'Try again',
  };
}

/** Today's time, or the day with the time. Undefined for what is not an instant. */
function describeInstant(text: string): string | undefined {
  const instant = new Date(text);
  if (text === '' || Number.isNaN(instant.getTime())) return undefined;
  const time = instant.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  if (instant.toDateString() === new Date().toDateString()) return time;
  return `${instant.toLocaleDateString([], { weekday: 'long', day: 'numeric', month: 'long' })}, ${time}`;
}

/** `name` is the name of an error of getUserMedia. */
export function describeDeviceError(name: string | undefined): string {
  switch (name) {
    case 'NotAllowedError':
    case 'PermissionDenied':
      return 'The browser does not give this page your camera or microphone. Allow them for this address, then reload.';
    case 'NotFoundError':
    case 'NotFound':
      return 'This machine has no camera or no microphone. You can watch and listen.';
    case 'NotReadableError':
    case 'DeviceInUse':
      return 'Another program is using the camera or the microphone. Close it, then try again.';
    default:
      return 'The camera or the microphone could not be started.';
  }
}

/** Returns whether the page is served on the machine of its user, who then is the operator. */
function isOwnMachine(): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(location.hostname);
}
