import { randomBytes } from 'node:crypto';
import { check, decode, generate, match, suggestPlaces } from '../../../src/fiscal/index.ts';
import { startEmbeddedMediaServer } from '../../../src/server/media-simulator/embedded-media-server.ts';
import { systemIds } from '../../../src/server/platform/clock.ts';
import {
  chooseServicePort,
  register,
  startHookedService,
} from '../../../test/server/webhooks/support/hooked-service.ts';
import { startReceiver } from '../../../test/server/webhooks/support/receiver.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { observeStatements } from '../../../test/support/observe-statements.ts';
import { createSignedClient } from '../../support/signed-client.ts';
import { generateCodes, inventPeople } from '../fiscal/people.ts';
import type { Operation } from './count-work.ts';

export type Stage = { readonly operations: readonly Operation[]; readonly close: () => Promise<void> };

const OPEN_ROOMS = 100;
const REQUESTS = 50;
const LIFECYCLES = 10;
/** At least as long as outcomes wait for others, in src/server/webhooks/dispatcher/delivery-dispatcher.ts. */
const OUTCOME_BATCH_MS = 1000;

/** The whole service on SQLite, with a webhook for all events and a simulated LiveKit that has rooms. */
export async function startServiceStage(): Promise<Stage> {
  const keys = { apiKey: 'guard', apiSecret: randomBytes(24).toString('hex') };
  // Both clocks stand still. Otherwise an operation would contain more periodic work on a busy machine, where it takes longer.
  const clock = new ManualClock(Date.now());
  const timer = new ManualClock(0);
  const { port, webhookUrl } = await chooseServicePort();
  const media = await startEmbeddedMediaServer({
    ...{ host: '127.0.0.1', port: 0, ...keys },
    ...{ clock, ids: systemIds, webhookUrls: [webhookUrl] },
  });
  const service = await startHookedService(port, { livekit: { url: media.url, ...keys }, clock, timer });
  const receiver = await startReceiver();
  await register(service, receiver.url);
  const client = createSignedClient(service.url, service, 1);
  const stranger = createSignedClient(service.url, { ...service, apiSecret: 'another' }, 1);
  const call = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<void> => {
    const { status, text } = await client.call(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  };
  for (let at = 0; at < OPEN_ROOMS; at++) await call('POST', '/v1/rooms', { name: `open-${at}` });

  const requests = (name: string, request: (at: number) => Promise<unknown>): Operation => ({
    name,
    times: REQUESTS,
    run: async () => {
      for (let at = 0; at < REQUESTS; at++) await request(at);
    },
  });
  // The outcomes of a life share one batch, and their number in real time would depend on how long the life takes.
  let written = Promise.withResolvers<void>();
  observeStatements((sql) => {
    if (sql.trimStart().startsWith('insert into deliveries')) written.resolve();
  });
  const writeOutcomes = async (): Promise<void> => {
    written = Promise.withResolvers();
    timer.advance(OUTCOME_BATCH_MS);
    await written.promise;
  };
  let round = 0;
  const operations: readonly Operation[] = [
    requests('POST /v1/token', (at) =>
      call('POST', '/v1/token', { roomId: `open-${at}`, userId: 'ada', name: 'Ada', role: 'participant' }),
    ),
    requests(`GET /v1/rooms, 50 of ${OPEN_ROOMS}`, () => call('GET', '/v1/rooms?limit=50')),
    requests('GET /v1/events, 50', () => call('GET', '/v1/events?limit=50')),
    requests('a refused signature', () => stranger.call('GET', '/v1/rooms')),
    {
      name: 'a room from its start to its end, each event delivered',
      times: LIFECYCLES,
      run: async () => {
        round += 1;
        for (let at = 0; at < LIFECYCLES; at++) {
          // Events follow one another, because otherwise the number of events in a batch would depend on the load of the machine.
          const name = `life-${round}-${at}`;
          const delivered = (event: string): Promise<unknown> =>
            receiver.waitFor(({ body }) => body.event === event && body.room.name === name);
          media.control.join(name, { identity: 'ada' });
          await delivered('participant_joined');
          media.control.leave(name, 'ada');
          await delivered('participant_left');
          await call('DELETE', `/v1/rooms/${name}`);
          await delivered('room_finished');
          await writeOutcomes();
        }
      },
    },
  ];
  return {
    operations,
    close: async () => {
      await Promise.all([client.close(), stranger.close()]);
      await service.close();
      await receiver.close();
      await media.close();
    },
  };
}

const AS_OF = '2026-01-01';
const COUNT = 2_000;

export function fiscalOperations(): readonly Operation[] {
  const people = inventPeople(COUNT);
  const codes = generateCodes({ generate }, people, AS_OF);
  const each = (name: string, run: (at: number) => void): Operation => ({
    name,
    times: COUNT,
    run: () => {
      for (let at = 0; at < COUNT; at++) run(at);
    },
  });
  const pickPerson = (at: number) => people[at % people.length] ?? raise();
  const pickCode = (at: number) => codes[at % codes.length] ?? raise();
  return [
    each('fiscal: generate', (at) => generate(pickPerson(at), { asOf: AS_OF })),
    each('fiscal: decode', (at) => decode(pickCode(at), { asOf: AS_OF })),
    each('fiscal: check', (at) => check(pickCode(at), { asOf: AS_OF })),
    each('fiscal: match', (at) => match(pickCode(at), pickPerson(at), { asOf: AS_OF })),
    {
      name: 'fiscal: places for what was typed',
      times: 20,
      run: () => {
        for (let at = 0; at < 20; at++) suggestPlaces(pickPerson(at).birthplace.slice(0, 4));
      },
    },
  ];
}

function raise(): never {
  throw new Error('no person was invented');
}
