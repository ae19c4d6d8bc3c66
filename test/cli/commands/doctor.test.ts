import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { readPort } from '../../support/forwarding-server.ts';
import { startPathProxy } from '../../support/parts/haproxy.ts';
import { freePort } from '../../support/parts/run-part.ts';
import { bucketSettings, startS3 } from '../../support/parts/s3.ts';
import { sharedLivekit } from '../../support/parts/shared.ts';
import { startTestService } from '../../support/service.ts';
import { json, problem, startHttpServer } from '../support/http-server.ts';
import { type Run, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

type Check = {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
  readonly next: string;
};

async function doctor(
  env: Readonly<Record<string, string>>,
  options: { readonly argv?: readonly string[]; readonly clock?: () => number } = {},
): Promise<{
  readonly run: Run;
  readonly checks: readonly Check[];
  status(check: string): string | undefined;
}> {
  const { argv = [], ...rest } = options;
  const result = await run(['doctor', '--json', ...argv], { env, ...rest });
  const checks = JSON.parse(result.stdout) as Check[];
  return { run: result, checks, status: (name) => checks.find(({ check }) => check === name)?.status };
}

async function withStack(
  settings: Parameters<typeof startStack>[0],
  use: (stack: Stack) => Promise<void>,
): Promise<void> {
  const stack = await startStack(settings);
  try {
    await use(stack);
  } finally {
    await stack.close();
  }
}

const MEDIA_WORK: ReadonlySet<string> = new Set(['recorder', 'ingress worker', 'ingress', 'recording']);
const NONE_CAN_CONNECT = 'none can connect, since the media server runs without Redis';

describe('rtc doctor', () => {
  it('finds no fault in a healthy service, and leaves no room behind', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const ingressUrls = { rtmp: `rtmp://127.0.0.1:${readPort(listener)}/live` };
    await withStack({ ingressUrls }, async (stack) => {
      const now = Date.now();
      const options = { argv: ['--probe'], clock: () => now };
      const { run: result, checks, status } = await doctor(stack.environment, options);
      expect(checks.filter((check) => check.status === 'fault')).toEqual([]);
      expect(result.code).toBe(0);
      const tried = ['recording folder', 'ingress', 'events', 'recording'];
      expect(tried.map(status)).toEqual(tried.map(() => 'ok'));
      const probed = `rtc-doctor-probe-ingress-${now.toString(36)}`;
      const left = await run(['ingress', 'list', probed, '--json'], { env: stack.environment });
      expect(left.stdout).toBe('{"ingress":[]}\n');
      expect((await run(['rooms', 'list', '--json'], { env: stack.environment })).stdout).toBe(
        '{"rooms":[]}\n',
      );
    });
    listener.close();
  });

  it('finds that nobody listens on the address for streams, or that there is no address', async () => {
    const rtmp = `rtmp://127.0.0.1:${await freePort()}/live`;
    for (const [ingressUrls, detail] of [
      [{ rtmp }, `nothing accepts connections at ${rtmp} from here`],
      [{}, 'the media server has no address for streams'],
    ] as const) {
      await withStack({ ingressUrls }, async (stack) => {
        const { checks } = await doctor(stack.environment, { argv: ['--probe'] });
        const { next, ...found } = checks.find(({ check }) => check === 'ingress') ?? { next: '' };
        expect(found).toEqual({ check: 'ingress', status: 'fault', detail });
        expect(next).not.toBe('');
      });
    }
  });

  it('reports once that no worker is connected when the service knows the Redis', async () => {
    const { redis, ...livekit } = await sharedLivekit();
    const service = await startTestService({ livekit, environment: { REDIS_URL: redis.url } });
    try {
      const environment = {
        RTC_URL: service.url,
        RTC_API_KEY: service.apiKey,
        RTC_API_SECRET: service.apiSecret,
      };
      const { status } = await doctor(environment, { argv: ['--probe'] });
      expect(['recorder', 'ingress worker', 'ingress', 'recording'].map(status)).toEqual([
        'fault',
        'fault',
        'ok',
        'skipped',
      ]);
    } finally {
      await service.close();
    }
  });

  it('sets up missing parts with --fix, reports what was done, and checks again', async () => {
    const { redis, ...livekit } = await sharedLivekit();
    const service = await startTestService({ livekit, environment: { REDIS_URL: redis.url } });
    const requests: unknown[] = [];
    const admin = async () => ({
      backup: () => Promise.reject(new Error()),
      restore: () => Promise.reject(new Error()),
      migrate: () => Promise.reject(new Error()),
      confirmClock: () => Promise.reject(new Error()),
      reencrypt: () => Promise.reject(new Error()),
      fix: async (missing: unknown) => {
        requests.push(missing);
        return [{ subject: 'egress.yaml', status: 'not done', detail: 'no', next: 'do it' } as const];
      },
    });
    try {
      const env = { RTC_URL: service.url, RTC_API_KEY: service.apiKey, RTC_API_SECRET: service.apiSecret };
      const result = await run(['doctor', '--fix'], { env, terminals: ['stderr'], loaders: { admin } });
      expect(requests).toEqual([['egress', 'ingress']]);
      expect(result.stderr).toContain('egress.yaml: not done, no; do it');
      expect(result.code).toBe(7);
    } finally {
      await service.close();
    }
  });

  it('says once that an older Node has to start a newer one for each command', async () => {
    const { checks } = await doctor({ RTC_URL: 'http://127.0.0.1:9', RTC_RELAUNCHED: '20.20.2' });
    expect(checks.filter(({ detail }) => detail.includes('Node 20.20.2'))).toEqual([
      {
        check: 'node',
        status: 'note',
        detail: `Node 20.20.2 runs rtc, and has to start Node ${process.versions.node} for each command`,
        next: 'for faster commands, put Node 24 first in PATH',
      },
    ]);
    const other = await doctor({ RTC_URL: 'http://127.0.0.1:9' });
    expect(other.status('node')).toBeUndefined();
  });

  it('makes no new rooms in repeated runs', async () => {
    const result = await run(['doctor', '--watch', '--probe'], { env: {} });
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('leave it out with --watch') });
  });

  it('finds that the media server does not send its events to the service', async () => {
    await withStack({ webhookUrls: [] }, async (stack) => {
      const { run: result, status } = await doctor(stack.environment, { argv: ['--probe'] });
      expect([result.code, status('events')]).toEqual([7, 'fault']);
    });
  });

  it.each([[[]], [['--probe']]])(
    'notes, with %j, that a media server without Redis takes no streams and records nothing',
    async (argv) => {
      await withStack({ faults: { redis: 'absent' } }, async (stack) => {
        const { run: result, checks } = await doctor(stack.environment, { argv });
        expect(result.code).toBe(0);
        expect(checks.filter(({ check }) => MEDIA_WORK.has(check))).toEqual([
          { check: 'recorder', status: 'skipped', detail: NONE_CAN_CONNECT, next: '' },
          { check: 'ingress worker', status: 'skipped', detail: NONE_CAN_CONNECT, next: '' },
          {
            check: 'ingress',
            status: 'note',
            detail: 'the media server runs without Redis, so nothing takes streams',
            next: "for streams, name a Redis in the media server's configuration (redis.address), and run livekit/ingress on it",
          },
          {
            check: 'recording',
            status: 'note',
            detail: 'the media server runs without Redis, so nothing records',
            next: "for recordings, name a Redis in the media server's configuration (redis.address), and run livekit/egress on it",
          },
        ]);
      });
    },
  );

  it('finds a fault in a media server without Redis when the service has a REDIS_URL', async () => {
    const worker = { status: 'warning', detail: 'none', next: 'set REDIS_URL' };
    const server = await startHttpServer(({ url = '' }, response) => {
      if (url.includes('/ingress')) problem(response, 503, 'media-worker-unavailable');
      else if (url === '/v1/health')
        json(response, 200, { status: 'ok', version: '1.0.0', capabilities: {} });
      else json(response, 200, { rooms: [], checks: [{ check: 'recorder', ...worker }] });
    });
    const { run: result, status } = await doctor({ RTC_URL: server.url, API_KEY: 'k', API_SECRET: 's' });
    await server.close();
    expect(result.code).toBe(7);
    expect(['recorder', 'ingress', 'recording'].map(status)).toEqual(['warning', 'fault', 'fault']);
  });

  it('finds that the media server does not respond', async () => {
    await withStack({}, async (stack) => {
      await stack.media.close();
      const { run: result, checks, status } = await doctor(stack.environment);
      expect(result.code).toBe(7);
      expect([status('signature'), status('media server'), status('ingress')]).toEqual([
        'ok',
        'fault',
        'skipped',
      ]);
      expect(checks.find(({ check }) => check === 'media server')?.next).toBe(
        "start LiveKit, or correct the service's LIVEKIT_URL",
      );
    });
  });

  it.each([-1, 1])('says to correct a clock when that of the media server is %i day off', async (days) => {
    const tokenTime = () => Date.now() + days * 86_400_000;
    await withStack({ tokenTime }, async (stack) => {
      const { checks } = await doctor(stack.environment);
      expect(checks.find(({ check }) => check === 'media server')).toMatchObject({
        status: 'fault',
        detail: expect.stringContaining('as expired or not valid yet'),
        next: 'compare the clocks of both machines, and correct the wrong one (NTP)',
      });
    });
  });

  it('finds that the key or the secret is wrong', async () => {
    await withStack({}, async (stack) => {
      for (const wrong of [{ RTC_API_KEY: 'wrong' }, { RTC_API_SECRET: 'wrong' }]) {
        const { run: result, status } = await doctor({ ...stack.environment, ...wrong });
        expect([result.code, status('signature'), status('media server')]).toEqual([7, 'fault', undefined]);
      }
    });
  });

  it('finds that the address has another path than BASE_PATH of the service', async () => {
    const readNext = async (url: string, { environment }: Stack, check: string) => {
      const { checks } = await doctor({ ...environment, RTC_URL: url });
      return checks.find((each) => each.check === check && each.status === 'fault')?.next;
    };
    await withStack({ environment: { BASE_PATH: '/rtc' } }, async (stack) => {
      expect((await doctor(stack.environment)).status('signature')).toBe('ok');
      const { origin } = new URL(stack.service.url);
      expect(await readNext(origin, stack, 'signature')).toContain('ends in /rtc');
    });
    await withStack({}, async (stack) => {
      const proxy = await startPathProxy(new URL(stack.service.url).host, '/rtc');
      const expected = "set the service's BASE_PATH to /rtc";
      expect(await readNext(proxy.strippingUrl, stack, 'signature')).toContain(expected);
      expect(await readNext(proxy.passingUrl, stack, 'address')).toContain(expected);
      await proxy.close();
    });
  });

  it('warns of a variable that looks like a setting, with the nearest name', async () => {
    await withStack({ environment: { RECORDING_RETENTON: '7' } }, async (stack) => {
      const { run: result, checks } = await doctor(stack.environment);
      expect(result.code).toBe(0);
      expect(checks.find(({ check }) => check === 'unknown setting')).toEqual({
        check: 'unknown setting',
        status: 'warning',
        detail: 'RECORDING_RETENTON is no setting, and has no effect; did you mean RECORDING_RETENTION?',
        next: "correct or remove it in the service's environment, and restart it",
      });
    });
  });

  it('finds that the clock is off, from 301 s on', async () => {
    await withStack({}, async (stack) => {
      const at = async (seconds: number) =>
        (await doctor(stack.environment, { clock: () => Date.now() + seconds * 1000 })).status('clock');
      expect(await at(0)).toBe('ok');
      expect(await at(120)).toBe('warning');
      expect(await at(-320)).toBe('fault');
      expect(await at(320)).toBe('fault');
    });
  });

  it('finds that nothing listens, or another program', async () => {
    const { run: result, status } = await doctor({
      RTC_URL: 'http://127.0.0.1:9',
      API_KEY: 'k',
      API_SECRET: 's',
    });
    expect([result.code, status('settings'), status('address')]).toEqual([7, 'ok', 'fault']);
    const other = await startHttpServer((_request, response) => json(response, 200, { hello: 'world' }));
    const checked = await doctor({ RTC_URL: other.url, API_KEY: 'k', API_SECRET: 's' });
    await other.close();
    expect([checked.run.code, checked.status('address')]).toEqual([7, 'fault']);
  });

  it('finds that the settings are missing, and checks the address nevertheless', async () => {
    const server = await startHttpServer((request, response) =>
      request.url === '/v1/health'
        ? json(response, 200, { status: 'ok', version: '9.9.9', capabilities: {} })
        : problem(response, 401, 'missing-credentials'),
    );
    const { run: result, status } = await doctor({ RTC_URL: server.url });
    await server.close();
    expect([result.code, status('settings'), status('address')]).toEqual([7, 'fault', 'ok']);
    expect(server.received.map(({ url }) => url)).toEqual(['/v1/health']);
  });

  it('finds that the keys of the bucket are wrong', async () => {
    const s3 = await startS3();
    const environment = { ...bucketSettings(s3), S3_SECRET_KEY: 'wrong' };
    try {
      await withStack({ environment }, async (stack) => {
        const { run: result, checks } = await doctor(stack.environment);
        expect(result.code).toBe(7);
        expect(checks).toContainEqual({
          check: 'bucket',
          status: 'fault',
          detail: 'cannot write: the object storage refuses the signature',
          next: 'check S3_SECRET_KEY',
        });
      });
    } finally {
      await s3.close();
    }
  });

  it('names what to start when a trial recording finds no recorder', async () => {
    await withStack({ faults: { recorder: 'absent' } }, async (stack) => {
      const { checks } = await doctor(stack.environment, { argv: ['--probe'] });
      expect(checks.find(({ check }) => check === 'recording')).toMatchObject({
        status: 'fault',
        next: expect.stringMatching(/livekit\/egress.*redis/),
      });
    });
  });

  it('finds that the database does not respond', async () => {
    const server = await startHttpServer((request, response) => {
      if (request.url === '/ready') {
        const body = JSON.stringify({ ready: false, checks: { mediaServer: true, database: false } });
        response.writeHead(503, { 'content-type': 'application/json' }).end(body);
      } else if (request.url === '/v1/health') {
        const languages = { live: ['en', 'it'], post: [] };
        const capabilities = { transcriptionLive: true, transcriptionPost: false, languages };
        json(response, 200, { status: 'ok', version: '1.0.0', capabilities });
      } else if (request.url === '/v1/self-check') {
        // A service of an earlier version does not have the endpoint.
        problem(response, 404, 'route-not-found');
      } else json(response, 200, { rooms: [], ingress: [] });
    });
    const {
      run: result,
      checks,
      status,
    } = await doctor({ RTC_URL: server.url, API_KEY: 'k', API_SECRET: 's' });
    await server.close();
    expect([result.code, status('database'), status('add-ons')]).toEqual([7, 'fault', 'ok']);
    expect(status('bucket')).toBe('skipped');
    expect(checks.find(({ check }) => check === 'add-ons')?.detail).toBe('live transcription (en, it)');
  });

  it('reports what it has found when the service stops during the checks', async () => {
    let healths = 0;
    const server = await startHttpServer(({ url }, response) => {
      healths += url === '/v1/health' ? 1 : 0;
      const capabilities = { transcriptionLive: false, transcriptionPost: false };
      if (url === '/v1/health' && healths > 1) response.destroy();
      else if (url === '/v1/health') json(response, 200, { status: 'ok', version: '1.0.0', capabilities });
      else if (url === '/ready')
        json(response, 200, { ready: true, checks: { mediaServer: true, database: true } });
      else json(response, 200, { rooms: [], ingress: [], checks: [] });
    });
    const { status } = await doctor({ RTC_URL: server.url, API_KEY: 'k', API_SECRET: 's' });
    await server.close();
    expect([status('signature'), status('database'), status('add-ons')]).toEqual(['ok', 'ok', 'fault']);
  });
});
