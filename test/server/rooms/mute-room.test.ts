import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ParticipantList, RoomMuted } from '../../../src/contract/participants.ts';
import type { Token } from '../../../src/contract/tokens.ts';
import { startLivekit } from '../../support/parts/livekit.ts';
import {
  isAudible,
  isSilent,
  type JoinedParticipant,
  join,
  subscribedTrack,
  untilLoudness,
} from '../../support/parts/participant.ts';
import { respondTwirp, type Script, startScriptedMediaServer } from '../../support/scripted-media-server.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { startStage } from '../recordings/support/stage.ts';

const roomPath = (room: string) => `/v1/rooms/${encodeURIComponent(room)}`;

async function mute(service: TestService, room: string, body: object = {}): Promise<RoomMuted['muted']> {
  const response = await service.call('POST', `${roomPath(room)}/mute`, { body });
  expect(response.status, response.text).toBe(200);
  return (response.json as RoomMuted).muted;
}

async function mutedSids(service: TestService, room: string): Promise<readonly string[]> {
  const { json } = await service.call('GET', `${roomPath(room)}/participants`);
  const { participants } = json as ParticipantList;
  return participants.flatMap(({ tracks }) => tracks.filter(({ muted }) => muted).map(({ sid }) => sid));
}

describe('muting a room of the real media server', () => {
  let livekit: Awaited<ReturnType<typeof startLivekit>>;
  let service: TestService;
  const present: JoinedParticipant[] = [];
  beforeAll(async () => {
    livekit = await startLivekit({ enableRemoteUnmute: true });
    service = await startTestService({ livekit });
  });
  afterAll(async () => {
    await Promise.all(present.map((participant) => participant.leave()));
    await service?.close();
    await livekit?.close();
  });

  const enter = async (roomId: string, userId: string) => {
    const body = { roomId, userId, name: userId, role: 'participant' };
    const { url, token } = (await service.call('POST', '/v1/token', { body })).json as Token;
    const participant = await join(url, token);
    present.push(participant);
    return participant;
  };

  it('mutes everyone except the given participants, and one can be unmuted', async () => {
    const room = `mute ${randomUUID()}`;
    const [ada, bob] = [await enter(room, 'ada'), await enter(room, 'bob')];
    const { sid } = await ada.publishTone();
    await bob.publishTone();
    const heard = await subscribedTrack(bob, { identity: 'ada' });
    await untilLoudness(heard, { accepts: isAudible });
    expect(await mute(service, room, { except: ['bob', 'nobody'], sources: ['microphone'] })).toEqual([
      { identity: 'ada', trackSid: sid },
    ]);
    expect(await untilLoudness(heard, { accepts: isSilent })).toBeLessThan(0.001);
    await expect.poll(() => mutedSids(service, room)).toEqual([sid]);
    expect(await mute(service, room, { except: ['bob'] })).toEqual([]);

    const path = `${roomPath(room)}/participants/ada/mute`;
    const unmuted = await service.call('POST', path, { body: { trackSid: sid, muted: false } });
    expect(unmuted.status).toBe(204);
    await expect.poll(() => mutedSids(service, room)).toEqual([]);
  });
});

describe('muting a room', () => {
  let stage: Awaited<ReturnType<typeof startStage>>;
  beforeAll(async () => {
    stage = await startStage();
  });
  afterAll(() => stage.close());

  /** Fills a room with three participants, who together publish all sources. */
  const fill = () => {
    const { control } = stage.media;
    const room = `room ${randomUUID()}`;
    for (const identity of ['ada', 'bob', 'eve']) control.join(room, { identity });
    return {
      room,
      ada: control.publish(room, 'ada').sid,
      camera: control.publish(room, 'ada', { type: 'VIDEO' }).sid,
      bob: control.publish(room, 'bob').sid,
      screen: control.publish(room, 'bob', { type: 'VIDEO', source: 'SCREEN_SHARE' }).sid,
      sound: control.publish(room, 'eve', { source: 'SCREEN_SHARE_AUDIO' }).sid,
      unknown: control.publish(room, 'eve', { source: 'UNKNOWN' }).sid,
    };
  };
  const sids = (muted: RoomMuted['muted']) => muted.map(({ trackSid }) => trackSid);

  it('mutes every track once, and returns the publishers', async () => {
    const { room, ...tracks } = fill();
    const muted = await mute(stage.service, room);
    expect(sids(muted)).toEqual(Object.values(tracks));
    expect(muted[0]).toEqual({ identity: 'ada', trackSid: tracks.ada });
    expect(await mute(stage.service, room)).toEqual([]);
  });

  it('mutes a thousand tracks in one request, and tells that there are more', async () => {
    const { control } = stage.media;
    const room = `room ${randomUUID()}`;
    control.join(room, { identity: 'ada' });
    for (let count = 0; count < 1001; count += 1) control.publish(room, 'ada');
    const send = async () => (await stage.service.call('POST', `${roomPath(room)}/mute`)).json as RoomMuted;
    const first = await send();
    expect([first.muted.length, first.mutedTruncated]).toEqual([1000, true]);
    const second = await send();
    expect([second.muted.length, second.mutedTruncated]).toEqual([1, undefined]);
  });

  it('mutes the given sources, except those of the given participants', async () => {
    const { room, ada, camera, bob, screen, sound, unknown } = fill();
    const except = ['bob'];
    expect(sids(await mute(stage.service, room, { sources: ['microphone'], except }))).toEqual([ada]);
    const sources = ['screen_share', 'screen_share_audio', 'camera'];
    expect(sids(await mute(stage.service, room, { sources }))).toEqual([camera, screen, sound]);
    expect(sids(await mute(stage.service, room, { except }))).toEqual([unknown]);
    expect(sids(await mute(stage.service, room))).toEqual([bob]);
  });

  it.each([
    [{ except: [''] }, '#/except/0'],
    [{ except: Array.from({ length: 1001 }, (_, n) => `${n}`) }, '#/except'],
    [{ sources: [] }, '#/sources'],
    [{ sources: ['MICROPHONE'] }, '#/sources/0'],
    [{ source: 'camera' }, '#/source'],
  ])('rejects unknown options: case %#', async (body, pointer) => {
    const response = await stage.service.call('POST', `${roomPath('demo')}/mute`, { body });
    expect(response).toMatchObject({ status: 400, json: { errors: [{ pointer }] } });
  });

  it('is 404 for an unknown room', async () => {
    const response = await stage.service.call('POST', `${roomPath('unknown')}/mute`);
    expect(response).toMatchObject({ status: 404, json: { type: 'urn:problem-type:rtc:room-not-found' } });
  });

  it('explains that only participants can unmute themselves', async () => {
    const { room, ada } = fill();
    const path = `${roomPath(room)}/participants/ada/mute`;
    const unmute = (trackSid: string) =>
      stage.service.call('POST', path, { body: { trackSid, muted: false } });
    expect(await unmute(ada)).toMatchObject({
      status: 409,
      json: {
        detail: expect.stringContaining('The media server lets only participants unmute themselves.'),
        hint: { text: expect.stringContaining('room.enable_remote_unmute') },
      },
    });
    expect(await unmute('TR_none')).toMatchObject({ status: 404 });
  });
});

describe('muting a room while people leave it', () => {
  const track = { sid: 'TR_1', source: 'MICROPHONE', muted: false };
  const ada = { sid: 'PA_ada123', identity: 'ada', state: 'ACTIVE', tracks: [track] };
  const bob = { sid: 'PA_bob123', identity: 'bob', state: 'ACTIVE', tracks: [] };

  /** Lists ada and bob once, and then responds to the muting of her track and, if it comes to that, to a look for her. */
  async function muteWith(muting: Script, looking: Script = respondTwirp(500, 'internal', 'unexpected')) {
    let lists = 0;
    const media = await startScriptedMediaServer((request, response) => {
      if (request.url?.endsWith('/MutePublishedTrack')) return muting(request, response);
      if (request.url?.endsWith('/GetParticipant')) return looking(request, response);
      if (request.url?.endsWith('/ListParticipants')) lists += 1;
      const participants = lists === 1 ? [ada, bob] : [];
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ participants }));
    });
    const service = await startTestService({ livekit: media.livekit });
    const response = await service.call('POST', `${roomPath('demo')}/mute`);
    await service.close();
    media.close();
    return response;
  }

  const gone = respondTwirp(503, 'unavailable', 'no response from servers');

  it('leaves out a track that has ended', async () => {
    const ended = respondTwirp(404, 'not_found', 'track not found');
    expect(await muteWith(ended)).toMatchObject({ status: 200, json: { muted: [] } });
  });

  it('leaves out somebody who has left, for whom the media server reports that it is unavailable', async () => {
    const left = respondTwirp(404, 'not_found', 'participant does not exist');
    expect(await muteWith(gone, left)).toMatchObject({ status: 200, json: { muted: [] } });
  });

  it('fails when the media server is unavailable for somebody who is still there', async () => {
    const response = await muteWith(gone, (_request, reply) => {
      reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ada));
    });
    expect(response).toMatchObject({
      status: 503,
      json: { type: 'urn:problem-type:rtc:media-server-unavailable' },
    });
  });
});
