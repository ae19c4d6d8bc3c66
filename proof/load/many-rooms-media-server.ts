import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import {
  ListParticipantsRequest,
  ListParticipantsResponse,
  ListRoomsRequest,
  ListRoomsResponse,
  ParticipantInfo,
  Room,
} from '@livekit/protocol';
import { readPort } from '../../test/support/forwarding-server.ts';

/*
 * A media server with many rooms. Each has one participant who publishes audio and video. The responses are made beforehand,
 * so that they cost as little processor time as possible; the real LiveKit would need 10,000 connected participants. `node
 * proof/load/many-rooms-media-server.ts ROOMS` prints its address. It knows the calls that are made for all rooms, which are
 * in protobuf; the others get an empty message in JSON.
 */

const count = Number(process.argv[2]);
const createdAt = BigInt(Date.now() - 3_600_000);
const rooms = new Map(Array.from({ length: count }, (_, index) => [`room-${index}`, makeRoom(index)]));
const people = new Map([...rooms.keys()].map((name, index) => [name, makeList(index).toBinary()]));
const everything = new ListRoomsResponse({ rooms: [...rooms.values()] }).toBinary();

const server = createServer(async (request, response) => {
  const body = await buffer(request);
  const type = request.headers['content-type'] ?? '';
  response.setHeader('content-type', type);
  response.end(type === 'application/protobuf' ? respond(request.url ?? '', body) : '{}');
});
server.keepAliveTimeout = 60_000;
await once(server.listen(0, '127.0.0.1'), 'listening');
process.stdout.write(`http://127.0.0.1:${readPort(server)}\n`);

function respond(path: string, body: Buffer): Uint8Array {
  if (path.endsWith('/ListRooms')) {
    const { names } = ListRoomsRequest.fromBinary(body);
    if (names.length === 0) return everything;
    return new ListRoomsResponse({ rooms: names.flatMap((name) => rooms.get(name) ?? []) }).toBinary();
  }
  return people.get(ListParticipantsRequest.fromBinary(body).room) ?? new Uint8Array();
}

function makeRoom(index: number): Room {
  return new Room({
    sid: `RM_${sid(index)}`,
    name: `room-${index}`,
    emptyTimeout: 300,
    departureTimeout: 20,
    creationTime: createdAt / 1000n,
    creationTimeMs: createdAt,
    turnPassword: 'k8rOwv4mJ0ZrRtY1cC3xXw2b5n7q9s1u3w5y7A9C1E3',
    enabledCodecs: ['audio/opus', 'video/VP8', 'video/H264', 'video/VP9', 'video/AV1'].map((mime) => ({
      mime,
    })),
    numParticipants: 1,
    numPublishers: 1,
  });
}

function makeList(index: number): ListParticipantsResponse {
  const participant = ParticipantInfo.fromJson({
    sid: `PA_${sid(index)}`,
    identity: `person-${index}`,
    state: 'ACTIVE',
    tracks: [
      track(`TR_AM${sid(index)}`, 'AUDIO', 'audio/opus'),
      track(`TR_VC${sid(index)}`, 'VIDEO', 'video/VP8'),
    ],
    metadata: '',
    joinedAt: String(createdAt / 1000n + 1n),
    joinedAtMs: String(createdAt + 1000n),
    name: `Person ${index}`,
    version: 4,
    permission: { canSubscribe: true, canPublish: true, canPublishData: true },
    region: '',
    isPublisher: true,
    attributes: { 'rtc.role': 'participant', 'rtc.canMuteOthers': 'false' },
  });
  return new ListParticipantsResponse({ participants: [participant] });
}

function track(trackSid: string, type: 'AUDIO' | 'VIDEO', mimeType: string) {
  const layers = [180, 360, 720].map((height, at) => ({
    quality: ['LOW', 'MEDIUM', 'HIGH'][at] ?? 'HIGH',
    width: (height * 16) / 9,
    height,
    bitrate: 150_000 * 4 ** at,
    ssrc: 1_000_000 + at,
  }));
  return {
    sid: trackSid,
    type,
    name: '',
    source: type === 'AUDIO' ? 'MICROPHONE' : 'CAMERA',
    mimeType,
    mid: type === 'AUDIO' ? '0' : '1',
    codecs: [{ mimeType, mid: '0', cid: `${trackSid}-cid`, ...(type === 'VIDEO' && { layers }) }],
    ...(type === 'VIDEO' && { layers, width: 1280, height: 720, simulcast: true }),
    stream: 'camera',
    version: { unixMicro: String(createdAt * 1000n), ticks: 0 },
  };
}

function sid(index: number): string {
  return String(index).padStart(12, '0');
}
