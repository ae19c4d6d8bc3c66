import { ROLES } from '../../contract/choices.ts';
import { ServiceError } from '../../contract/errors.ts';
import type { Hint } from '../../contract/hint.ts';
import type { PlanSettings } from '../../contract/plans.ts';
import { type Token, type TokenRequest, TokenRequestSchema, TokenSchema } from '../../contract/tokens.ts';
import type { Clock } from '../platform/clock.ts';
import { exactMember } from '../platform/http/bodies/read-body.ts';
import type { KeyLimits } from '../platform/http/limits/key-limits.ts';
import { type Caller, defineRoute, type Route, requireRoom } from '../platform/http/route.ts';
import type { ParticipantGrants, TokenSigner } from '../platform/livekit/token-signer.ts';
import { ensureNotBlocked, type FindBlock } from './blocks/blocks.ts';
import { decideEntry, requireEntry, requirePlannedEntry } from './entry.ts';
import { metadataText, ROLE_GRANTS, toRoleAttributes } from './participants.ts';
import { type FindNamedPlan, mergePlans } from './plans/plans.ts';
import { type FindRoomRecord, toRoomConfig } from './room-records.ts';

export function tokenRoutes(deps: IssueTokenDeps): readonly Route[] {
  const issue = ({ path, operationId, summary, description }: Issuing): Route =>
    defineRoute({
      method: 'POST',
      path,
      operationId,
      tag: 'tokens',
      summary,
      description,
      security: 'signed',
      scopes: ['tokens', 'rooms'],
      ofRooms: 'filtered',
      body: TokenRequestSchema,
      success: { 200: { description: 'A token for one participant of one room', schema: TokenSchema } },
      errors: [
        'participant-blocked',
        'room-closed',
        'room-not-open-yet',
        'room-not-found',
        'key-limit-reached',
        'storage-unavailable',
      ],
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
      description: `A LiveKit client connects to \`url\` with it. The first participant who joins opens the room, with the settings of the last \`POST /v1/rooms\` for it. Everyone with a token can join until \`expiresAt\`, and stay.\n\n${roleTable()}`,
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

export type IssueTokenDeps = {
  readonly keyLimits: Pick<KeyLimits, 'checkPerson'>;
  readonly findBlock: FindBlock;
  readonly findRoomRecord: FindRoomRecord;
  readonly findNamedPlan: FindNamedPlan;
  readonly clock: Clock;
  readonly tokenSigner: TokenSigner;
  readonly tokenTtlSeconds: number;
  /** Maximum lifetime that a request may ask for. */
  readonly maxTokenTtlSeconds: number;
  /** WebSocket URL that clients connect to. */
  readonly mediaUrl: string;
};

/**
 * Issues an access token for one participant of one room. Throws participant-blocked, room-closed, room-not-open-yet, and
 * invalid-request for metadata over LiveKit's limit, a lifetime over ours, and sources of a role that does not publish.
 */
async function issueToken(
  deps: IssueTokenDeps,
  request: TokenRequest,
  caller: Caller | undefined,
): Promise<Token> {
  const found = deps.findRoomRecord({ room: request.roomId });
  const record = found instanceof Promise ? await found : found;
  requireEntry(decideEntry(record, 'person', deps.clock.now()), request.roomId);
  const named = deps.findNamedPlan(request.roomId);
  const plan = mergePlans(named instanceof Promise ? await named : named, record);
  requirePlannedEntry(plan, request.roomId, deps.clock.now());
  const check = ensureNotBlocked(deps.findBlock, { room: request.roomId, identity: request.userId });
  if (check !== undefined) await check;
  const { metadata, role } = request;
  const issuedAt = Math.floor(deps.clock.now() / 1000);
  const expiresAt = Math.min(issuedAt + lifetime(deps, request), readLastSecond(plan));
  const token = deps.tokenSigner.sign({
    room: request.roomId,
    identity: request.userId,
    name: request.name,
    metadata: metadata === undefined ? undefined : metadataText(metadata),
    attributes: { ...toRoleAttributes(role), ...toKeyAttribute(caller) },
    grants: chooseGrants(request),
    roomConfig: toRoomConfig(record, plan),
    issuedAt,
    expiresAt,
  });
  return { token, url: deps.mediaUrl, expiresAt: new Date(expiresAt * 1000).toISOString() };
}

/** Usage is counted by key. The root key is the one without an attribute. */
function toKeyAttribute(caller: Caller | undefined): Readonly<Record<string, string>> {
  return caller?.scopes === undefined ? {} : { 'rtc.key': caller.keyId };
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
    throw fieldError('#/ttl', `must be at most ${maxTokenTtlSeconds}`, {
      text: 'ask for less, or raise MAX_TOKEN_TTL of the service',
    });
  }
  return ttl;
}

function chooseGrants({ role, canPublishSources }: TokenRequest): ParticipantGrants {
  const { grants } = ROLE_GRANTS[role];
  if (canPublishSources === undefined) return grants;
  if (!grants.canPublish)
    throw fieldError('#/canPublishSources', `must be left out: a ${role} does not publish`);
  return { ...grants, canPublishSources };
}

function fieldError(pointer: string, detail: string, hint?: Hint): ServiceError {
  return new ServiceError('invalid-request', `${pointer} ${detail}.`, {
    errors: [{ pointer, detail }],
    ...(hint === undefined ? {} : { hint }),
  });
}
