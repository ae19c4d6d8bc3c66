import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import Fastify from 'fastify';
import { AccessToken } from 'livekit-server-sdk';

/*
 * The comparison: a plain Fastify route that checks the same HMAC and makes the same token with livekit-server-sdk. It
 * prints its address.
 */

const { API_KEY: apiKey = '', API_SECRET: apiSecret = '' } = process.env;

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
  const token = new AccessToken(apiKey, apiSecret, {
    identity: userId,
    name,
    ttl: 3600,
    attributes: { 'rtc.role': 'participant', 'rtc.canMuteOthers': 'false' },
  });
  token.addGrant({
    room: roomId,
    roomJoin: true,
    canPublish: true,
    canSubscribe: true,
    canPublishData: true,
    canUpdateOwnMetadata: false,
    roomAdmin: false,
  });
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  return { token: await token.toJwt(), url: 'ws://localhost:7880', expiresAt };
});
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
