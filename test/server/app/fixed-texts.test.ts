import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_NAMES } from '../../../src/contract/event-names.ts';
import { type Stack, startStack } from '../../cli/support/stack.ts';
import type { TestService } from '../../support/service.ts';

/*
 * The texts that the two specifications fix, word by word. A caller may compare them, so that they are the same whatever
 * language the caller prefers.
 */

let stack: Stack;
let service: TestService;

beforeAll(async () => {
  stack = await startStack();
  service = stack.service;
});
afterAll(() => stack.close());

const PREFERENCES = ['it-IT,it;q=0.9,en;q=0.5', 'it', 'en', 'de', '*'];
const BAD_REQUEST = { name: 'BadRequest', message: 'Not a valid Codice Fiscale', code: 400 };

describe.each(PREFERENCES)('for a caller who prefers %s', (language) => {
  const headers = { 'accept-language': language };
  const get = (path: string) => service.call('GET', path, { headers });

  it.each(['/cf/XXX', '/cf/omocodie/XXX', '/cf/RSSMRA80B01H501X', '/cf/00743110157'])(
    'the error of %s has the three fields of the specification, in its words',
    async (path) => {
      const response = await get(path);
      expect([response.status, response.headers['content-language']]).toEqual([400, 'en']);
      expect(response.json).toEqual(BAD_REQUEST);
    },
  );

  it('the message of an invalid code stays when details are added', async () => {
    expect((await get('/cf/XXX?details=true')).json).toMatchObject(BAD_REQUEST);
    const matched = await service.call('POST', '/cf/match', { headers, body: { cf: 'XXX' } });
    expect(matched.json).toMatchObject(BAD_REQUEST);
  });

  it('the name of an error is the class of its status', async () => {
    expect((await get('/it/cities/ZZ')).json).toMatchObject({ name: 'NotFound', code: 404 });
    expect((await get('/it/places')).json).toMatchObject({ name: 'BadRequest', code: 400 });
  });

  it('the health is ok', async () => {
    expect((await get('/v1/health')).json).toMatchObject({ status: 'ok' });
  });

  it('the title of a problem is the reason phrase of HTTP', async () => {
    const unsigned = await service.call('GET', '/v1/rooms', { signing: false, headers });
    const missing = await get('/v1/transcriptions/tr_00000000000000000000000000');
    const malformed = await service.call('POST', '/v1/token', { headers, body: {} });
    expect([unsigned, missing, malformed].map(({ json }) => json)).toMatchObject([
      { title: 'Unauthorized', status: 401 },
      { title: 'Not Found', status: 404 },
      { title: 'Bad Request', status: 400 },
    ]);
  });

  it('a recording has the words of the specification from its start to its end', async () => {
    const room = `record-${PREFERENCES.indexOf(language)}`;
    await service.call('POST', '/v1/rooms', { headers, body: { name: room } });
    await stack.media.control.join(room, { identity: 'ada' });
    const post = (act: string) =>
      service.call('POST', `/v1/rooms/${room}/recording/${act}`, { headers, body: {} });
    const started = await post('start');
    expect([started.status, started.json]).toMatchObject([
      201,
      { egressId: expect.stringMatching(/^EG_/), status: 'recording' },
    ]);
    expect([(await post('start')).status, (await post('start')).json]).toMatchObject([
      200,
      { status: 'already_recording' },
    ]);
    expect([(await post('stop')).status]).toEqual([200]);
  });

  it('an ingress is RTMP and called Ingress Stream by default', async () => {
    const created = await service.call('POST', '/v1/rooms/studio/ingress', { headers, body: {} });
    expect(created.json).toMatchObject({ inputType: 'RTMP_INPUT', participantName: 'Ingress Stream' });
  });

  it('the answers of fiscal codes and places are JSON in UTF-8', async () => {
    for (const path of ['/cf/RSSMRA80B01H501T', '/cf/check/XXX', '/it/regions', '/it/caps/RM/Roma']) {
      expect((await get(path)).headers['content-type'], path).toBe('application/json; charset=utf-8');
    }
    expect((await get('/cf/check/XXX')).json).toMatchObject({ valid: false });
  });

  it('the secret of a webhook is masked by three asterisks, and its id begins with wh_', async () => {
    const body = { url: 'https://example.com/hook' };
    const created = (await service.call('POST', '/v1/webhooks', { headers, body })).json as { id: string };
    expect(created.id).toMatch(/^wh_/);
    expect((await get(`/v1/webhooks/${created.id}`)).json).toMatchObject({ secret: '***', events: ['*'] });
  });
});

it('the events of the specification have its names', () => {
  const specified = [
    ...['room_created', 'room_closed', 'participant_joined', 'participant_left', 'track_published'],
    ...[
      'recording_started',
      'recording_stopped',
      'ingress_started',
      'ingress_stopped',
      'transcription_completed',
    ],
  ];
  expect(specified.filter((name) => !EVENT_NAMES.some((known) => known === name))).toEqual([]);
});
