import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RtcClient } from '../../../src/client/index.ts';
import { json, startHttpServer, type TestHttpServer } from '../../cli/support/http-server.ts';

let server: TestHttpServer;
let client: RtcClient;
/** Bodies of the responses in their order; `{}` after the last one. */
let responses: object[];

beforeEach(async () => {
  responses = [];
  server = await startHttpServer((_request, response) => json(response, 200, responses.shift() ?? {}));
  client = new RtcClient({ url: server.url, apiKey: 'key', apiSecret: 'secret' });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

const token = { roomId: 'r', userId: 'u', name: 'n', role: 'host' } as const;
const target = { room: 'r', identity: 'u', trackSid: 'TR_1' };
const url = 'https://example.org/hooks';

type Call = (client: RtcClient) => unknown;

/** Each method of each noun, and the request that it sends. */
const CALLS: readonly (readonly [name: string, call: Call, request: string])[] = [
  ['tokens.create', (c) => c.tokens.create(token), `POST /v1/token ${JSON.stringify(token)}`],
  ['tokens.refresh', (c) => c.tokens.refresh(token), `POST /v1/token/refresh ${JSON.stringify(token)}`],
  ['rooms.create', (c) => c.rooms.create({ name: 'r' }), 'POST /v1/rooms {"name":"r"}'],
  ['rooms.list', (c) => c.rooms.list({ limit: 2 }), 'GET /v1/rooms?limit=2'],
  ['rooms.get', (c) => c.rooms.get('r'), 'GET /v1/rooms/r'],
  ['rooms.delete', (c) => c.rooms.delete('r'), 'DELETE /v1/rooms/r'],
  ['participants.list', (c) => c.participants.list('r'), 'GET /v1/rooms/r/participants'],
  ['participants.remove', (c) => c.participants.remove('r', 'u'), 'DELETE /v1/rooms/r/participants/u'],
  [
    'participants.mute',
    (c) => c.participants.mute(target),
    'POST /v1/rooms/r/participants/u/mute {"trackSid":"TR_1"}',
  ],
  ['recordings.start', (c) => c.recordings.start('r'), 'POST /v1/rooms/r/recording/start'],
  ['recordings.stop', (c) => c.recordings.stop('r'), 'POST /v1/rooms/r/recording/stop'],
  ['recordings.status', (c) => c.recordings.status('r'), 'GET /v1/rooms/r/recording'],
  [
    'recordings.list',
    (c) => c.recordings.list({ roomId: 'r', status: 'failed' }),
    'GET /v1/recordings?roomId=r&status=failed',
  ],
  ['recordings.get', (c) => c.recordings.get('EG_1'), 'GET /v1/recordings/EG_1'],
  ['recordings.download', (c) => c.recordings.download('EG_1'), 'GET /v1/recordings/EG_1/download'],
  ['recordings.delete', (c) => c.recordings.delete('EG_1'), 'DELETE /v1/recordings/EG_1'],
  [
    'ingress.create',
    (c) => c.ingress.create('r', { type: 'whip' }),
    'POST /v1/rooms/r/ingress {"type":"whip"}',
  ],
  ['ingress.list', (c) => c.ingress.list('r'), 'GET /v1/rooms/r/ingress'],
  ['ingress.delete', (c) => c.ingress.delete('r', 'IN_1'), 'DELETE /v1/rooms/r/ingress/IN_1'],
  ['transcription.start', (c) => c.transcription.start('r'), 'POST /v1/rooms/r/transcription/start {}'],
  ['transcription.stop', (c) => c.transcription.stop('r'), 'POST /v1/rooms/r/transcription/stop'],
  [
    'transcription.get',
    (c) => c.transcription.get('r', { since: 'T' }),
    'GET /v1/rooms/r/transcription?since=T',
  ],
  ['transcription.text', (c) => c.transcription.text('r', 'vtt'), 'GET /v1/rooms/r/transcription?format=vtt'],
  [
    'transcription.nameSpeakers',
    (c) => c.transcription.nameSpeakers('r', { u: null }),
    'PATCH /v1/rooms/r/transcription/speakers {"participants":{"u":null}}',
  ],
  [
    'transcriptions.create',
    (c) => c.transcriptions.create('EG_1', { language: 'it' }),
    'POST /v1/recordings/EG_1/transcribe {"language":"it"}',
  ],
  [
    'transcriptions.list',
    (c) => c.transcriptions.list({ status: 'queued' }),
    'GET /v1/transcriptions?status=queued',
  ],
  ['transcriptions.get', (c) => c.transcriptions.get('tr_1'), 'GET /v1/transcriptions/tr_1'],
  [
    'transcriptions.text',
    (c) => c.transcriptions.text('tr_1', 'srt'),
    'GET /v1/transcriptions/tr_1?format=srt',
  ],
  ['transcriptions.delete', (c) => c.transcriptions.delete('tr_1'), 'DELETE /v1/transcriptions/tr_1'],
  ['webhooks.list', (c) => c.webhooks.list(), 'GET /v1/webhooks'],
  ['webhooks.create', (c) => c.webhooks.create({ url }), `POST /v1/webhooks {"url":"${url}"}`],
  ['webhooks.get', (c) => c.webhooks.get('wh_1'), 'GET /v1/webhooks/wh_1'],
  ['webhooks.update', (c) => c.webhooks.update('wh_1', { url }), `PATCH /v1/webhooks/wh_1 {"url":"${url}"}`],
  ['webhooks.put', (c) => c.webhooks.put('wh_1', { secret: 's' }), 'PUT /v1/webhooks/wh_1 {"secret":"s"}'],
  ['webhooks.delete', (c) => c.webhooks.delete('wh_1'), 'DELETE /v1/webhooks/wh_1'],
  [
    'webhooks.stats',
    (c) => c.webhooks.stats('wh_1', { since: 'S', until: 'U' }),
    'GET /v1/webhooks/wh_1/stats?since=S&until=U',
  ],
  ['webhooks.test', (c) => c.webhooks.test('wh_1'), 'POST /v1/webhooks/wh_1/test'],
  [
    'deliveries.list',
    (c) => c.deliveries.list('wh_1', { status: 'failed', eventId: 'evt_1' }),
    'GET /v1/webhooks/wh_1/deliveries?status=failed&eventId=evt_1',
  ],
  [
    'deliveries.replay',
    (c) => c.deliveries.replay('wh_1', 'dlv_1'),
    'POST /v1/webhooks/wh_1/deliveries/dlv_1/replay',
  ],
  [
    'deliveries.replayFailed',
    (c) => c.deliveries.replayFailed('wh_1', 'T'),
    'POST /v1/webhooks/wh_1/replay?since=T',
  ],
  [
    'events.list',
    (c) => c.events.list({ types: ['room_closed', '*'] }),
    'GET /v1/events?types=room_closed%2C*',
  ],
  ['events.follow', (c) => c.events.follow({ cursor: 'c' }).next(), 'GET /v1/events?cursor=c&limit=200'],
  ['transcription.follow', (c) => c.transcription.follow('r').next(), 'GET /v1/rooms/r/transcription'],
];

describe('a noun of the client', () => {
  it.each(CALLS)('sends %s', async (name, call, request) => {
    const page = name.startsWith('events') ? { events: [{}], nextCursor: 'd' } : { segments: [{}] };
    responses.push(page);
    await call(client);
    const sent = server.received.map(({ method, url, body }) => `${method} ${url} ${body}`.trim());
    expect(sent).toEqual([request]);
  });

  it('sends rooms.update', async () => {
    await client.rooms.update('r', { metadata: 'm' });
    expect(server.received).toMatchObject([
      { method: 'PATCH', url: '/v1/rooms/r', body: '{"metadata":"m"}' },
    ]);
  });
});

it('every list of the client can be read with for await', () => {
  const client = new RtcClient({ url: 'http://127.0.0.1:1', apiKey: 'key', apiSecret: 'secret' });
  const nouns = Object.entries(client).filter(([, noun]) => typeof noun === 'object');
  const lists = nouns.flatMap(([name, noun]) => {
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(noun));
    return methods
      .filter((method) => /^(list|search)/.test(method) && method !== 'searchAll')
      .map((method) => {
        const iterator = method === 'search' ? 'searchAll' : method.replace('list', 'all');
        return { list: `${name}.${method}`, isIterable: methods.includes(iterator) };
      });
  });
  expect(lists.length).toBeGreaterThan(10);
  expect(lists.filter(({ isIterable }) => !isIterable)).toEqual([]);
});

describe('iterating over all', () => {
  async function take<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
    const taken: T[] = [];
    for await (const item of items) taken.push(item);
    return taken;
  }

  const PAGED: readonly (readonly [
    name: string,
    member: string,
    all: () => AsyncIterable<unknown>,
    path: string,
  ])[] = [
    ['rooms', 'rooms', () => client.rooms.all(), '/v1/rooms?limit=200'],
    [
      'recordings',
      'recordings',
      () => client.recordings.all({ roomId: 'r' }),
      '/v1/recordings?roomId=r&limit=200',
    ],
    ['transcriptions', 'transcriptions', () => client.transcriptions.all(), '/v1/transcriptions?limit=200'],
    ['webhooks', 'webhooks', () => client.webhooks.all(), '/v1/webhooks?limit=200'],
    [
      'deliveries',
      'deliveries',
      () => client.deliveries.all('wh_1'),
      '/v1/webhooks/wh_1/deliveries?limit=200',
    ],
  ];

  it.each(PAGED)('reads page after page of %s', async (_name, member, all, path) => {
    responses.push({ [member]: [1, 2], nextCursor: 'a' }, { [member]: [], nextCursor: 'b' });
    responses.push({ [member]: [3], nextCursor: null });
    expect(await take(all())).toEqual([1, 2, 3]);
    expect(server.received.map(({ url }) => url)).toEqual([path, `${path}&cursor=a`, `${path}&cursor=b`]);
  });

  const WHOLE: readonly (readonly [name: string, member: string, all: () => AsyncIterable<unknown>])[] = [
    ['participants', 'participants', () => client.participants.all('r')],
    ['ingress', 'ingress', () => client.ingress.all('r')],
  ];

  it.each(WHOLE)('returns the complete list of %s', async (_name, member, all) => {
    responses.push({ [member]: [1, 2] });
    expect(await take(all())).toEqual([1, 2]);
    expect(server.received).toHaveLength(1);
  });

  it('of events ends with the stored ones', async () => {
    responses.push({ events: [1], nextCursor: 'a' }, { events: [], nextCursor: 'a' });
    expect(await take(client.events.all({ roomId: 'r' }))).toEqual([1]);
    expect(server.received.map(({ url }) => url)).toEqual([
      '/v1/events?roomId=r&limit=1000',
      '/v1/events?cursor=a&roomId=r&limit=1000',
    ]);
  });

  it('fetches no page that is not read', async () => {
    responses.push({ rooms: [1, 2], nextCursor: 'a' });
    for await (const room of client.rooms.all()) if (room !== undefined) break;
    expect(server.received).toHaveLength(1);
  });

  it('begins at a cursor, with the page size of the caller', async () => {
    responses.push({ rooms: [1], nextCursor: null });
    expect(await take(client.rooms.all({ cursor: 'x', limit: 5 }))).toEqual([1]);
    expect(server.received[0]?.url).toBe('/v1/rooms?limit=5&cursor=x');
  });

  it('ends with an error when the service repeats its cursor', async () => {
    responses.push({ rooms: [1], nextCursor: 'a' }, { rooms: [2], nextCursor: 'a' });
    await expect(take(client.rooms.all())).rejects.toMatchObject({ code: 'unexpected-answer' });
    expect(server.received).toHaveLength(2);
  });
});

/** Methods that replace no flat method. */
const NEW_CALLS: readonly (readonly [call: Call, request: string])[] = [
  [(c) => c.participants.remove('r', 'u', { block: 60 }), 'DELETE /v1/rooms/r/participants/u?block=60'],
  [
    (c) => c.participants.update({ room: 'r', identity: 'u' }, { role: 'viewer' }),
    'PATCH /v1/rooms/r/participants/u {"role":"viewer"}',
  ],
  [
    (c) => c.participants.unmute(target),
    'POST /v1/rooms/r/participants/u/mute {"trackSid":"TR_1","muted":false}',
  ],
  [(c) => c.blocks.list('r', { limit: 2 }), 'GET /v1/rooms/r/blocks?limit=2'],
  [(c) => c.blocks.remove('r', 'a/b'), 'DELETE /v1/rooms/r/blocks/a%2Fb'],
  [(c) => c.rooms.send('r', { data: 'x' }), 'POST /v1/rooms/r/data {"data":"x"}'],
  [(c) => c.rooms.mute('r', { except: ['u'] }), 'POST /v1/rooms/r/mute {"except":["u"]}'],
  [
    (c) => c.recordings.start('r', { audioOnly: true }),
    'POST /v1/rooms/r/recording/start {"audioOnly":true}',
  ],
];

describe('a method', () => {
  it.each(NEW_CALLS.map(([call, request]) => ({ call, request })))(
    'sends its request: $request',
    async ({ call, request }) => {
      await call(client);
      const sent = server.received.map(({ method, url, body }) => `${method} ${url} ${body}`.trim());
      expect(sent).toEqual([request]);
    },
  );
});
