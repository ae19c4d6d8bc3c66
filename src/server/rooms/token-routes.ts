import { ROLES } from '../../contract/choices.ts';
import { ServiceError } from '../../contract/errors.ts';
import type { PlanSettings } from '../../contract/plans.ts';
import { MAX_RELIABLE_DATA_BYTES } from '../../contract/rooms.ts';
import { shellQuote } from '../../contract/shell-quote.ts';
import { type Token, type TokenRequest, TokenRequestSchema, TokenSchema } from '../../contract/tokens.ts';
import { MOST_WAITING } from '../../contract/waiting.ts';
import type { Clock, IdGenerator } from '../platform/clock.ts';
import { exactMember } from '../platform/http/bodies/read-body.ts';
import type { KeyLimits } from '../platform/http/limits/key-limits.ts';
import { refusedField } from '../platform/http/refusals.ts';
import { type Caller, defineRoute, type Route, requireRoom } from '../platform/http/route.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import type { TokenSigner } from '../platform/livekit/token-signer.ts';
import { ensureNotBlocked, type FindBlock } from './blocks/blocks.ts';
import { decideEntry, mustWait, requireEntry, requirePlannedEntry } from './entry.ts';
import { metadataText, ROLE_GRANTS, toRoleAttributes } from './participants.ts';
import { type FindNamedPlan, mergePlans } from './plans/plans.ts';
import { type FindRoomRecord, toRoomConfig } from './room-records.ts';
import type { RoomRecord, RoomStores } from './store.ts';
import {
  type TokenPerson,
  toWaitingAttributes,
  toWaitingConfig,
  WAITING_GRANTS,
  waitingRoomName,
} from './waiting-room.ts';

export function tokenRoutes(deps: IssueTokenDeps): readonly Route[] {
  const issue = ({ path, operationId, summary, description }: Issuing): Route =>
    defineRoute({
      method: 'POST',
      path,
      operationId,
      tag: 'tokens',
      summary,
      description,
      scopes: ['tokens', 'rooms'],
      ofRooms: 'filtered',
      body: TokenRequestSchema,
      success: { 200: { description: 'A token for one participant of one room', schema: TokenSchema } },
      errors: ERRORS,
      handle: async ({ body, raw, caller }) => {
        if (caller?.rooms !== undefined) {
          requireRoom(caller, body.roomId);
          await deps.keyLimits.checkPerson(caller, { room: body.roomId, identity: body.userId });
        }
        const metadata = exactMember(raw.body, 'metadata', body.metadata);
        return {
          status: 200,
          body: await issueToken(deps, metadata === undefined ? body : { ...body, metadata }, caller),
        };
      },
    });
  return [
    issue({
      path: '/v1/token',
      operationId: 'createToken',
      summary: 'Issue an access token',
      description: `A LiveKit client connects to \`url\` with it. The first participant who joins opens the room, with the settings of the last \`POST /v1/rooms\` for it. Everyone with a token can join until \`expiresAt\`, and stay. In a room with a lobby, a token of a role that waits leads into a waiting room (\`waiting\`).\n\n${roleTable()}`,
    }),
    issue({
      path: '/v1/token/refresh',
      operationId: 'refreshToken',
      summary: 'Renew an access token before it expires',
      description:
        'Has the same body and response as the request for the first token. The old token stays valid until it expires.',
    }),
  ];
}

const ERRORS = [
  'participant-blocked',
  'room-closed',
  'room-not-open-yet',
  'waiting-room-full',
  'room-not-found',
  'key-limit-reached',
  'storage-unavailable',
] as const;

type Issuing = Readonly<Record<'path' | 'operationId' | 'summary' | 'description', string>>;

/** Returns the table of the grants of each role, in Markdown. */
function roleTable(): string {
  const rows = ROLES.map((role) => {
    const { grants, canMuteOthers } = ROLE_GRANTS[role];
    const { canPublish, canSubscribe, canPublishData, roomAdmin } = grants;
    const marks = [canPublish, canSubscribe, canPublishData, roomAdmin, canMuteOthers];
    return `| \`${role}\` | ${marks.map((isGranted) => (isGranted ? 'yes' : 'no')).join(' | ')} |`;
  });
  return [
    '| role | canPublish | canSubscribe | canPublishData | roomAdmin | may mute others |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    'LiveKit has no grant to mute others: the token has it as its attribute `rtc.canMuteOthers`, and your back end mutes for them.',
  ].join('\n');
}

export type SignTokenDeps = {
  readonly clock: Pick<Clock, 'now'>;
  readonly tokenSigner: TokenSigner;
  /** WebSocket URL that clients connect to. */
  readonly mediaUrl: string;
};

export type OpenRoomDeps = {
  readonly findRoomRecord: FindRoomRecord;
  readonly findNamedPlan: FindNamedPlan;
  readonly clock: Pick<Clock, 'now'>;
};

export type IssueTokenDeps = SignTokenDeps &
  OpenRoomDeps & {
    readonly keyLimits: Pick<KeyLimits, 'checkPerson'>;
    readonly findBlock: FindBlock;
    readonly store: Pick<RoomStores, 'entryDecisions'>;
    readonly ids: IdGenerator;
    readonly mediaServer: Pick<MediaServer, 'listRooms'>;
    readonly tokenTtlSeconds: number;
    /** Maximum lifetime that a request may ask for. */
    readonly maxTokenTtlSeconds: number;
  };

/**
 * Issues an access token for one participant of one room, or of its waiting room. Throws participant-blocked, room-closed,
 * room-not-open-yet, waiting-room-full, and invalid-request for metadata over LiveKit's limit, a lifetime over ours, and
 * sources of a role that does not publish.
 */
async function issueToken(
  deps: IssueTokenDeps,
  request: TokenRequest,
  caller: Caller | undefined,
): Promise<Token> {
  const room = await requireOpenRoom(deps, request.roomId);
  const check = ensureNotBlocked(deps.findBlock, { room: request.roomId, identity: request.userId });
  if (check !== undefined) await check;
  const person = toPerson(deps, request, caller);
  if (!mustWait(room.plan, request.role)) return signToken(deps, person, room);
  const { entryDecisions } = deps.store;
  const last = await entryDecisions.findLast(person, deps.clock.now());
  if (last?.outcome !== 'admitted') return await issueWaitingToken(deps, person, room);
  const token = signToken(deps, person, { ...room, admission: last.waitingId });
  await entryDecisions.extend(last.waitingId, Date.parse(token.expiresAt));
  return token;
}

export type OpenRoom = { readonly record: RoomRecord | undefined; readonly plan: PlanSettings | undefined };

/** Returns what is known of a room that may be entered now. Throws room-closed or room-not-open-yet. */
export async function requireOpenRoom(deps: OpenRoomDeps, room: string): Promise<OpenRoom> {
  const found = deps.findRoomRecord({ room });
  const record = found instanceof Promise ? await found : found;
  requireEntry(decideEntry(record, 'person', deps.clock.now()), room);
  const named = deps.findNamedPlan(room);
  const plan = mergePlans(named instanceof Promise ? await named : named, record);
  requirePlannedEntry(plan, room, deps.clock.now());
  return { record, plan };
}

function toPerson(deps: IssueTokenDeps, request: TokenRequest, caller: Caller | undefined): TokenPerson {
  const { roomId: room, userId: identity, name, role, metadata, canPublishSources } = request;
  if (canPublishSources !== undefined && !ROLE_GRANTS[role].grants.canPublish)
    throw refusedField('#/canPublishSources', `must be left out: a ${role} does not publish`);
  return {
    room,
    identity,
    name,
    role,
    canPublishSources,
    ttl: lifetime(deps, request),
    metadata: metadata === undefined ? undefined : metadataText(metadata),
    // Usage is counted by key. The root key is the one without an attribute.
    keyId: caller?.scopes === undefined ? undefined : caller.keyId,
  };
}

type Entering = OpenRoom & {
  /** The token with which somebody waited who was admitted. */
  readonly admission?: string | undefined;
};

/** Signs the token of a room. */
export function signToken(
  { clock, tokenSigner, mediaUrl }: SignTokenDeps,
  { room, identity, name, role, metadata, canPublishSources, ttl, keyId }: TokenPerson,
  { record, plan, admission }: Entering,
): Token {
  const { grants } = ROLE_GRANTS[role];
  const issuedAt = Math.floor(clock.now() / 1000);
  const expiresAt = Math.min(issuedAt + ttl, readLastSecond(plan));
  const token = tokenSigner.sign({
    room,
    identity,
    name,
    metadata,
    issuedAt,
    expiresAt,
    attributes: {
      ...toRoleAttributes(role),
      ...(keyId === undefined ? {} : { 'rtc.key': keyId }),
      ...(admission === undefined ? {} : { 'rtc.admission': admission }),
    },
    grants: canPublishSources === undefined ? grants : { ...grants, canPublishSources },
    roomConfig: toRoomConfig(record, plan),
  });
  return { token, url: mediaUrl, expiresAt: new Date(expiresAt * 1000).toISOString() };
}

/**
 * Returns the data by which somebody who was admitted gets the token. Settings for a room that is not open yet are left out
 * of a token that would be too long.
 */
export function buildAdmission(
  deps: SignTokenDeps,
  person: TokenPerson,
  entering: Entering,
): { readonly token: Token; readonly data: Buffer } {
  const encode = (token: Token) => Buffer.from(JSON.stringify({ roomId: person.room, ...token }));
  const whole = signToken(deps, person, entering);
  const data = encode(whole);
  if (data.length <= MAX_RELIABLE_DATA_BYTES) return { token: whole, data };
  const unset: OpenRoom = { record: undefined, plan: pickEnd(entering.plan) };
  const token = signToken(deps, person, { ...entering, ...unset });
  return { token, data: encode(token) };
}

function pickEnd({ closesAt }: PlanSettings = {}): PlanSettings {
  return closesAt === undefined ? {} : { closesAt };
}

async function issueWaitingToken(deps: IssueTokenDeps, person: TokenPerson, room: OpenRoom): Promise<Token> {
  const { clock, ids, tokenSigner, mediaUrl } = deps;
  const id = `wt_${ids.next()}`;
  if (buildAdmission(deps, person, { ...room, admission: id }).data.length > MAX_RELIABLE_DATA_BYTES)
    throw refusedField(
      '#/metadata',
      'is too long for somebody who waits: the token must fit into 15 KiB of data',
    );
  await requireWaitingPlace(deps, person.room);
  const issuedAt = Math.floor(clock.now() / 1000);
  const expiresAt = Math.min(issuedAt + person.ttl, readLastSecond(room.plan));
  const token = tokenSigner.sign({
    identity: person.identity,
    name: '',
    metadata: person.metadata,
    issuedAt,
    expiresAt,
    room: waitingRoomName(person.room),
    attributes: toWaitingAttributes({ id, person, expiresAt }),
    grants: WAITING_GRANTS,
    roomConfig: toWaitingConfig(MOST_WAITING),
  });
  return { token, url: mediaUrl, expiresAt: new Date(expiresAt * 1000).toISOString(), waiting: true };
}

/** LiveKit's count is some seconds old, and LiveKit itself refuses whoever comes in between. */
async function requireWaitingPlace({ mediaServer }: IssueTokenDeps, room: string): Promise<void> {
  // Tokens are issued without the media server.
  const [open] = await mediaServer.listRooms([waitingRoomName(room)]).catch(() => []);
  if (open === undefined || open.numParticipants < MOST_WAITING) return;
  throw new ServiceError(
    'waiting-room-full',
    `${MOST_WAITING} people wait for the room ${JSON.stringify(room)}, as many as may.`,
    {
      hint: {
        text: 'admit or deny some of them first',
        command: `rtc rooms waiting ${shellQuote(room)}`,
      },
      extensions: { limit: MOST_WAITING },
      retryable: true,
    },
  );
}

/** A token never outlives the room. */
function readLastSecond(plan: PlanSettings | undefined): number {
  return plan?.closesAt === undefined
    ? Number.POSITIVE_INFINITY
    : Math.floor(Date.parse(plan.closesAt) / 1000);
}

function lifetime({ tokenTtlSeconds, maxTokenTtlSeconds }: IssueTokenDeps, { ttl }: TokenRequest): number {
  if (ttl === undefined) return tokenTtlSeconds;
  if (ttl > maxTokenTtlSeconds) {
    throw refusedField('#/ttl', `must be at most ${maxTokenTtlSeconds}`, {
      text: 'ask for less, or raise MAX_TOKEN_TTL of the service',
    });
  }
  return ttl;
}
