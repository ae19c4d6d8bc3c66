import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createTokenSigner } from '../../../../src/server/platform/livekit/create-token-signer.ts';
import { createRoomAudioSubscriber } from '../../../../src/server/platform/livekit/room-audio-subscriber.ts';
import { systemClock } from '../../../../src/server/platform/system.ts';
import { SAMPLE_RATE } from '../../../../src/server/transcription/engines/speech.ts';

// LiveKit's own words, to a service whose clock is ahead: the token that it quotes will be good in a moment.
it('keeps the token that a refusal quotes out of its error', async () => {
  const quoted: string[] = [];
  const server = createServer((request, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    if (token !== '') quoted.push(token);
    const why = 'token has invalid claims: token is not valid yet';
    response.writeHead(401).end(`invalid token: ${token}, error: ${why}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const tokenSigner = createTokenSigner('key', 'secret');
    const url = `ws://127.0.0.1:${port}`;
    const listener = await createRoomAudioSubscriber({
      url,
      tokenSigner,
      clock: systemClock,
      sampleRate: SAMPLE_RATE,
    });
    const request = { room: 'demo', identity: 'stt-live-1', onTrack: () => {}, onClosed: () => {} };
    const failure = await listener.join(request).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'media-server-unavailable' });
    const { cause } = failure as Error;
    expect(cause).toMatchObject({ message: expect.stringContaining('token is not valid yet') });
    expect(quoted.length).toBeGreaterThan(0);
    const words = `${(cause as Error).message} ${(cause as Error).stack} ${JSON.stringify(cause)}`;
    for (const token of quoted) expect(words).not.toContain(token);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
