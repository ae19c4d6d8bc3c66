import { describeMediaServer } from '../platform/livekit/media-server-contract.ts';
import { startEmbeddedFixture } from './embedded-fixture.ts';

describeMediaServer({
  name: 'embedded media server',
  hasRedis: true,
  start: () => startEmbeddedFixture({ faults: { recorder: 'absent' } }),
});

describeMediaServer({
  name: 'embedded media server as without Redis',
  hasRedis: false,
  start: () => startEmbeddedFixture({ faults: { redis: 'absent' } }),
});
