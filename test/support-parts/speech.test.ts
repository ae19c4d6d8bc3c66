import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { AccessToken } from 'livekit-server-sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runFfmpeg } from '../support/parts/ffmpeg.ts';
import {
  isAudible,
  isSilent,
  type JoinedParticipant,
  join,
  subscribedTrack,
  untilLoudness,
} from '../support/parts/participant.ts';
import { sharedLivekit } from '../support/parts/shared.ts';
import { speakToFile } from '../support/parts/speech.ts';

describe('a spoken sentence', () => {
  const present: JoinedParticipant[] = [];
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(joinPath(tmpdir(), 'rtc-speech-'));
  });

  afterEach(async () => {
    await Promise.all(present.splice(0).map((participant) => participant.leave()));
    await rm(folder, { recursive: true, force: true });
  });

  const enter = async (room: string, identity: string) => {
    const livekit = await sharedLivekit();
    const token = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity });
    token.addGrant({ roomJoin: true, room });
    const participant = await join(livekit.url, await token.toJwt());
    present.push(participant);
    return participant;
  };

  it('can be heard in the room, followed by silence', async () => {
    const path = joinPath(folder, 'sentence.wav');
    await speakToFile({ text: 'The meeting will start at nine tomorrow morning.', path });
    const room = `speech-${randomUUID()}`;
    const [speaker, listener] = [await enter(room, 'speaker'), await enter(room, 'listener')];
    const { played } = await speaker.publishWav(path);
    const heard = await subscribedTrack(listener, { identity: 'speaker' });
    await untilLoudness(heard, { accepts: isAudible });
    await played;
    await untilLoudness(heard, { accepts: isSilent, windows: 10 });
  });

  it('can be heard from a stereo file of another rate too', async () => {
    const [spoken, stereo] = [joinPath(folder, 'spoken.wav'), joinPath(folder, 'stereo.wav')];
    await speakToFile({ text: 'Good morning to everyone in the room.', path: spoken });
    await runFfmpeg(['-i', spoken, '-ar', '16000', '-ac', '2', '-c:a', 'pcm_s16le', stereo]);
    const room = `speech-${randomUUID()}`;
    const [speaker, listener] = [await enter(room, 'speaker'), await enter(room, 'listener')];
    await speaker.publishWav(stereo);
    const heard = await subscribedTrack(listener, { identity: 'speaker' });
    expect(await untilLoudness(heard, { accepts: isAudible })).toBeGreaterThan(0.01);
  });
});
