import { createServer } from 'node:http';
import {
  ListParticipantsRequest,
  ListParticipantsResponse,
  ListRoomsRequest,
  ListRoomsResponse,
  ParticipantInfo,
  Room,
} from '@livekit/protocol';

/*
 * A media server with many rooms. Each has one participant who publishes audio and video. The responses are made beforehand
 * in both encodings of Twirp, so that they cost as little processor time as possible; the real LiveKit would need 10,000
 * connected participants. `node proof/load/many-rooms-media-server.ts ROOMS` prints its address.
 */

const count = Number(process.argv[2]);
const createdAt = BigInt(Date.now() - 3_600_000);
const rooms = new Map(Array.from({ length: count }, (_, index) => [`room-${index}`, makeRoom(index)]));
const people = new Map([...rooms.keys()].map((name, index) => [name, encode(makeList(index))]));
const everything = encode(new ListRoomsResponse({ rooms: [...rooms.values()] }));
const nobody = encode(new ListParticipantsResponse());

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const encoding = request.headers['content-type'] === 'application/protobuf' ? 'protobuf' : 'json';
    const body = respond(request.url ?? '', encoding, Buffer.concat(chunks));
    response.writeHead(200, { 'content-type': `application/${encoding}`, 'content-length': body.length });
    response.end(body);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object')
    process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});

type Encoding = 'protobuf' | 'json';
type Encoded = Readonly<Record<Encoding, Buffer>>;
type Message = ListParticipantsResponse | ListRoomsResponse;

function respond(path: string, encoding: Encoding, body: Buffer): Buffer {
  switch (path.split('/').at(-1)) {
    case 'ListRooms': {
      const request =
        encoding === 'json'
          ? ListRoomsRequest.fromJsonString(body.toString())
          : ListRoomsRequest.fromBinary(body);
      if (request.names.length === 0) return everything[encoding];
      const named = request.names.flatMap((name) => rooms.get(name) ?? []);
      return encode(new ListRoomsResponse({ rooms: named }))[encoding];
    }
    case 'ListParticipants': {
      const { room } =
        encoding === 'json'
          ? ListParticipantsRequest.fromJsonString(body.toString())
          : ListParticipantsRequest.fromBinary(body);
      return (people.get(room) ?? nobody)[encoding];
    }
    default:
      return encoding === 'json' ? Buffer.from('{}') : Buffer.alloc(0);
  }
}

function encode(message: Message): Encoded {
  return { protobuf: Buffer.from(message.toBinary()), json: Buffer.from(message.toJsonString()) };
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
