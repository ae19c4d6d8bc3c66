import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import Fastify from 'fastify';
import { AccessToken, type VideoGrant } from 'livekit-server-sdk';

/*
 * The comparison: a plain Fastify route that checks the same HMAC and makes the same token, with livekit-server-sdk, or by
 * createHmac alone if the first argument says so. It prints its address.
 */

const { API_KEY: apiKey = '', API_SECRET: apiSecret = '' } = process.env;
const isByHmac = process.argv[2] === 'createHmac';

const app = Fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
  done(null, body),
);
app.post('/v1/token', async (request, reply) => {
  const body = request.body as Buffer;
  const timestamp = String(request.headers['x-service-timestamp']);
  const hash = createHash('sha256').update(body).digest('hex');
  const expected = createHmac('sha256', apiSecret)
    .update(`${request.method}\n${request.raw.url}\n${timestamp}\n${hash}`)
    .digest();
  const given = Buffer.from(String(request.headers['x-service-signature']), 'hex');
  const isKnown = request.headers['x-api-key'] === apiKey;
  if (!isKnown || given.length !== expected.length || !timingSafeEqual(given, expected))
    return reply.code(403).send();
  const { roomId, userId, name } = JSON.parse(body.toString()) as Record<
    'roomId' | 'userId' | 'name',
    string
  >;
  const grant = {
    room: roomId,
    roomJoin: true,
    canPublish: true,
    canSubscribe: true,
    canPublishData: true,
    canUpdateOwnMetadata: false,
    roomAdmin: false,
  };
  const expiresAt = new Date(Date.now() + TTL_S * 1000).toISOString();
  const token = isByHmac ? signToken(userId, name, grant) : await makeToken(userId, name, grant);
  return { token, url: 'ws://localhost:7880', expiresAt };
});

const TTL_S = 3600;
const attributes = { 'rtc.role': 'participant', 'rtc.canMuteOthers': 'false' };

function makeToken(identity: string, name: string, grant: VideoGrant): Promise<string> {
  const token = new AccessToken(apiKey, apiSecret, { identity, name, ttl: TTL_S, attributes });
  token.addGrant(grant);
  return token.toJwt();
}

/** The least that a token takes: JSON, base64url and one HMAC. */
function signToken(sub: string, name: string, video: VideoGrant): string {
  const nbf = Math.floor(Date.now() / 1000);
  const claims = { iss: apiKey, sub, name, attributes, video, nbf, exp: nbf + TTL_S };
  const signed = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${signed}.${createHmac('sha256', apiSecret).update(signed).digest('base64url')}`;
}

const HEADER = Buffer.from(JSON.stringify({ alg: 'HS256' })).toString('base64url');
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
