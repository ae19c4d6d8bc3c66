import { startLivekitFixture } from './livekit-fixture.ts';
import { describeMediaServer } from './media-server-contract.ts';

describeMediaServer({
  name: 'livekit-server with Redis',
  hasRedis: true,
  start: () => startLivekitFixture({ redis: true }),
});

describeMediaServer({
  name: 'livekit-server without Redis',
  hasRedis: false,
  start: () => startLivekitFixture({ redis: false }),
});
