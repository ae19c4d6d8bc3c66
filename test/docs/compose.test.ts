import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/server/app/config/config.ts';
// Redis is installed for whoever imports this.
import '../support/parts/redis.ts';
import { freePort } from '../support/parts/run-part.ts';

const ROOT = join(import.meta.dirname, '../..');

type Container = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly logging?: { readonly options?: Readonly<Record<string, string>> };
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly restart?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly string[];
};
type ComposeFile = { readonly services: Readonly<Record<string, Container>> };

/** The `.env` of docs/install.md, with a recognisable value in place of each random one. */
const VARIABLES: Readonly<Record<string, string>> = {
  API_KEY: 'key-of-the-api',
  API_SECRET: 'secret-of-the-api'.padEnd(64, '0'),
  LIVEKIT_API_KEY: 'key-of-livekit',
  LIVEKIT_API_SECRET: 'secret-of-livekit'.padEnd(64, '0'),
  EGRESS_API_SECRET: 'secret-of-egress'.padEnd(64, '0'),
  INGRESS_API_SECRET: 'secret-of-ingress'.padEnd(64, '0'),
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  POSTGRES_PASSWORD: 'password-of-postgres',
  REDIS_PASSWORD: 'password-of-redis',
  GRAFANA_PASSWORD: 'password-of-grafana',
};

/** Returns compose.yaml as Compose reads it, with `${NAME}`, `${NAME:-default}` and `${NAME:?message}` replaced. */
function composeFile(variables: Readonly<Record<string, string>>): ComposeFile {
  const text = readFileSync(join(ROOT, 'compose.yaml'), 'utf8').replace(/^\s*#.*$/gm, '');
  const interpolated = text.replace(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_match, name: string, kind: string | undefined, rest: string) => {
      const value = variables[name] ?? (kind === '-' ? rest : undefined);
      if (value === undefined) throw new Error(`${name} is not set: ${rest}`);
      return value;
    },
  );
  return parse(interpolated, { merge: true });
}

const makeEnvironment = (name: string, variables = VARIABLES): Readonly<Record<string, string>> =>
  composeFile(variables).services[name]?.environment ?? {};

/** Resolves when the process has written the text to its standard output. */
async function waitForText({ stdout }: ChildProcess, text: string): Promise<void> {
  let seen = '';
  for await (const chunk of stdout ?? []) {
    seen += String(chunk);
    if (seen.includes(text)) return;
  }
  throw new Error(`The process ended: ${seen}`);
}

type Entry = readonly [name: string, container: Container];

function containers(isMeant: (container: Container, name: string) => boolean = () => true): readonly Entry[] {
  return Object.entries(composeFile(VARIABLES).services).filter(([name, container]) =>
    isMeant(container, name),
  );
}

/** Other containers end after they have done their work. */
const runsOn = ({ restart }: Container): boolean => restart !== undefined;

describe('compose.yaml', () => {
  it.each([
    ['livekit', ['LIVEKIT_API_KEY', 'LIVEKIT_API_SECRET', 'EGRESS_API_SECRET', 'INGRESS_API_SECRET']],
    ['egress', ['EGRESS_API_SECRET']],
    ['ingress', ['INGRESS_API_SECRET']],
  ])('gives %s of all keys and secrets only its own', (name, own) => {
    const environment = JSON.stringify(makeEnvironment(name));
    const given = Object.entries(VARIABLES).filter(
      ([variable, value]) => variable.includes('_API_') && environment.includes(value),
    );
    expect(given.map(([variable]) => variable)).toEqual(own);
    expect(environment).not.toContain(VARIABLES.API_SECRET);
    expect(environment).not.toContain(VARIABLES.API_KEY);
  });

  it.each(['egress', 'ingress'])('gives %s a pair that the media server knows', (name) => {
    const { LIVEKIT_CONFIG = '' } = makeEnvironment('livekit');
    const worker = parse(makeEnvironment(name)[`${name.toUpperCase()}_CONFIG_BODY`] ?? '');
    expect(parse(LIVEKIT_CONFIG).keys).toMatchObject({ [worker.api_key]: worker.api_secret });
  });

  it.each(['service', 'stt-live', 'stt-post'])('starts %s with both pairs', (name) => {
    expect(loadConfig(makeEnvironment(name))).toMatchObject({
      apiKey: VARIABLES.API_KEY,
      livekit: { apiKey: VARIABLES.LIVEKIT_API_KEY, apiSecret: VARIABLES.LIVEKIT_API_SECRET },
    });
  });

  it.each([
    ['one secret for both', { LIVEKIT_API_SECRET: VARIABLES.API_SECRET ?? '' }],
    ['a short secret', { API_SECRET: 'short' }],
  ])('stops the service with %s', (_title, variables) => {
    const environment = makeEnvironment('service', { ...VARIABLES, ...variables });
    expect(() => loadConfig(environment)).toThrow(/API_SECRET/);
  });

  it.each(Object.keys(VARIABLES))(
    'has no default for %s, and reports it by name when it is missing',
    (name) => {
      const others = Object.fromEntries(Object.entries(VARIABLES).filter(([each]) => each !== name));
      expect(() => composeFile(others)).toThrow(`${name} is not set`);
    },
  );

  it('has no other password, and none in the arguments of a program', () => {
    const text = readFileSync(join(ROOT, 'compose.yaml'), 'utf8');
    const variables = [...text.matchAll(/\$\{(\w*(?:PASSWORD|SECRET|KEY)):?-/g)].map(([, name]) => name);
    expect(variables).toEqual([]);
    for (const [, { command = [] }] of containers()) {
      for (const secret of Object.values(VARIABLES)) expect(JSON.stringify(command)).not.toContain(secret);
    }
  });

  it.each(['livekit', 'egress', 'ingress', 'service', 'redis'])('gives %s the password of Redis', (name) => {
    expect(JSON.stringify(makeEnvironment(name))).toContain(VARIABLES.REDIS_PASSWORD);
  });

  it('starts a Redis that refuses callers without its password', async () => {
    const { command = [], environment = {} } = composeFile(VARIABLES).services.redis ?? {};
    // Compose makes one dollar sign of two.
    const [program = '', ...args] = command.map((word) => word.replaceAll('$$', '$'));
    const folder = await mkdtemp(join(tmpdir(), 'rtc-compose-'));
    const port = await freePort();
    const script = args.map((word) =>
      word.replace('redis-server -', `redis-server - --port ${port} --dir ${folder}`),
    );
    const redis = spawn(program, script, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await waitForText(redis, 'Ready to accept connections');
      const ping = (env: NodeJS.ProcessEnv): string =>
        execFileSync('redis-cli', ['-p', String(port), 'ping'], {
          env: { PATH: process.env.PATH, ...env },
          encoding: 'utf8',
        });
      expect(ping({})).toContain('NOAUTH');
      expect(ping(environment)).toBe('PONG\n');
    } finally {
      redis.kill();
      await once(redis, 'exit');
      await rm(folder, { recursive: true });
    }
  });

  it('needs only the variables that its page sets', () => {
    const page = readFileSync(join(ROOT, 'docs/install.md'), 'utf8');
    const [, file = ''] = /<<EOF\n([\s\S]*?)\nEOF/.exec(page) ?? [];
    const set = [...file.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(set).toEqual(Object.keys(VARIABLES));
  });

  it.each(containers())('gives %s no root privileges', (name, container) => {
    expect(container).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(container.cap_add).toEqual(name === 'caddy' ? ['NET_BIND_SERVICE'] : undefined);
    // PulseAudio, Chrome and GStreamer write files into the home folders of their images.
    expect(container.read_only).toBe(['egress', 'ingress'].includes(name) ? undefined : true);
  });

  it.each(containers(({ image }) => image !== undefined))(
    'uses %s in an exact version',
    (_name, { image }) => {
      expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?$/);
    },
  );

  it.each(containers(runsOn))('limits %s, and rotates its logs', (_name, container) => {
    expect(container).toMatchObject({
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      pids_limit: expect.any(Number),
      logging: { options: { 'max-size': '10m', 'max-file': '5' } },
      // A core file would contain secrets.
      ulimits: { core: 0 },
    });
  });

  // A speech worker has no port, so it is healthy while its process runs.
  it.each(containers((container, name) => runsOn(container) && !name.startsWith('stt-')))(
    'checks the health of %s',
    (_name, { healthcheck }) => {
      expect(healthcheck?.test[0]).toMatch(/^CMD/);
    },
  );

  it.each(containers())('starts %s when its dependencies are healthy', (_name, container) => {
    const conditions = Object.values(container.depends_on ?? {}).map(({ condition }) => condition);
    expect(conditions.filter((condition) => condition === 'service_started')).toEqual([]);
  });

  it.each(containers())('mounts existing files into %s', (_name, { volumes = [] }) => {
    const files = volumes
      .map((volume) => volume.split(':', 1)[0] ?? '')
      .filter((source) => source.startsWith('./'));
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('scrapes the service and the workers by existing names and ports', () => {
    const scraped = readFileSync(join(ROOT, 'deploy/prometheus/prometheus.yml'), 'utf8');
    expect(scraped).toContain(`rtc-service:${makeEnvironment('service').METRICS_PORT}`);
    expect(composeFile(VARIABLES).services.service).toMatchObject({
      networks: { default: { aliases: ['rtc-service'] } },
    });
    for (const worker of ['stt-live', 'stt-post']) {
      expect(scraped).toMatch(
        new RegExp(`names: \\[.*\\b${worker}\\b.*port: ${makeEnvironment(worker).METRICS_PORT} `),
      );
    }
  });
});
