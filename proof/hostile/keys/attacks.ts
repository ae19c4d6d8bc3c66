import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { Signing } from '../../../test/support/sign.ts';
import { createSignedClient, type ServiceResponse, type SignedClient } from '../../support/signed-client.ts';
import { runOnThread } from '../../support/thread.ts';

/* Attacks by somebody who has a valid key. They run on a thread of their own, which loads this file. */

type Asked = readonly [method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object];

type Attack = {
  /** The members of the body of POST /v1/keys, beside the name. */
  readonly key: { readonly scopes: readonly string[]; readonly rooms?: readonly string[] };
  readonly inFlight: number;
  /** Returns what the following requests need. */
  readonly prepare?: (client: SignedClient, options: AttackOptions) => Promise<readonly string[]>;
  readonly request: (count: number, prepared: readonly string[]) => Asked;
};

const LONG_AGO = '2020-01-01T00:00:00.000Z';
const LARGE = 'x'.repeat(60_000);
const SEARCHES = [
  'the%20budget',
  'budget&roomId=nowhere',
  'zyzzyva',
  'budget&language=ja',
  'a%20b%20c%20d&limit=200',
];
const DAY = '2026-01-01';

/** The widest lists that a key may ask for. */
const LISTS = [
  '/v1/events?limit=500',
  '/v1/events?limit=500&order=newest',
  '/v1/events?limit=500&types=ingress_ended',
  '/v1/sessions?limit=100',
  '/v1/recordings?limit=100',
  '/v1/transcriptions?limit=100',
  `/v1/usage?by=room&from=${DAY}&limit=1000`,
  `/v1/usage?by=prefix&from=${DAY}&format=csv`,
  '/v1/rooms?limit=100',
];

/** Each attack lasts as long as the others are measured, with `inFlight` requests at once. */
export const ATTACKS = {
  searches: {
    key: { scopes: ['read'] },
    inFlight: 60,
    request: (count) => ['GET', `/v1/transcriptions/search?q=${pick(SEARCHES, count)}`],
  },
  'wide lists': {
    key: { scopes: ['read'] },
    inFlight: 32,
    request: (count) => ['GET', pick(LISTS, count)],
  },
  'waiting readers': {
    key: { scopes: ['read'] },
    inFlight: 1_000,
    request: (count) => ['GET', `/v1/events?wait=25&cursor=latest&types=ingress_ended&roomId=none-${count}`],
  },
  'requests that are not allowed': {
    key: { scopes: ['read'] },
    inFlight: 32,
    request: (count) => ['POST', `/v1/rooms/none-${count}/data`, { data: LARGE }],
  },
  'large tokens': {
    key: { scopes: ['tokens'] },
    inFlight: 32,
    request: (count) => ['POST', '/v1/token', { ...person(count), metadata: { text: LARGE.repeat(8) } }],
  },
  'webhooks that hang': {
    key: { scopes: ['webhooks'] },
    inFlight: 32,
    prepare: async ({ call }, { hangingUrl }) => {
      const made = Array.from({ length: 150 }, (_, at) =>
        call('POST', '/v1/webhooks', { url: `${hangingUrl}/${at}` }),
      );
      return (await Promise.all(made)).flatMap(({ json: { id } }) => (typeof id === 'string' ? [id] : []));
    },
    request: (count, ids) => ['POST', `/v1/webhooks/${pick(ids, count)}/test`],
  },
  'replays of everything': {
    key: { scopes: ['webhooks'] },
    inFlight: 32,
    prepare: async ({ call }) => {
      const { json } = await call('GET', '/v1/webhooks?limit=100');
      return readIds(json.webhooks);
    },
    request: (count, ids) => ['POST', `/v1/webhooks/${pick(ids, count)}/replay?since=${LONG_AGO}`],
  },
  blocks: {
    key: { scopes: ['rooms'] },
    inFlight: 32,
    request: (count) => ['DELETE', `/v1/rooms/none-${count}/participants/person-${count}?block=forever`],
  },
  vocabularies: {
    key: { scopes: ['rooms'] },
    inFlight: 32,
    request: (count) => ['PUT', `/v1/rooms/none-${count}/vocabulary`, { terms: TERMS }],
  },
  plans: {
    key: { scopes: ['rooms'] },
    inFlight: 32,
    request: (count) => [
      'PUT',
      `/v1/plans/plan-${count}`,
      { prefix: `none-${count}-`, metadata: LARGE.slice(0, 2_000) },
    ],
  },
  rooms: {
    key: { scopes: ['rooms'] },
    inFlight: 32,
    request: (count) => ['POST', '/v1/rooms', { name: `flood-${count}`, metadata: LARGE, emptyTimeout: 30 }],
  },
  'recordings that cannot start': {
    key: { scopes: ['recordings'] },
    inFlight: 32,
    request: (count) => ['POST', `/v1/rooms/none-${count}/${pick(STARTS, count)}/start`, {}],
  },
  'endpoints for streams': {
    key: { scopes: ['ingress'] },
    inFlight: 32,
    request: (count) => ['POST', `/v1/rooms/none-${count}/ingress`, { participantName: LARGE.slice(0, 200) }],
  },
  'the audit log': {
    key: { scopes: ['admin'] },
    inFlight: 32,
    request: (count) => ['GET', `/v1/audit?limit=200&roomId=none-${count}&result=refused`],
  },
  'a tenant': {
    key: { scopes: ['admin'], rooms: ['acme-'] },
    inFlight: 60,
    request: (count) =>
      count % 2 === 0
        ? ['GET', pick(LISTS, count / 2)]
        : ['GET', `/v1/transcriptions/search?q=${pick(SEARCHES, count)}`],
  },
} as const satisfies Readonly<Record<string, Attack>>;

const TERMS = Array.from({ length: 100 }, (_, at) => `term ${at}`);
const STARTS = ['recording', 'transcription'];

export type AttackName = keyof typeof ATTACKS;

export type AttackOptions = {
  readonly url: string;
  readonly keys: Omit<Signing, 'timestamp'>;
  readonly seconds: number;
  /** A receiver that never answers. */
  readonly hangingUrl: string;
};

/** Numbers of answers by their status, or by what went wrong with a connection. */
export type Answers = ReadonlyMap<string, number>;

function pick(list: readonly string[], at: number): string {
  return list[Math.floor(at) % list.length] ?? '';
}

function person(count: number): object {
  return { roomId: `none-${count}`, userId: `person-${count}`, name: 'A person', role: 'participant' };
}

function readIds(list: unknown): readonly string[] {
  const ids = (Array.isArray(list) ? list : []).map((one: { readonly id?: unknown }) => one.id);
  return ids.filter((id) => typeof id === 'string');
}

/** Sends an attack's requests until the time is over. A refused attacker goes on at once, and ignores Retry-After. */
async function send(attack: Attack, options: AttackOptions): Promise<Answers> {
  const client = createSignedClient(options.url, options.keys, attack.inFlight);
  const prepared = (await attack.prepare?.(client, options)) ?? [];
  const answers = new Map<string, number>();
  const over = AbortSignal.timeout(options.seconds * 1_000);
  let count = 0;
  const attacker = async (): Promise<void> => {
    while (!over.aborted) {
      const outcome = await askOnce(client, attack.request(count++, prepared));
      answers.set(outcome, (answers.get(outcome) ?? 0) + 1);
    }
  };
  await Promise.race([Promise.all(Array.from({ length: attack.inFlight }, attacker)), once(over, 'abort')]);
  void client.close();
  return answers;
}

async function askOnce({ call }: SignedClient, asked: Asked): Promise<string> {
  const answer: ServiceResponse | Error = await call(...asked).catch((error: unknown) =>
    error instanceof Error ? error : new Error(String(error)),
  );
  if (!(answer instanceof Error)) return `${answer.status}`;
  // A refused connection answers at once. Without a pause the loop would only measure itself.
  await delay(10);
  return answer.message;
}

export function attackByKey(name: AttackName, options: AttackOptions): Promise<Answers> {
  return runOnThread(import.meta.url, { name, options });
}

if (!isMainThread && parentPort !== null && workerData?.name in ATTACKS) {
  const { name, options }: { readonly name: AttackName; readonly options: AttackOptions } = workerData;
  parentPort.postMessage(await send(ATTACKS[name], options));
}
