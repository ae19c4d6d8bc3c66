import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeConfig, loadConfig, serviceUrl } from '../../../src/server/app/config/config.ts';
import {
  ConfigError,
  type Environment,
  readEnvironment,
} from '../../../src/server/app/config/environment.ts';
import type { Setting } from '../../../src/server/app/config/setting.ts';
import { SETTINGS, type SettingName } from '../../../src/server/app/config/settings.ts';
import { listUnknownSettings, listWarnings } from '../../../src/server/app/config/warnings.ts';

const BASE = { API_KEY: 'key', API_SECRET: 'secret' };
const WSS = { LIVEKIT_PUBLIC_URL: 'wss://media.example.org' };
const KEY_32 = Buffer.alloc(32, 7).toString('base64');

const load = (environment: Environment) => loadConfig({ ...BASE, ...environment });

function findFaults(environment: Environment): readonly string[] {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

const URL_FAULTS = [
  'x',
  'ftp://host',
  'http:',
  '//host',
  'host:7880',
  'http://',
  'http://user:pw@host',
  'http://host?x=1',
  'http://host#x',
];

/** Accepted and refused values of each setting, including the limits. `beside` has other settings that they require. */
type Values = {
  readonly good: readonly string[];
  readonly bad: readonly string[];
  readonly beside?: Environment;
};
const VALUES: Readonly<Record<SettingName, Values>> = {
  API_KEY: { good: ['a', '!~', 'x'.repeat(256)], bad: ['a b', 'è', 'a\n', 'x'.repeat(257)] },
  API_SECRET: { good: ['a', 'x'.repeat(256)], bad: ['a b', 'x'.repeat(257)] },
  API_SECRET_PREVIOUS: { good: ['a', 'x'.repeat(256)], bad: ['a b', 'x'.repeat(257)] },
  AUTH_SINGLE_HEADER: { good: ['on', 'off', 'true', 'false', '1', '0'], bad: ['yes', 'ON', ' on', '2'] },
  HOST: { good: ['0.0.0.0', '::', 'localhost'], bad: [] },
  PORT: { good: ['0', '1', '65535'], bad: ['-1', '65536', '3e3', '30.0', ' 3000', '0x10', 'http'] },
  OTEL_SDK_DISABLED: { good: ['true', 'false'], bad: ['on'] },
  OTEL_TRACES_EXPORTER: { good: ['otlp', 'console', 'none'], bad: ['zipkin', 'otlp,console'] },
  OTEL_EXPORTER_OTLP_ENDPOINT: { good: ['http://collector:4318'], bad: [...URL_FAULTS] },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: { good: ['https://collector/v1/traces'], bad: [...URL_FAULTS] },
  OTEL_EXPORTER_OTLP_HEADERS: { good: ['a=b', 'a=b,c=d%20e', 'key=a=b'], bad: ['a', 'a=b,c', '=b'] },
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: { good: ['a=b'], bad: ['a'] },
  OTEL_EXPORTER_OTLP_PROTOCOL: { good: ['http/protobuf', 'http/json'], bad: ['grpc'] },
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: { good: ['http/protobuf', 'http/json'], bad: ['grpc'] },
  OTEL_EXPORTER_OTLP_COMPRESSION: { good: ['none', 'gzip'], bad: ['br'] },
  OTEL_EXPORTER_OTLP_TIMEOUT: { good: ['1', '600000'], bad: ['0', '10s'] },
  OTEL_SERVICE_NAME: { good: ['rooms'], bad: [] },
  OTEL_RESOURCE_ATTRIBUTES: { good: ['a=b,c=d'], bad: ['a'] },
  OTEL_TRACES_SAMPLER: { good: ['always_off', 'parentbased_traceidratio'], bad: ['xray'] },
  OTEL_TRACES_SAMPLER_ARG: { good: ['0', '0.25', '1', '1.0'], bad: ['2', '1.1', '-1', 'half'] },
  OTEL_BSP_SCHEDULE_DELAY: { good: ['1', '600000'], bad: ['0'] },
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: { good: ['1', '2048'], bad: ['0'] },
  OTEL_BSP_MAX_QUEUE_SIZE: { good: ['512', '1000000'], bad: ['0'] },
  SHUTDOWN_DELAY: { good: ['0', '300'], bad: ['-1', '301', '1.5'] },
  STRICT_SECRETS: { good: ['off', 'false'], bad: ['yes'] },
  DATABASE_POOL_SIZE: { good: ['2', '1000'], bad: ['1', '1001'] },
  SERVICE_URL: {
    good: ['http://rtc:3000', 'https://rtc.example.org/base'],
    bad: [...URL_FAULTS, 'ws://host'],
  },
  BASE_PATH: {
    good: ['/rtc', '/rtc/', '/apps/video-2.0_x~y', '/', '/itinerary', '/...x'],
    bad: [
      ...['rtc', '//', '//rtc', '/rtc//x', '/rtc//', '/../rtc', '/rtc/..', '/rtc/.', '/...', 'https://x/rtc'],
      ...[
        '/rtc?x=1',
        '/rtc#x',
        '/%72tc',
        '/rtc%2Fx',
        '/a b',
        '/rtc\\x',
        '/caffè',
        '/rtc;x',
        '/"',
        '/v1',
        '/it/x',
      ],
    ],
  },
  TRUST_PROXY: {
    good: ['off', '0', '1', '10', '10.0.0.1', '10.0.0.0/8', '10.0.0.1,::1', '::/0', '0.0.0.0/0', 'fd00::/8'],
    bad: [
      'on',
      'true',
      '10.0.0.1, ::1',
      '10.0.0.0/33',
      '::1/129',
      '10.0.0',
      'proxy',
      '10.0.0.0/',
      '1.2.3.4/8/9',
      '-1',
      '100',
      'fe80::1%eth0',
    ],
  },
  LIVEKIT_URL: {
    good: ['ws://localhost:7880', 'wss://m', 'http://m', 'https://m'],
    bad: [...URL_FAULTS],
    beside: WSS,
  },
  LIVEKIT_PUBLIC_URL: {
    good: [
      'wss://media.example.org',
      'ws://localhost:7880',
      'ws://127.0.0.1',
      'ws://127.9.9.9',
      'ws://[::1]:7880',
      'ws://a.localhost',
      'https://media.example.org',
      'http://localhost',
    ],
    bad: [
      ...URL_FAULTS,
      'ws://media.example.org',
      'http://media.example.org',
      'ws://10.0.0.1',
      'ws://localhost.example.org',
      'ws://127.0.0.1.example.org',
      'ws://0.0.0.0',
      'ws://notlocalhost',
    ],
  },
  LIVEKIT_API_KEY: { good: ['a'], bad: ['a b'] },
  LIVEKIT_API_SECRET: { good: ['a'], bad: ['a b'] },
  REDIS_URL: {
    good: [
      'redis://redis',
      'rediss://u:p%40w@redis.example.org:6380/0',
      'redis://:pw@127.0.0.1',
      'redis://[::1]:6379',
    ],
    bad: ['redis:6379', 'http://redis', 'redis://', 'redis://a,b:6379', 'redis://h:port', 'redis://h/name'],
  },
  RECORDER_PATIENCE: { good: ['1', '25'], bad: ['0', '26', '8s'] },
  TOKEN_TTL: { good: ['1', '31536000'], bad: ['0', '-1', '31536001', '1.5', '1h'] },
  MAX_TOKEN_TTL: { good: ['1', '31536000'], bad: ['0', '-1', '31536001', '1.5', '1h'] },
  DATABASE_URL: {
    good: ['postgres://u:p@h/d', 'postgresql://h'],
    bad: ['mysql://h', 'postgres://', 'h'],
    beside: { ENCRYPTION_KEY: KEY_32 },
  },
  DATA_DIR: { good: ['/var/lib/rtc', 'relative'], bad: [] },
  S3_REGION: { good: ['eu-south-1'], bad: [] },
  S3_ACCESS_KEY: { good: ['a'], bad: [] },
  S3_SECRET_KEY: { good: ['s'], bad: [] },
  S3_SESSION_TOKEN: { good: ['t'], bad: [] },
  RECORDING_DIR: { good: ['/recordings'], bad: [] },
  EGRESS_PROGRAM: { good: ['/usr/bin/egress'], bad: [] },
  ENCRYPTION_KEY: {
    good: [KEY_32, KEY_32.slice(0, 43), 'a0'.repeat(32), `${KEY_32},${'a0'.repeat(32)}`],
    bad: [
      'short',
      'a0'.repeat(31),
      `${KEY_32},`,
      `${KEY_32} `,
      Buffer.alloc(31, 1).toString('base64'),
      'x'.repeat(64),
    ],
  },
  WEBHOOK_PROXY_URL: {
    good: ['http://proxy.internal:3128', 'https://user:p%40ss@proxy.internal/'],
    bad: ['proxy.internal:3128', 'socks5://proxy:1080', 'http://proxy/path', 'http://p%zz:x@proxy'],
  },
  BROADCAST_ALLOWED_NETWORKS: {
    good: ['10.0.0.0/8', '0.0.0.0/0'],
    bad: ['10.0.0.1', '::ffff:10.0.0.0/104'],
  },
  WEBHOOK_ALLOWED_NETWORKS: {
    good: ['10.0.0.0/8', '10.0.0.0/8,fd00::/8', '0.0.0.0/0', '127.0.0.1/32'],
    bad: [
      ...['10.0.0.1', '10.0.0.0/33', '10.0.0.0/8, fd00::/8', 'private', '10.0.0.0/8,'],
      ...['::ffff:10.0.0.0/104', '0:0:0:0:0:ffff:a00:0/104'],
    ],
  },
  MAX_WEBHOOKS: { good: ['1', '100000'], bad: ['0', '100001', 'many'] },
  MAX_WEBHOOKS_PER_KEY: { good: ['1', '100000'], bad: ['0', '100001'] },
  MAX_PLANS_PER_KEY: { good: ['1', '10000'], bad: ['0', '10001'] },
  MAX_VOCABULARIES_PER_KEY: { good: ['1', '1000000'], bad: ['0', '1000001'] },
  MAX_BLOCKS_PER_KEY: { good: ['1', '1000000'], bad: ['0', '1000001'] },
  EVENT_RETENTION: { good: ['1', '3650'], bad: ['0', '3651', '1d'] },
  SESSION_RETENTION: { good: ['1', '3650'], bad: ['0', '3651'] },
  DELIVERY_RETENTION: { good: ['1', '3650'], bad: ['0', '3651'] },
  USAGE_RETENTION: { good: ['1', '3650'], bad: ['0', '3651'] },
  AUDIT_RETENTION: { good: ['1', '3650'], bad: ['0', '3651'] },
  RECORDING_RETENTION: { good: ['1', '3650'], bad: ['0', '3651'] },
  TRANSCRIPT_RETENTION: { good: ['1', '3650'], bad: ['0', '3651'] },
  S3_BUCKET: { good: ['b'], bad: [], beside: { S3_ACCESS_KEY: 'a', S3_SECRET_KEY: 's' } },
  S3_ENDPOINT: { good: ['http://minio:9000', 'https://s3'], bad: [...URL_FAULTS] },
  S3_PUBLIC_ENDPOINT: { good: ['https://files.example.org'], bad: [...URL_FAULTS] },
  RECORDER_OWN_KEYS: { good: ['on', 'off'], bad: ['maybe'] },
  S3_FORCE_PATH_STYLE: { good: ['on', 'off'], bad: ['maybe'] },
  RECORDING_PATH: {
    good: ['{room}/{time}.mp4', '{time}.mp4', 'a/b-c_d=1/{time}-{room}.mp4'],
    bad: [
      '{room}.mp4',
      '{time}',
      '/{time}.mp4',
      '../{time}.mp4',
      'a/../{time}.mp4',
      './{time}.mp4',
      '{room}/{day}/{time}.mp4',
      'a b/{time}.mp4',
      '{time}.webm',
    ],
  },
  STT_ENGINE: {
    good: ['sherpa', 'openai'],
    bad: ['whisper', 'Sherpa'],
    beside: { STT_OPENAI_URL: 'http://speech:8000' },
  },
  STT_MODELS: {
    good: ['en=/models/moonshine', 'en-GB=models/a,it=/models/b c'],
    bad: ['/models/moonshine', 'en=', 'e=/models', 'en=/a,/b', 'en_US=/a'],
  },
  STT_THREADS: { good: ['1', '64'], bad: ['0', '65', '1.5', 'two'] },
  STT_OPENAI_URL: {
    good: ['http://speech:8000', 'https://api.openai.com/v1'],
    bad: [...URL_FAULTS, 'ws://host'],
  },
  STT_OPENAI_KEY: { good: ['sk-1', 'x'.repeat(256)], bad: ['a b', 'x'.repeat(257)] },
  STT_OPENAI_MODEL: { good: ['whisper-1'], bad: [] },
  STT_OPENAI_LANGUAGES: { good: ['en', 'en-US,it,zh-Hant'], bad: ['e', 'en_US', 'en,', 'english language'] },
  STT_LISTEN_TO_RECORDINGS: { good: ['on', 'off'], bad: ['x'] },
  STT_FFMPEG: { good: ['ffmpeg', '/usr/bin/ffmpeg'], bad: [] },
  RATE_LIMIT_API: { good: ['0', '1', '1000000'], bad: ['-1', '1000001', 'off'] },
  RATE_LIMIT_PUBLIC: { good: ['0', '1000000'], bad: ['-1', '1000001'] },
  BODY_LIMIT: { good: ['1024', '104857600'], bad: ['1023', '104857601', '1MiB'] },
  FISCAL_API: { good: ['on', 'off'], bad: ['x'] },
  LOG_LEVEL: { good: ['debug', 'info', 'warn', 'error', 'silent'], bad: ['INFO', 'trace', 'verbose'] },
  METRICS: {
    good: ['off', 'signed', '127.0.0.1:9100', '[::1]:9100', 'localhost:0', '0.0.0.0:65535'],
    bad: ['on', '9100', ':9100', 'localhost:', 'localhost:65536', 'a b:1', 'http://localhost:9100'],
  },
  METRICS_PORT: { good: ['1', '9464', '65535'], bad: ['0', '65536', 'x', '-1'] },
};

const CASES = Object.entries(VALUES).flatMap(([name, { good, bad, beside = {} }]: [string, Values]) => [
  ...good.map((value) => ({ name, value, beside, isGood: true })),
  ...bad.map((value) => ({ name, value, beside, isGood: false })),
]);

describe('a setting', () => {
  it.each(CASES.filter((each) => each.isGood))('$name accepts $value', ({ name, value, beside }) => {
    expect(findFaults({ ...BASE, ...beside, [name]: value })).toEqual([]);
  });

  it.each(CASES.filter((each) => !each.isGood))(
    '$name rejects $value with an error',
    ({ name, value, beside }) => {
      const faults = findFaults({ ...BASE, ...beside, [name]: value });
      expect(faults).toHaveLength(1);
      expect(faults[0]).toContain(name);
      const shown = SETTINGS[name as SettingName].secret
        ? '***'
        : JSON.stringify(value.replace('user:pw', '***'));
      expect(faults[0]).toContain(`${name} is ${shown}, but `);
      expect(faults[0]).toMatch(/must be|only given/);
    },
  );

  it('that is empty counts as unset', () => {
    for (const name of Object.keys(SETTINGS) as SettingName[]) {
      if (name === 'API_KEY' || name === 'API_SECRET')
        expect(findFaults({ ...BASE, [name]: '' })).toHaveLength(1);
      else expect([name, findFaults({ ...BASE, [name]: '' })]).toEqual([name, []]);
    }
  });
});

describe('the settings', () => {
  it('require only API_KEY and API_SECRET', () => {
    expect(findFaults({}).map((fault) => fault.split(' ')[0])).toEqual(['API_KEY', 'API_SECRET']);
    expect(findFaults(BASE)).toEqual([]);
  });

  it('are all checked, and each error is a line', () => {
    const faults = findFaults({ API_SECRET: 'a b', PORT: 'x', LOG_LEVEL: 'y', TOKEN_TTL: '0' });
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
      'API_KEY',
      'API_SECRET',
      'PORT',
      'TOKEN_TTL',
      'LOG_LEVEL',
    ]);
    expect(new ConfigError(faults).message.split('\n')).toHaveLength(5);
  });

  it('that depend on each other are checked together', () => {
    const bucket = { ...BASE, S3_BUCKET: 'b' };
    expect(findFaults(bucket)).toEqual([]);
    expect(findFaults({ ...bucket, S3_ACCESS_KEY: 'a' })[0]).toMatch(/^S3_SECRET_KEY .*S3_ACCESS_KEY/);
    expect(findFaults({ ...bucket, S3_SECRET_KEY: 's' })[0]).toMatch(/^S3_ACCESS_KEY .*S3_SECRET_KEY/);
    expect(findFaults({ ...bucket, S3_SESSION_TOKEN: 't' })[0]).toMatch(/^S3_ACCESS_KEY .*S3_SESSION_TOKEN/);
    expect(findFaults({ ...BASE, DATABASE_URL: 'postgres://h/d' })[0]).toContain('ENCRYPTION_KEY');
    expect(findFaults({ ...BASE, STT_ENGINE: 'openai' })[0]).toMatch(/^STT_OPENAI_URL .*STT_ENGINE/);
    expect(findFaults({ ...BASE, LIVEKIT_URL: 'ws://media:7880' })[0]).toMatch(
      /^LIVEKIT_URL .*LIVEKIT_PUBLIC_URL/,
    );
  });

  it('have all errors reported at once, also contradictions', () => {
    const names = (environment: Environment) => findFaults(environment).map((fault) => fault.split(' ')[0]);
    expect(
      names({ ...BASE, PORT: 'x', LIVEKIT_URL: 'ws://media:7880', S3_BUCKET: 'b', S3_ACCESS_KEY: 'k' }),
    ).toEqual(['PORT', 'LIVEKIT_URL', 'S3_SECRET_KEY']);
    expect(names({ LIVEKIT_PUBLIC_URL: 'ws://media', DATABASE_URL: 'postgres://h/d' })).toEqual([
      'API_KEY',
      'API_SECRET',
      'LIVEKIT_PUBLIC_URL',
      'ENCRYPTION_KEY',
    ]);
  });

  it('have each error reported once', () => {
    expect(
      findFaults({
        ...BASE,
        DATABASE_URL: 'postgres://h/d',
        ENCRYPTION_KEY: 'short',
        LIVEKIT_PUBLIC_URL: 'x',
      }),
    ).toHaveLength(2);
  });

  it('warn of a secret that is shorter than 32 characters, without showing it', () => {
    const warnings = (environment: Environment) => listWarnings(loadConfig({ API_KEY: 'k', ...environment }));
    expect(warnings({ API_SECRET: 'x'.repeat(32) })).toEqual([]);
    expect(warnings({ API_SECRET: 'q'.repeat(31) })).toEqual([
      'API_SECRET has 31 characters; at least 32 are safe: openssl rand -hex 32',
    ]);
    expect(warnings({ API_SECRET: `"${'x'.repeat(32)}"` })).toEqual([
      'API_SECRET is in quotes, which are part of the secret',
      'LIVEKIT_API_SECRET is in quotes, which are part of the secret',
    ]);
    expect(warnings({ API_SECRET: 'x'.repeat(32), API_SECRET_PREVIOUS: 'q' })).toEqual([
      expect.stringMatching(/^API_SECRET_PREVIOUS has 1 /),
    ]);
  });

  const SAFE = {
    API_KEY: 'k',
    API_SECRET: 'x'.repeat(32),
    LIVEKIT_API_SECRET: 'y'.repeat(32),
    LIVEKIT_PUBLIC_URL: 'wss://media.example.org',
  };

  it('warn beyond loopback of one secret for both, and of a short one of the media server', () => {
    const warnings = (environment: Environment) => listWarnings(loadConfig({ ...SAFE, ...environment }));
    const HOST = '0.0.0.0';
    expect(warnings({ HOST })).toEqual([]);
    expect(warnings({ HOST: '127.0.0.1', LIVEKIT_API_SECRET: undefined })).toEqual([]);
    expect(warnings({ HOST, LIVEKIT_API_SECRET: undefined })).toEqual([
      expect.stringContaining('LIVEKIT_API_SECRET is the same as API_SECRET'),
    ]);
    expect(warnings({ HOST, LIVEKIT_API_SECRET: 'short' })).toEqual([
      expect.stringMatching(/^LIVEKIT_API_SECRET has 5 characters/),
    ]);
  });

  it('warn of a sent secret, of public metrics and of networks that contain every address', () => {
    const warnings = (environment: Environment) => listWarnings(loadConfig({ ...SAFE, ...environment }));
    expect(warnings({ AUTH_SINGLE_HEADER: 'on', METRICS: '127.0.0.1:9' })).toEqual([]);
    expect(warnings({ AUTH_SINGLE_HEADER: 'on', HOST: '::' })).toEqual([
      expect.stringContaining('AUTH_SINGLE_HEADER'),
    ]);
    expect(warnings({ METRICS: '0.0.0.0:9' })).toEqual([expect.stringContaining('METRICS is on 0.0.0.0')]);
    expect(warnings({ WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8,0.0.0.0/0,::/0' })).toEqual([
      expect.stringContaining('0.0.0.0/0'),
      expect.stringContaining('::/0'),
    ]);
    expect(warnings({ BROADCAST_ALLOWED_NETWORKS: '10.0.0.0/8,0.0.0.0/0' })).toEqual([
      expect.stringContaining('BROADCAST_ALLOWED_NETWORKS has 0.0.0.0/0'),
    ]);
  });

  it('stop the start with STRICT_SECRETS where a secret is unsafe', () => {
    const strict = { ...SAFE, HOST: '0.0.0.0', STRICT_SECRETS: 'true' };
    expect(findFaults(strict)).toEqual([]);
    expect(findFaults({ ...strict, API_SECRET: 'short' })).toEqual([
      expect.stringMatching(/^API_SECRET has 5 characters/),
    ]);
    expect(findFaults({ ...strict, LIVEKIT_API_SECRET: undefined })).toEqual([
      expect.stringContaining('LIVEKIT_API_SECRET is the same'),
    ]);
  });

  it('never show a secret in an error', () => {
    const secret = 'a secret with spaces';
    for (const [name, setting] of Object.entries(SETTINGS)) {
      if (!setting.secret) continue;
      const faults = findFaults({ ...BASE, [name]: secret });
      expect(faults.join('\n')).not.toContain(secret);
    }
    expect(findFaults({ ...BASE, S3_ENDPOINT: 'http://me:hunter2@minio' }).join()).not.toContain('hunter2');
    expect(findFaults({ ...BASE, LIVEKIT_PUBLIC_URL: 'ws://me:hunter2@media' }).join()).not.toContain(
      'hunter2',
    );
  });

  it('have the documented defaults', () => {
    const config = load({});
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      apiSecrets: ['secret'],
      acceptsSingleHeader: false,
      livekit: {
        url: 'ws://localhost:7880',
        publicUrl: 'ws://localhost:7880',
        apiKey: 'key',
        apiSecret: 'secret',
      },
      trustProxy: false,
      tokenTtlSeconds: 3600,
      maxTokenTtlSeconds: 86_400,
      dataDir: resolve('.rtc'),
      recordingDir: resolve('.rtc/recordings'),
      recordingPath: '{room}/{time}.mp4',
      databaseUrl: undefined,
      bucket: undefined,
      metrics: 'signed',
    });
    expect(config.values).toMatchObject({
      RATE_LIMIT_API: 200,
      RATE_LIMIT_PUBLIC: 50,
      BODY_LIMIT: 1_048_576,
      FISCAL_API: true,
    });
  });

  it('are converted to the configuration of the service', () => {
    expect(load({ API_SECRET_PREVIOUS: 'old' }).apiSecrets).toEqual(['secret', 'old']);
    expect(load({ LIVEKIT_URL: 'https://media.example.org/' }).livekit).toMatchObject({
      url: 'https://media.example.org',
      publicUrl: 'wss://media.example.org',
    });
    expect(load({ LIVEKIT_URL: 'http://localhost:1' }).livekit.publicUrl).toBe('ws://localhost:1');
    expect(load({ TRUST_PROXY: '2' }).trustProxy).toBe(2);
    expect(load({ TRUST_PROXY: '10.0.0.1,::1' }).trustProxy).toEqual(['10.0.0.1', '::1']);
    expect(load({ METRICS: '[::1]:9100' }).metrics).toEqual({ host: '::1', port: 9100 });
    expect(load({ METRICS_PORT: '9464', HOST: '0.0.0.0' }).metrics).toEqual({ host: '0.0.0.0', port: 9464 });
    expect(load({ METRICS_PORT: '9464', METRICS: 'off' }).metrics).toBe('off');
    const mixed = { STT_ENGINE: 'openai', STT_OPENAI_URL: 'http://speech:8000', STT_MODELS: 'en=/models/a' };
    expect(load(mixed).speech).toMatchObject({ engine: 'openai', models: { en: '/models/a' }, threads: 1 });
    expect(load({ STT_MODELS: 'en=/models/a,it=/models/b=c' }).speech).toEqual({
      engine: 'sherpa',
      threads: 1,
      models: { en: '/models/a', it: '/models/b=c' },
    });
    expect(load({ LIVEKIT_API_KEY: 'k', LIVEKIT_API_SECRET: 's' }).livekit).toMatchObject({
      apiKey: 'k',
      apiSecret: 's',
    });
  });

  it('trace nothing unless an endpoint or an exporter is set, and then follow the variables', () => {
    expect(load({}).tracing).toBeUndefined();
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
    expect(load({ ...endpoint, OTEL_SDK_DISABLED: 'true' }).tracing).toBeUndefined();
    expect(load({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }).tracing).toBeUndefined();
    expect(load({ OTEL_TRACES_EXPORTER: 'otlp' }).tracing).toMatchObject({
      serviceName: 'rtc-service',
      resourceAttributes: {},
      sampling: { name: 'parentbased_always_on', ratio: 1 },
      export: { to: 'otlp', url: 'http://localhost:4318/v1/traces', protocol: 'http/protobuf', headers: {} },
    });
    const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'a=b%20c,d=%', OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'd=e' };
    expect(load({ ...endpoint, ...headers, OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }).tracing).toMatchObject({
      export: { url: 'http://collector:4318/v1/traces', headers: { a: 'b c', d: 'e' }, isCompressed: true },
    });
    const own = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces',
      OTEL_RESOURCE_ATTRIBUTES: 'team=rooms',
    };
    expect(load({ ...endpoint, ...own }).tracing).toMatchObject({
      resourceAttributes: { team: 'rooms' },
      export: { url: 'http://traces' },
    });
    expect(findFaults({ ...BASE, ...endpoint, OTEL_BSP_MAX_QUEUE_SIZE: '511' })).toEqual([
      expect.stringContaining('must not be more than OTEL_BSP_MAX_QUEUE_SIZE'),
    ]);
  });

  it('contain the address of the service', () => {
    expect(serviceUrl(load({}), 3000)).toBe('http://127.0.0.1:3000');
    expect(serviceUrl(load({ HOST: '0.0.0.0' }), 8080)).toBe('http://127.0.0.1:8080');
    expect(serviceUrl(load({ HOST: '::1' }), 8080)).toBe('http://[::1]:8080');
    expect(serviceUrl(load({ SERVICE_URL: 'https://rtc.example.org/' }), 1)).toBe('https://rtc.example.org');
  });

  it('contain the path of the service, of which one setting is enough', () => {
    const path = (environment: Environment) => {
      const config = load(environment);
      return [config.basePath, serviceUrl(config, 80), describeConfig(config).BASE_PATH];
    };
    expect(path({})).toEqual(['', 'http://127.0.0.1:80', '']);
    expect(path({ BASE_PATH: '/rtc/' })).toEqual(['/rtc', 'http://127.0.0.1:80/rtc', '/rtc']);
    const expected = ['/rtc', 'https://example.org/rtc', '/rtc'];
    expect(path({ SERVICE_URL: 'https://example.org/rtc/' })).toEqual(expected);
    expect(path({ SERVICE_URL: 'https://example.org', BASE_PATH: '/rtc' })).toEqual(expected);
    expect(path({ SERVICE_URL: 'https://example.org/rtc', BASE_PATH: '/rtc' })).toEqual(expected);
  });

  it('do not contradict each other about the path of the service', () => {
    const other = { SERVICE_URL: 'https://example.org/other' };
    expect(findFaults({ ...BASE, ...other, BASE_PATH: '/rtc' })).toEqual([
      'SERVICE_URL is "https://example.org/other", whose path is not BASE_PATH, which is "/rtc"',
    ]);
    for (const path of ['/a//b', '/v1', '/a%20b']) {
      expect(findFaults({ ...BASE, SERVICE_URL: `https://example.org${path}` })).toEqual([
        expect.stringContaining(
          `SERVICE_URL is "https://example.org${path}", but its path must be a path such as`,
        ),
      ]);
    }
  });

  it('are described with their effective values, secrets masked', () => {
    const described = describeConfig(
      load({ ...WSS, DATABASE_URL: 'postgres://u:hunter2@h/d', ENCRYPTION_KEY: KEY_32 }),
    );
    expect(Object.keys(described)).toEqual(Object.keys(SETTINGS));
    expect(described).toMatchObject({
      API_KEY: 'key',
      API_SECRET: '***',
      API_SECRET_PREVIOUS: '',
      LIVEKIT_API_KEY: 'key',
      LIVEKIT_API_SECRET: '***',
      LIVEKIT_PUBLIC_URL: 'wss://media.example.org',
      DATABASE_URL: '***',
      AUTH_SINGLE_HEADER: 'off',
      SERVICE_URL: 'http://127.0.0.1:3000',
    });
    expect(JSON.stringify(described)).not.toMatch(/hunter2|"secret"/);
  });
});

describe('the .env file', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rtc-env-'));
    await writeFile(
      join(directory, '.env'),
      '# settings\nAPI_KEY=from-file\nexport API_SECRET="quoted # secret"\nPORT=4000\n',
    );
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('is used for variables that the environment does not have', () => {
    expect(readEnvironment({ PORT: '5000' }, directory)).toEqual({
      API_KEY: 'from-file',
      API_SECRET: 'quoted # secret',
      PORT: '5000',
    });
  });

  it('is ignored in production', () => {
    const production = { NODE_ENV: 'production' };
    expect(readEnvironment(production, directory)).toEqual(production);
  });

  it('is optional', () => {
    expect(readEnvironment({ PORT: '1' }, join(directory, 'nowhere'))).toEqual({ PORT: '1' });
  });
});

describe('unknown settings', () => {
  it.each([
    ['S3_FORCE_PATHSTYLE', 'S3_FORCE_PATH_STYLE'],
    ['RECORDING_RETENTON', 'RECORDING_RETENTION'],
    ['LIVEKIT_SECRET', 'LIVEKIT_API_SECRET'],
    ['LIVEKIT_API_SECRETS', 'LIVEKIT_API_SECRET'],
    ['API_SECRET_PREV', 'API_SECRET_PREVIOUS'],
    ['DATABASE_POOLSIZE', 'DATABASE_POOL_SIZE'],
    ['API_SECRET_FILES', 'API_SECRET_FILE'],
    ['WEBHOOK_ALLOWED_NETWORK', 'WEBHOOK_ALLOWED_NETWORKS'],
  ])('are warned of with the nearest name: %s', (name, near) => {
    expect(listUnknownSettings({ [name]: 'a secret' })).toEqual([
      `${name} is no setting, and has no effect; did you mean ${near}?`,
    ]);
  });

  it('are warned of without a name if only ours begin so', () => {
    expect(listUnknownSettings({ S3_KMS_KEY: 'x' })).toEqual(['S3_KMS_KEY is no setting, and has no effect']);
  });

  it('are not those of other programs', () => {
    const names = [
      'PATH',
      'HOME',
      'PORTS',
      'LIVEKIT_CONFIG',
      'REDIS_PORT',
      'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
      'LIVEKIT_URL_PORT_80_TCP_ADDR',
    ];
    const own = ['S3_SERVICE_HOST', 'RTC_URL', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS', 'API_SECRET_FILE', 'HOST'];
    const environment = Object.fromEntries([...names, ...own].map((name) => [name, 'x']));
    expect(listUnknownSettings(environment)).toEqual([]);
  });
});

describe('secrets in files', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rtc-secrets-'));
  });
  afterEach(() => rm(directory, { recursive: true }));
  const fileWith = async (text: string): Promise<string> => {
    const file = join(directory, 'secret');
    await writeFile(file, text);
    return file;
  };

  it.each(Object.entries<Setting<unknown>>(SETTINGS).filter(([, { secret }]) => secret))(
    'set %s without the line feed at their end',
    async (name) => {
      const variables = readEnvironment({ [`${name}_FILE`]: await fileWith('a secret\n') }, directory);
      expect(variables[name]).toBe('a secret');
    },
  );

  it('leave out the byte order mark of an editor', async () => {
    const file = await fileWith('\ufeffa secret\r\n');
    expect(readEnvironment({ API_SECRET_FILE: file }, directory).API_SECRET).toBe('a secret');
  });

  it('are refused when one is not UTF-8', async () => {
    const file = join(directory, 'latin');
    await writeFile(file, Buffer.from('perchè', 'latin1'));
    const fault = `API_SECRET_FILE is ${JSON.stringify(file)}, which is not UTF-8`;
    expect(() => readEnvironment({ API_SECRET_FILE: file }, directory)).toThrow(new ConfigError([fault]));
  });

  it('are allowed only for secrets', async () => {
    expect(readEnvironment({ HOST_FILE: await fileWith('0.0.0.0') }, directory).HOST).toBeUndefined();
  });

  it.each([
    [
      'is not there',
      { API_SECRET_FILE: '/nowhere/secret' },
      'API_SECRET_FILE is "/nowhere/secret", which cannot be read (ENOENT)',
    ],
    ['is a folder', { API_SECRET_FILE: '/' }, 'API_SECRET_FILE is "/", which cannot be read (EISDIR)'],
    ['is empty', { API_SECRET_FILE: '/dev/null' }, 'API_SECRET_FILE is "/dev/null", which is empty'],
    [
      'is named beside the secret itself',
      { API_SECRET_FILE: '/dev/null', API_SECRET: 'x' },
      'API_SECRET_FILE and API_SECRET are both set; remove one of them',
    ],
  ])('are refused when one %s', (_title, environment, fault) => {
    expect(() => readEnvironment(environment, directory)).toThrow(new ConfigError([fault]));
  });
});
