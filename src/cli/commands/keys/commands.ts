import { SCOPE_MEANINGS, SCOPES } from '../../../contract/choices.ts';
import {
  type Key,
  LIMITED_KINDS,
  OWN_LIMITS,
  type OwnKey,
  type OwnLimits,
  ROOM_LIMITS,
} from '../../../contract/keys.ts';
import { usageError } from '../../errors/cli-error.ts';
import { WATCH, YES } from '../../framework/common-options.ts';
import { confirmOnService } from '../../framework/confirm-on-service.ts';
import { LIMIT, pagedList } from '../../framework/lists/read-pages.ts';
import {
  argument,
  choice,
  defineCommand,
  listOfExisting,
  listOption,
  ofNoun,
  option,
  optionalExisting,
  wholeSeconds,
} from '../../framework/parameters.ts';
import { forEachTarget, nameSucceeded } from '../../framework/report-error.ts';
import { type Column, instant, record } from '../../terminal/result.ts';

export const KEY_FIELDS = [
  'id',
  'name',
  'scopes',
  'rooms',
  'limits',
  'status',
  'createdAt',
  'expiresAt',
  'revokedAt',
  'lastUsedAt',
  'secret',
] as const satisfies readonly (keyof Key)[];

type Shown = Pick<Key, 'id' | 'name' | 'scopes' | 'rooms' | 'expiresAt'>;

const ID: Column<Shown> = { heading: 'ID', value: ({ id }) => id };
const NAME: Column<Shown> = { heading: 'NAME', value: ({ name }) => name, paint: 'name' };
const SCOPE_LIST: Column<Shown> = { heading: 'SCOPES', value: ({ scopes }) => scopes.join(',') };
const ROOMS: Column<Shown> = {
  heading: 'ROOMS',
  value: ({ rooms }) => rooms?.map((prefix) => `${prefix}*`).join(',') ?? 'all',
};
const EXPIRES: Column<Shown> = {
  heading: 'EXPIRES',
  value: ({ expiresAt }) => (expiresAt === null ? 'never' : { instantMs: Date.parse(expiresAt) }),
};
const STATUS: Column<Key> = {
  heading: 'STATUS',
  value: ({ status }) => status,
  paint: ({ status }) => (status === 'active' ? 'good' : 'faint'),
};

const USED: Column<Key> = {
  heading: 'USED',
  value: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : { instantMs: Date.parse(lastUsedAt) }),
  paint: ({ lastUsedAt }) => (lastUsedAt === null ? 'faint' : undefined),
};

export const KEY_LIST: readonly Column<Key>[] = [ID, NAME, SCOPE_LIST, STATUS, EXPIRES, ROOMS, USED];

export const KEY_RECORD: readonly Column<Key>[] = [
  ...KEY_LIST,
  { heading: 'CREATED', value: ({ createdAt }) => ({ instantMs: Date.parse(createdAt) }) },
  {
    heading: 'REVOKED',
    value: ({ revokedAt }) => instant(revokedAt),
  },
];

export const NEW_KEY: readonly Column<Key>[] = [
  ID,
  { heading: 'SECRET', value: ({ secret }) => secret },
  NAME,
  SCOPE_LIST,
  EXPIRES,
  ROOMS,
];

/** The root key has no limits. */
const LIMITS = LIMITED_KINDS.map(
  (kind): Column<OwnKey> => ({
    heading: kind.toUpperCase(),
    value: ({ limits }) => limits && `${limits[kind].used} of ${limits[kind].limit}`,
    paint: ({ limits }) => (limits && limits[kind].used >= limits[kind].limit ? 'warning' : undefined),
  }),
);

const ROOM_LIMIT_HEADINGS = {
  rooms: 'OPEN ROOMS',
  participants: 'PEOPLE',
  minutesPerMonth: 'MINUTES THIS MONTH',
} as const;

const OWN_LIMIT_COLUMNS = ROOM_LIMITS.map(
  (kind): Column<OwnKey> => ({
    heading: ROOM_LIMIT_HEADINGS[kind],
    value: ({ limits }) => limits?.[kind] && `${limits[kind].used} of ${limits[kind].limit}`,
  }),
);

export const OWN_KEY: readonly Column<OwnKey>[] = [
  ID,
  NAME,
  SCOPE_LIST,
  EXPIRES,
  ROOMS,
  ...LIMITS,
  ...OWN_LIMIT_COLUMNS,
];

/** A century, the maximum of the API. */
const MAX_TTL_SECONDS = 3_153_600_000;

const scope = choice(SCOPES);

const create = defineCommand({
  verb: 'create',
  summary: 'Create an API key with limited scopes',
  description: `Needs the root key. Prints the secret once; it cannot be shown again. Scopes: ${SCOPES.map((each) => `${each}: ${SCOPE_MEANINGS[each]}`).join('. ')}.`,
  fields: KEY_FIELDS,
  arguments: { name: argument('name of the key, such as the program that uses it') },
  options: {
    scope: listOption('--scope <scope>', 'what it may do', {
      choices: SCOPES,
      checkEach: (text) => void scope.parse(text),
    }),
    rooms: listOption(
      '--rooms <prefix>',
      'only rooms whose names begin so, such as acme-; default: all rooms',
    ),
    limit: listOption('--limit <what=number>', `what it may have or do at most: ${OWN_LIMITS.join(', ')}`),
    validFor: option(
      '--valid-for <duration>',
      'how long it is valid, such as 90d; default: until it is revoked',
      wholeSeconds(1, MAX_TTL_SECONDS),
    ),
  },
  examples: [
    { line: 'rtc keys create "booking back end" --scope tokens', does: 'For access tokens only' },
    { line: 'rtc keys create dashboard --scope read --valid-for 90d', does: 'To look only, for 90 days' },
    {
      line: 'rtc keys create "Acme school" --scope admin --rooms acme- --limit rooms=20',
      does: 'For a customer: everything, but only in rooms that begin with acme-, 20 of them at once',
    },
    {
      line: 'rtc keys create archive --scope recordings --scope read --json id,secret',
      does: 'Key and secret as JSON',
    },
  ],
  async run(context, { name, scope: given, rooms, limit, validFor }) {
    if (given.length === 0) {
      throw usageError('missing --scope', `say what the key may do: --scope ${SCOPES.join('|')}`);
    }
    const scopes = [...new Set(given.map((each) => scope.parse(each)))];
    const limits = readLimits(limit);
    const client = await context.client();
    const key = await client.keys.create(
      {
        name,
        scopes,
        ...(rooms.length > 0 && { rooms: [...rooms] }),
        ...(limits && { limits }),
        ...(validFor === undefined ? {} : { ttl: validFor }),
      },
      { signal: context.io.signal },
    );
    return record(key, NEW_KEY, {
      notes: [
        'Keep the secret now: it is not shown again.',
        `Use it here: rtc profile add NAME --api-key ${key.id}`,
      ],
    });
  },
});

/** Reads `rooms=20` and the like. */
function readLimits(texts: readonly string[]): OwnLimits | undefined {
  const limits: OwnLimits = {};
  for (const text of texts) {
    const [, what, number] = /^(\w+)=([1-9]\d{0,9})$/.exec(text) ?? [];
    const kind = OWN_LIMITS.find((each) => each === what);
    if (kind === undefined) {
      const form = `--limit ${OWN_LIMITS.map((each) => `${each}=NUMBER`).join(' | ')}`;
      throw usageError(`${JSON.stringify(text)} is no limit`, form);
    }
    limits[kind] = Number(number);
  }
  return texts.length === 0 ? undefined : limits;
}

const listKeys = defineCommand({
  verb: 'list',
  summary: 'List the API keys',
  description:
    'Lists the oldest first, without secrets, and expired and revoked keys too. The root key is not in the list.',
  fields: KEY_FIELDS,
  options: { limit: LIMIT, watch: WATCH },
  examples: [
    { line: 'rtc keys list', does: 'What each may do, until when, and when it was used last' },
    { line: 'rtc keys list --json id,scopes,status', does: 'As JSON' },
  ],
  async run(context, choice) {
    const client = await context.client();
    const { signal } = context.io;
    return pagedList(context, choice, {
      name: 'keys',
      read: (page) => client.keys.list({ ...page, signal }),
      columns: KEY_LIST,
      identify: ({ id }) => id,
      empty: 'There is only the root key. Make another one: rtc keys create NAME --scope SCOPE',
    });
  },
});

const get = defineCommand({
  verb: 'get',
  summary: 'Show an API key, or the one in use, with its scopes and limits',
  description: 'With an id this needs the root key; without one, any key may ask.',
  fields: [...KEY_FIELDS, 'isRoot'],
  arguments: { id: optionalExisting('key_…; default the key that rtc signs with', 'keys') },
  examples: [
    { line: 'rtc keys get', does: 'Who am I, and what may I do?' },
    { line: 'rtc keys get key_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', does: 'All details of a key but its secret' },
  ],
  async run(context, { id }) {
    const client = await context.client();
    const { signal } = context.io;
    if (id === undefined) {
      const own = await client.keys.self({ signal });
      return record(own, OWN_KEY);
    }
    const key = await client.keys.get(id, { signal });
    return record(key, KEY_RECORD);
  },
});

const revoke = defineCommand({
  verb: 'revoke',
  aliases: ['rm'],
  summary: 'Revoke API keys',
  arguments: { ids: listOfExisting('key_…, or several', 'keys') },
  options: { yes: YES },
  examples: [{ line: 'rtc keys revoke key_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', does: 'Asks first' }],
  async run(context, { ids, yes }) {
    const client = await context.client();
    const { signal } = context.io;
    await confirmOnService(context, {
      isSure: yes,
      what: 'revoking a key',
      question: async () =>
        `Revoke ${ids.join(', ')}? Requests that are signed with ${ids.length === 1 ? 'it' : 'them'} will be refused at once.`,
    });
    const revoked = await forEachTarget(context, ids, (id) => client.keys.revoke(id, { signal }));
    return nameSucceeded(revoked, (names) => `Revoked ${names}.`);
  },
});

export const commands = ofNoun('keys', [create, listKeys, get, revoke]);
