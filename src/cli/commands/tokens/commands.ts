import { ROLES, TRACK_SOURCES } from '../../../contract/choices.ts';
import type { Token, TokenRequest } from '../../../contract/tokens.ts';
import { isObject, parseJson, readMembers } from '../../../contract/unknown-value.ts';
import { EXIT, usageError } from '../../errors/cli-error.ts';
import {
  choice,
  defineCommand,
  jsonObject,
  listOption,
  notEmpty,
  ofNoun,
  option,
  optionalArgument,
  requiredOption,
  wholeSeconds,
} from '../../framework/parameters.ts';
import { type Column, record, text } from '../../terminal/result.ts';
import { readStdin } from '../../terminal/source-text.ts';
import { formatRelative } from '../../terminal/time.ts';

const FIELDS = ['token', 'url', 'expiresAt'] as const satisfies readonly (keyof Token)[];

/** The maximum lifetime of the service's settings. */
const MAX_TTL_SECONDS = 31_536_000;

const source = choice(TRACK_SOURCES);

const create = defineCommand({
  verb: 'create',
  summary: 'Create an access token for one person and one room',
  description: 'Prints the token and nothing else, so that a script can put it into a variable.',
  fields: FIELDS,
  options: {
    room: requiredOption('--room <room>', 'name of the room', { parse: notEmpty, completes: 'rooms' }),
    identity: requiredOption('--identity <id>', 'unique identity of the person', {
      parse: notEmpty,
      source: 'typed-or-stdin',
    }),
    role: requiredOption('--role <role>', 'what the person may do', choice(ROLES)),
    name: option('--name <name>', 'name that others see; default the identity', { source: 'typed-or-stdin' }),
    validFor: option(
      '--valid-for <duration>',
      'how long it can be used, such as 8h; default TOKEN_TTL',
      wholeSeconds(1, MAX_TTL_SECONDS),
    ),
    source: listOption('--source <source>', 'the person may publish only this source', {
      choices: TRACK_SOURCES,
      checkEach: (text) => void source.parse(text),
    }),
    metadata: option('--metadata <json>', 'JSON object that others see', {
      parse: jsonObject,
      source: 'typed-or-file',
    }),
  },
  examples: [
    { line: 'rtc tokens create --room demo --identity ada --role host', does: 'A token for Ada' },
    {
      line: 'TOKEN=$(rtc tokens create --room demo --identity bob --role viewer --name "Bob B.")',
      does: 'In a script',
    },
    {
      line: 'rtc tokens create --room demo --identity ada --role participant --valid-for 8h --source microphone',
      does: 'For a working day, with the microphone only',
    },
    {
      line: 'rtc tokens create --room demo --identity eve --role participant --json url,token',
      does: 'With the address to connect to',
    },
  ],
  async run(context, { room, identity, role, name, metadata, validFor, source: sources }) {
    const client = await context.client();
    const request: TokenRequest = {
      roomId: room,
      userId: identity,
      name: name ?? identity,
      role,
      ...(metadata === undefined ? {} : { metadata }),
      ...(validFor === undefined ? {} : { ttl: validFor }),
      ...(sources.length === 0 ? {} : { canPublishSources: sources.map((each) => source.parse(each)) }),
    };
    const token = await client.tokens.create(request, { signal: context.io.signal });
    const expires = formatRelative(Date.parse(token.expiresAt), context.io.clock());
    return text(token.token, {
      response: token,
      notes: [`For ${identity} in ${room} as ${role}, at ${token.url}; expires ${expires}.`],
    });
  },
});

/** Columns of the meaning of the claims. The record is the payload, for `--json exp`. */
function claimColumns(claims: TokenClaims): readonly Column<object>[] {
  return [
    { heading: 'IDENTITY', value: () => claims.identity, paint: 'name' },
    { heading: 'NAME', value: () => claims.name },
    { heading: 'ROOM', value: () => claims.room },
    { heading: 'ROLE', value: () => claims.role },
    { heading: 'GRANTS', value: () => claims.grants.join(',') },
    { heading: 'METADATA', value: () => claims.metadata },
    { heading: 'ISSUER', value: () => claims.issuer },
    {
      heading: 'EXPIRES',
      value: () => (claims.expiresAtMs === undefined ? undefined : { instantMs: claims.expiresAtMs }),
      paint: claims.isExpired ? 'bad' : 'good',
    },
  ];
}

const inspect = defineCommand({
  verb: 'inspect',
  summary: 'Show what an access token says',
  description:
    'Works offline. It does not check the signature, since only the media server has the key. The exit code is 7 if the token has expired.',
  needs: 'nothing',
  fields: 'of-response',
  arguments: {
    token: optionalArgument('the token; without it, stdin is read', { source: 'typed-or-stdin' }),
  },
  examples: [
    {
      line: 'rtc tokens create --room demo --identity ada --role host | rtc tokens inspect',
      does: 'What a token grants',
    },
    { line: 'rtc tokens inspect - --json < token.txt', does: 'Its claims as JSON' },
  ],
  async run(context, input) {
    const token = input.token ?? (await readStdin(context.io)).trim();
    const claims = inspectToken(token, context.io.clock());
    if (claims === undefined) {
      throw usageError(
        'this is not an access token (a JWT: three parts of base64url, separated by dots)',
        'pass a whole token: rtc tokens create … | rtc tokens inspect',
      );
    }
    return record(claims.payload, claimColumns(claims), {
      exitCode: claims.isExpired ? EXIT.negative : EXIT.success,
      notes: ['The signature was not checked.'],
    });
  },
});

export const commands = ofNoun('tokens', [create, inspect]);

/** The claims of a LiveKit access token, https://docs.livekit.io/home/get-started/authentication/ */
export type TokenClaims = {
  /** The payload of the token. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly identity: string | undefined;
  readonly name: string | undefined;
  readonly room: string | undefined;
  /** The attribute rtc.role, which this service signs. */
  readonly role: string | undefined;
  /** Names of the grants that are true. */
  readonly grants: readonly string[];
  readonly metadata: string | undefined;
  readonly issuer: string | undefined;
  /** Undefined also for a time beyond any date. */
  readonly expiresAtMs: number | undefined;
  readonly isExpired: boolean;
};

/** Reads a token without checking the signature. Returns undefined for a text that is no JWT. */
export function inspectToken(token: string, nowMs: number): TokenClaims | undefined {
  const parts = token.trim().split('.');
  if (parts.length !== 3 || !parts.every((part) => /^[\w-]+$/.test(part))) return undefined;
  const payload = parsePart(parts[1] ?? '');
  if (payload === undefined || parsePart(parts[0] ?? '') === undefined) return undefined;
  const video = readMembers(payload.video);
  const exp = typeof payload.exp === 'number' ? payload.exp : undefined;
  return {
    payload,
    identity: readText(payload.sub),
    name: readText(payload.name),
    room: readText(video.room),
    role: readText(readMembers(payload.attributes)['rtc.role']),
    grants: Object.keys(video).filter((grant) => video[grant] === true),
    metadata: readText(payload.metadata),
    issuer: readText(payload.iss),
    expiresAtMs: exp !== undefined && Math.abs(exp) <= MAX_DATE_SECONDS ? exp * 1000 : undefined,
    // RFC 7519, section 4.1.4: not valid on or after.
    isExpired: exp !== undefined && nowMs >= exp * 1000,
  };
}

/** ECMA-262, section 21.4.1.1: no date is further from 1970. */
const MAX_DATE_SECONDS = 8.64e12;

function parsePart(part: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(Buffer.from(part, 'base64url').toString('utf8'));
  return isObject(value) ? value : undefined;
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
