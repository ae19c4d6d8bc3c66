import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type Postgres, startPostgres } from '../../support/parts/postgres.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { postMediaEvent, roomFinished } from './support/media-webhook.ts';

/* The media server repeats an event that is never accepted. An invalid time must not be a reason to refuse it. */

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.close());

describe.each(['SQLite', 'PostgreSQL'])('an event with an invalid time on %s', (engine) => {
  let service: TestService;
  beforeAll(async () => {
    const ENCRYPTION_KEY = randomBytes(32).toString('base64');
    const environment =
      engine === 'SQLite' ? {} : { DATABASE_URL: (await createDatabase(postgres)).url, ENCRYPTION_KEY };
    service = await startTestService({ environment });
  });
  afterAll(() => service?.close());

  it.each([
    ['the last of int64', '9223372036854775807'],
    ['the first of int64', '-9223372036854775808'],
    ['a second after the last', '253402300800'],
    ['zero', '0'],
  ])('is accepted, with a valid time: %s', async (name, createdAt) => {
    const room = name.replaceAll(' ', '-');
    const { room: finished, ...rest } = roomFinished(room) as { room: object };
    const response = await postMediaEvent(service.url, {
      ...rest,
      createdAt,
      room: { ...finished, creationTime: createdAt },
    });
    expect(response).toBe(200);
    const { events } = (await service.call('GET', `/v1/events?roomId=${room}`)).json as {
      events: readonly { readonly event: string; readonly timestamp?: string }[];
    };
    expect(events.map(({ event }) => event)).toEqual(['room_finished']);
  });
});
