import { randomUUID } from 'node:crypto';
import { AccessToken, RoomServiceClient } from 'livekit-server-sdk';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  isAudible,
  isSilent,
  type JoinedParticipant,
  join,
  subscribedTrack,
  untilLoudness,
} from '../support/parts/participant.ts';
import { type SharedParts, sharedLivekit } from '../support/parts/shared.ts';

describe('the shared media server', () => {
  let livekit: SharedParts['livekit'];
  const present: JoinedParticipant[] = [];

  const enter = async (room: string, identity: string, canPublish = true) => {
    const token = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity });
    token.addGrant({ roomJoin: true, room, canPublish, canSubscribe: true });
    const participant = await join(livekit.url, await token.toJwt());
    present.push(participant);
    return participant;
  };

  beforeAll(async () => {
    livekit = await sharedLivekit();
  });

  afterEach(async () => {
    await Promise.all(present.splice(0).map((participant) => participant.leave()));
  });

  it('is the same for every caller of one run', async () => {
    expect(await sharedLivekit()).toEqual(livekit);
  });

  it('carries a tone from one participant to another, and a mute makes it silent', async () => {
    const room = `tone-${randomUUID()}`;
    const speaker = await enter(room, 'speaker');
    const listener = await enter(room, 'listener');
    const { sid } = await speaker.publishTone();
    const heard = await subscribedTrack(listener, { identity: 'speaker' });
    expect(heard.track.sid).toBe(sid);
    await untilLoudness(heard, { accepts: isAudible });

    const rooms = new RoomServiceClient(livekit.httpUrl, livekit.apiKey, livekit.apiSecret);
    await rooms.mutePublishedTrack(room, 'speaker', sid, true);

    expect(await untilLoudness(heard, { accepts: isSilent })).toBeLessThan(0.001);
  });

  it('does not take an unmuted tone for silence', async () => {
    const room = `tone-${randomUUID()}`;
    const speaker = await enter(room, 'speaker');
    const listener = await enter(room, 'listener');
    await speaker.publishTone();
    const heard = await subscribedTrack(listener, { identity: 'speaker' });
    await untilLoudness(heard, { accepts: isAudible });
    await expect(untilLoudness(heard, { accepts: isSilent, deadlineMs: 1_000 })).rejects.toThrow(
      /not as asked/,
    );
  });

  it('refuses to publish for a participant without the grant', async () => {
    const viewer = await enter(`view-${randomUUID()}`, 'viewer', false);
    await expect(viewer.publishTone()).rejects.toThrow();
  });

  it('lists the participants of the room, and nobody after they left', async () => {
    const room = `list-${randomUUID()}`;
    const speaker = await enter(room, 'speaker');
    const rooms = new RoomServiceClient(livekit.httpUrl, livekit.apiKey, livekit.apiSecret);
    expect((await rooms.listParticipants(room)).map((entry) => entry.identity)).toEqual(['speaker']);
    await speaker.leave();
    await expect.poll(async () => (await rooms.listParticipants(room)).length).toBe(0);
  });
});
