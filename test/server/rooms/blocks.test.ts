import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BlockList } from '../../../src/contract/blocks.ts';
import type { ParticipantList } from '../../../src/contract/participants.ts';
import type { Token } from '../../../src/contract/tokens.ts';
import { startLivekit } from '../../support/parts/livekit.ts';
import { type JoinedParticipant, join } from '../../support/parts/participant.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { SkippableClock } from '../../support/skippable-clock.ts';
import { MEDIA_KEYS, startStage } from '../recordings/support/stage.ts';
import { chooseServicePort, startHookedService } from '../webhooks/support/hooked-service.ts';

/** A service with a media server that reports joins to it. */
type BlockStage = {
  readonly service: TestService;
  /** Joins with this token, if the media server allows it. */
  readonly join: (room: string, identity: string, token: Token) => Promise<void>;
  readonly close: () => Promise<void>;
};

async function realStage(): Promise<BlockStage> {
  const { port, webhookUrl } = await chooseServicePort();
  const livekit = await startLivekit({ webhookUrl });
  const service = await startHookedService(port, { livekit });
  const joined: JoinedParticipant[] = [];
  return {
    service,
    // A participant that is removed immediately may be gone before its client has connected.
    join: (_room, _identity, { url, token }) =>
      join(url, token).then(
        (participant) => void joined.push(participant),
        () => {},
      ),
    close: async () => {
      await Promise.all(joined.map((participant) => participant.leave()));
      await service.close();
      await livekit.close();
    },
  };
}

async function simulatedStage(): Promise<BlockStage> {
  const { port, webhookUrl } = await chooseServicePort();
  const { media, service, close } = await startStage({
    environment: { PORT: `${port}` },
    media: { webhookUrls: [webhookUrl] },
  });
  return { service, join: async (room, identity) => void media.control.join(room, { identity }), close };
}

const tokenBody = (roomId: string, userId: string) => ({
  body: { roomId, userId, name: userId, role: 'participant' },
});
const participantPath = (room: string, identity: string) =>
  `/v1/rooms/${encodeURIComponent(room)}/participants/${encodeURIComponent(identity)}`;
const blocksPath = (room: string) => `/v1/rooms/${encodeURIComponent(room)}/blocks`;

async function makeToken(service: TestService, room: string, identity: string): Promise<Token> {
  const response = await service.call('POST', '/v1/token', tokenBody(room, identity));
  expect(response.status, response.text).toBe(200);
  return response.json;
}

async function present(service: TestService, room: string): Promise<readonly string[]> {
  const { status, json } = await service.call('GET', `/v1/rooms/${encodeURIComponent(room)}/participants`);
  return status === 404 ? [] : (json as ParticipantList).participants.map(({ identity }) => identity);
}

type Coming = {
  readonly event: string;
  readonly participant?: { readonly identity: string; readonly leaveReason?: string };
};

/** Returns the joins and leaves of the identity in this room, for example `participant_left removed`. */
async function comings(service: TestService, room: string, identity: string): Promise<readonly string[]> {
  const query = `?roomId=${encodeURIComponent(room)}&types=participant_joined,participant_left`;
  const { events } = (await service.call('GET', `/v1/events${query}`)).json as { events: readonly Coming[] };
  return events
    .filter(({ participant }) => participant?.identity === identity)
    .map(({ event, participant }) => [event, participant?.leaveReason ?? ''].join(' ').trim());
}

async function countBlockedJoins(service: TestService): Promise<number> {
  const { text } = await service.call('GET', '/metrics');
  return Number(/^rtc_blocked_joins_total (\d+)$/m.exec(text)?.[1]);
}

const OUT_AGAIN = ['participant_joined', 'participant_left removed'];

describe.each([
  { name: 'the real media server', start: realStage },
  { name: 'the embedded media server', start: simulatedStage },
])('a block on $name', ({ start }) => {
  let stage: BlockStage;
  let service: TestService;
  beforeAll(async () => {
    stage = await start();
    service = stage.service;
  });
  afterAll(() => stage?.close());

  it('removes a participant, and removes one who returns with an older token, until it is lifted', async () => {
    const room = `block ${randomUUID()}`;
    const token = await makeToken(service, room, 'ada');
    await stage.join(room, 'ada', token);
    await stage.join(room, 'bob', await makeToken(service, room, 'bob'));
    await expect.poll(() => comings(service, room, 'ada')).toEqual(['participant_joined']);

    const removed = await service.call('DELETE', `${participantPath(room, 'ada')}?block=3600`);
    expect([removed.status, removed.headers['x-participant-removed']]).toEqual([204, 'true']);
    await expect.poll(() => comings(service, room, 'ada')).toEqual(OUT_AGAIN);

    const earlier = await countBlockedJoins(service);
    await stage.join(room, 'ada', token);
    await expect.poll(() => countBlockedJoins(service)).toBe(earlier + 1);
    await expect.poll(() => present(service, room)).toEqual(['bob']);
    // No event reports somebody who may not be there.
    await stage.join(room, 'eve', await makeToken(service, room, 'eve'));
    await expect.poll(() => comings(service, room, 'eve')).toEqual(['participant_joined']);
    expect(await comings(service, room, 'ada')).toEqual(OUT_AGAIN);

    expect((await service.call('DELETE', `${blocksPath(room)}/ada`)).status).toBe(204);
    await stage.join(room, 'ada', await makeToken(service, room, 'ada'));
    await expect.poll(() => comings(service, room, 'ada')).toEqual([...OUT_AGAIN, 'participant_joined']);
    expect((await present(service, room)).toSorted()).toEqual(['ada', 'bob', 'eve']);
  });

  it('applies to an identity that has not joined, in a room that is not open', async () => {
    const room = `early ${randomUUID()}`;
    const token = await makeToken(service, room, 'ada');
    const removed = await service.call('DELETE', `${participantPath(room, 'ada')}?block=forever`);
    expect([removed.status, removed.headers['x-participant-removed']]).toEqual([204, 'false']);
    const earlier = await countBlockedJoins(service);
    for (let times = 1; times <= 3; times += 1) {
      await stage.join(room, 'ada', token);
      await expect.poll(() => countBlockedJoins(service)).toBe(earlier + times);
    }
    await expect.poll(() => present(service, room)).toEqual([]);
    expect(await comings(service, room, 'ada')).toEqual([]);
  });
});

describe('a block', () => {
  const clock = new SkippableClock();
  let service: TestService;
  beforeAll(async () => {
    // Blocks are stored without a media server. None responds here.
    service = await startTestService({ clock });
  });
  afterAll(() => service.close());

  const block = (room: string, identity: string, duration: string) =>
    service.call('DELETE', `${participantPath(room, identity)}?block=${encodeURIComponent(duration)}`);
  const listed = async (room: string, query = ''): Promise<BlockList> => {
    const response = await service.call('GET', `${blocksPath(room)}${query}`);
    expect(response.status, response.text).toBe(200);
    return response.json;
  };

  it('is stored before the removal, and kept when that fails', async () => {
    expect(await block('stored', 'ada', '60')).toMatchObject({ status: 503 });
    const [{ identity, blockedAt, blockedUntil } = expect.unreachable()] = (await listed('stored')).blocks;
    expect(identity).toBe('ada');
    expect(Date.parse(blockedUntil ?? '') - Date.parse(blockedAt)).toBe(60_000);
  });

  it('refuses only tokens of its room and identity, with its end in the error', async () => {
    await block('refused', 'ada', '60');
    const [{ blockedUntil } = expect.unreachable()] = (await listed('refused')).blocks;
    for (const path of ['/v1/token', '/v1/token/refresh']) {
      expect(await service.call('POST', path, tokenBody('refused', 'ada'))).toMatchObject({
        status: 403,
        json: {
          type: 'urn:problem-type:rtc:participant-blocked',
          blockedUntil,
          hint: { command: 'rtc blocks remove refused ada' },
        },
      });
    }
    await makeToken(service, 'refused', 'bob');
    await makeToken(service, 'another', 'ada');
    await block('refused', 'ada', 'forever');
    expect(await service.call('POST', '/v1/token', tokenBody('refused', 'ada'))).toMatchObject({
      json: { blockedUntil: null },
    });
    expect((await service.call('DELETE', `${blocksPath('refused')}/ada`)).status).toBe(204);
    await makeToken(service, 'refused', 'ada');
  });

  it('ends by itself', async () => {
    await block('ending', 'ada', '3600');
    clock.skip(3_599_000);
    expect((await service.call('POST', '/v1/token', tokenBody('ending', 'ada'))).status).toBe(403);
    clock.skip(1_000);
    await makeToken(service, 'ending', 'ada');
    expect(await listed('ending')).toEqual({ blocks: [], nextCursor: null });
    expect(await service.call('DELETE', `${blocksPath('ending')}/ada`)).toMatchObject({
      status: 404,
      json: { type: 'urn:problem-type:rtc:block-not-found' },
    });
  });

  it('is listed page by page', async () => {
    const identities = ['a b', 'c/d', 'é😀', '%2F'];
    for (const identity of identities) await block('pages', identity, 'forever');
    const first = await listed('pages', '?limit=3');
    const second = await listed('pages', `?limit=3&cursor=${first.nextCursor}`);
    expect(first.blocks.concat(second.blocks).map(({ identity }) => identity)).toEqual(identities.toSorted());
    expect(second.nextCursor).toBeNull();
    for (const identity of identities) {
      const path = `${blocksPath('pages')}/${encodeURIComponent(identity)}`;
      expect((await service.call('DELETE', path)).status).toBe(204);
    }
    expect((await listed('pages')).blocks).toEqual([]);
  });

  it.each(['', '0', '-1', '1.5', '1e3', '01', ' 5', 'Forever', '1h', '1000000000', '9'.repeat(40)])(
    'cannot have the duration %j',
    async (duration) => {
      expect(await block('duration', 'ada', duration)).toMatchObject({
        status: 400,
        json: {
          errors: [{ parameter: 'block', detail: 'must be whole seconds from 1 to 999999999, or forever' }],
        },
      });
      expect((await listed('duration')).blocks).toEqual([]);
    },
  );
});

describe('a restart', () => {
  it('keeps blocks, and removes blocked participants who joined in the meantime', async () => {
    const dataDir = await mkdtemp(joinPath(tmpdir(), 'rtc-blocks-'));
    const { port, webhookUrl } = await chooseServicePort();
    const environment = { DATA_DIR: dataDir, PORT: `${port}` };
    const { service, media, close } = await startStage({ environment, media: { webhookUrls: [webhookUrl] } });
    try {
      await service.call('DELETE', `${participantPath('demo', 'ada')}?block=forever`);
      await service.stop();
      media.control.join('demo', { identity: 'ada' });
      media.control.join('demo', { identity: 'bob' });
      const livekit = { url: media.url.replace('http', 'ws'), ...MEDIA_KEYS };
      const again = await startHookedService(port, { livekit, environment });
      try {
        await expect.poll(() => present(again, 'demo')).toEqual(['bob']);
        expect((await again.call('POST', '/v1/token', tokenBody('demo', 'ada'))).status).toBe(403);
      } finally {
        await again.close();
      }
    } finally {
      await close();
      await rm(dataDir, { recursive: true });
    }
  });
});
