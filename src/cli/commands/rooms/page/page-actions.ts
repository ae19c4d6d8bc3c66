import type { RtcClient } from '../../../../client/client.ts';
import { RtcError } from '../../../../client/rtc-error.ts';
import type { Role } from '../../../../contract/choices.ts';
import { jsonResponse, type PageResponse, problem } from '../../../pages/page-response.ts';
import type { Person, Seats } from './seats.ts';

export type PageActionDeps = {
  readonly client: Pick<RtcClient, 'participants' | 'transcription'>;
  readonly seats: Seats;
  readonly room: string;
};

export type PageAction = {
  readonly action: string;
  /** The access token of the page. */
  readonly token: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
};

/** Does what the page requests. Rejects with the client's error when the service refuses it. */
export async function runPageAction(deps: PageActionDeps, request: PageAction): Promise<PageResponse> {
  const { action, token, body } = request;
  const { seats, client, room } = deps;
  if (action === 'join') {
    const invitation = await seats.redeem(textOf(body.code));
    if (invitation === undefined) return problem(403, 'This link was used already, or is too old.');
    return jsonResponse(200, invitation);
  }
  const person = token === undefined ? undefined : seats.find(token);
  if (person === undefined) return problem(401, 'This link is from another run of rtc rooms open.');
  switch (action) {
    case 'token':
      return jsonResponse(
        200,
        body.asAnotherPerson === true ? await seats.take() : await seats.issue(person),
      );
    case 'mute': {
      if (!hasRole(person, ['host', 'moderator']))
        return problem(403, 'Only a host or a moderator may mute others.');
      const [identity, trackSid] = [textOf(body.identity), textOf(body.trackSid)];
      if (identity === '' || trackSid === '') return problem(400, 'identity and trackSid are required.');
      await client.participants.mute({ room, identity, trackSid });
      return { status: 204 };
    }
    case 'remove': {
      if (!hasRole(person, ['host'])) return problem(403, 'Only a host may remove others.');
      const identity = textOf(body.identity);
      if (identity === '') return problem(400, 'identity is required.');
      await client.participants.remove(room, identity);
      return { status: 204 };
    }
    case 'captions': {
      if (!hasRole(person, ['host'])) return problem(403, 'Only a host may start and stop captions.');
      return jsonResponse(200, { isOn: await setCaptions(deps, body.isOn) });
    }
    default:
      return problem(404, 'There is no such action.');
  }
}

/** Starts or stops the live transcription, and returns whether it runs. Without a boolean it only returns the state. */
async function setCaptions({ client, room }: PageActionDeps, isOn: unknown): Promise<boolean> {
  if (isOn === true) await client.transcription.start(room);
  else if (isOn === false) await client.transcription.stop(room).catch(ignoreNotFound);
  const current = await client.transcription.get(room).catch(ignoreNotFound);
  return current?.status === 'active';
}

/** A room that was never transcribed has no transcription, and another client may have stopped it. */
function ignoreNotFound(error: unknown): undefined {
  if (error instanceof RtcError && error.status === 404) return undefined;
  throw error;
}

function hasRole({ role }: Person, allowed: readonly Role[]): boolean {
  return allowed.includes(role);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
