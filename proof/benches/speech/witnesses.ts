import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { AudioStream, type RemoteTrack, Room, RoomEvent } from '@livekit/rtc-node';
import { AccessToken } from 'livekit-server-sdk';
import { RtcClient } from '../../../src/client/index.ts';
import { readMembers } from '../../../src/contract/unknown-value.ts';
import { LAUNCHER } from '../../../test/support/parts/built.ts';
import type { SpeechStage } from './stage.ts';
import type { StageClock } from './stage-clock.ts';

const RATE = 16_000;
/** Above the noise between the sentences. */
const LOUD = 300;
/** The last sound of an utterance arrives within this time, and the next utterance begins later. */
const ARRIVES_WITHIN_MS = 1_000;

/** A plain listener that notes when sound arrives. This part of the delay is caused by the network and the room client. */
export async function listenAlong({ url, apiKey, apiSecret }: SpeechStage['livekit'], room: string) {
  const loudAt = new Map<string, number[]>();
  const token = new AccessToken(apiKey, apiSecret, { identity: 'listener' });
  token.addGrant({ roomJoin: true, room, canPublish: false });
  const joined = new Room();
  joined.on(RoomEvent.TrackSubscribed, (track: RemoteTrack, _publication, { identity }) => {
    void noteSound(track, (at) => loudAt.set(identity, [...(loudAt.get(identity) ?? []), at]));
  });
  await joined.connect(url, await token.toJwt(), { autoSubscribe: true, dynacast: false });
  return {
    /** Returns when the last sound of the utterance that ended at `endedAt` arrived. */
    heardAt: (identity: string, endedAt: number): number =>
      Math.max(...(loudAt.get(identity) ?? []).filter((at) => at <= endedAt + ARRIVES_WITHIN_MS)),
    leave: () => joined.disconnect(),
  };
}

async function noteSound(track: RemoteTrack, note: (at: number) => void): Promise<void> {
  const stream = new AudioStream(track, { sampleRate: RATE, numChannels: 1, frameSizeMs: 20 });
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    if (read.value.data.some((sample) => Math.abs(sample) > LOUD)) note(Date.now());
  }
}

export type FollowedRoom = { readonly url: string; readonly room: string; readonly stages: StageClock };

/** Starts `rtc transcription follow`, and separately the client library that it uses. Both end with the transcription. */
export function startReaders({ environment }: SpeechStage, { url, room, stages }: FollowedRoom) {
  const { API_KEY: apiKey = '', API_SECRET: apiSecret = '' } = environment;
  const child = spawn(process.execPath, [LAUNCHER, 'transcription', 'follow', room, '--json'], {
    env: { ...environment, RTC_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface(child.stdout).on('line', (line) =>
    stages.printed(String(readMembers(JSON.parse(line)).id)),
  );
  const client = new RtcClient({ url, apiKey, apiSecret });
  const reading = (async () => {
    for await (const { id } of client.transcription.follow(room)) stages.read(id);
    await client.close();
  })();
  return { ended: Promise.all([reading, once(child, 'exit')]) };
}
