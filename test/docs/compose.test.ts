import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/server/app/config/config.ts';

const ROOT = join(import.meta.dirname, '../..');

type Container = { readonly environment?: Readonly<Record<string, string>> };
type ComposeFile = { readonly services: Readonly<Record<string, Container>> };

/** The `.env` of docs/compose.md, with a recognisable value for each random one. */
const VARIABLES: Readonly<Record<string, string>> = {
  API_KEY: 'key-of-the-api',
  API_SECRET: 'secret-of-the-api'.padEnd(64, '0'),
  LIVEKIT_API_KEY: 'key-of-livekit',
  LIVEKIT_API_SECRET: 'secret-of-livekit'.padEnd(64, '0'),
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
};

/** compose.yaml as Compose reads it: `${NAME}`, `${NAME:-default}` and `${NAME:?message}`. */
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

const environmentOf = (name: string, variables = VARIABLES): Readonly<Record<string, string>> =>
  composeFile(variables).services[name]?.environment ?? {};

describe('compose.yaml', () => {
  it.each(['livekit', 'egress', 'ingress'])("gives %s the media server's pair, and not our API's", (name) => {
    const environment = JSON.stringify(environmentOf(name));
    expect(environment).toContain(VARIABLES.LIVEKIT_API_KEY);
    expect(environment).toContain(VARIABLES.LIVEKIT_API_SECRET);
    expect(environment).not.toContain(VARIABLES.API_SECRET);
    expect(environment).not.toContain(VARIABLES.API_KEY);
  });

  it.each(['service', 'stt-live', 'stt-post'])('starts %s with both pairs', (name) => {
    expect(loadConfig(environmentOf(name))).toMatchObject({
      apiKey: VARIABLES.API_KEY,
      livekit: { apiKey: VARIABLES.LIVEKIT_API_KEY, apiSecret: VARIABLES.LIVEKIT_API_SECRET },
    });
  });

  it.each([
    ['one secret for both', { LIVEKIT_API_SECRET: VARIABLES.API_SECRET ?? '' }],
    ['a short secret', { API_SECRET: 'short' }],
  ])('stops the service with %s', (_title, variables) => {
    const environment = environmentOf('service', { ...VARIABLES, ...variables });
    expect(() => loadConfig(environment)).toThrow(/API_SECRET/);
  });

  it('names a variable that is missing', () => {
    const { LIVEKIT_API_SECRET: _left, ...others } = VARIABLES;
    expect(() => composeFile(others)).toThrow('LIVEKIT_API_SECRET is not set');
  });

  it('needs the variables that its page sets', () => {
    const page = readFileSync(join(ROOT, 'docs/compose.md'), 'utf8');
    const set = [...page.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(set).toEqual(Object.keys(VARIABLES));
  });
});
