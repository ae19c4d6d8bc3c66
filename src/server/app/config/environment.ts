import { isUtf8 } from 'node:buffer';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Setting } from './setting.ts';
import { SETTINGS } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Bad settings, one line each, with the variable, its value (masked if secret) and what is allowed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/**
 * Adds the variables of `.env` in `directory`, except in production. The environment takes precedence. Throws a
 * ConfigError for a NAME_FILE that cannot be read.
 */
export function readEnvironment(environment: Environment, directory: string): Environment {
  const file = join(directory, '.env');
  const isIgnored = environment.NODE_ENV === 'production' || !existsSync(file);
  const variables = isIgnored ? environment : { ...parseEnv(readFileSync(file, 'utf8')), ...environment };
  const faults: string[] = [];
  const complete = readSecretFiles(variables, faults);
  if (faults.length > 0) throw new ConfigError(faults);
  return complete;
}

/** Far longer than any secret or database address. */
const MAX_BYTES = 64 * 1024;

/**
 * Replaces `NAME_FILE` by `NAME` with the content of the file, for every secret setting, as Docker, Kubernetes and systemd
 * provide secrets. A byte order mark and a line feed at the end are not part of the secret. Adds errors, without secrets,
 * to `faults`.
 */
function readSecretFiles(environment: Environment, faults: string[]): Environment {
  const read: Record<string, string> = {};
  for (const [name, setting] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const file = setting.secret ? environment[`${name}_FILE`] : undefined;
    if (file === undefined || file === '') continue;
    if (environment[name] !== undefined && environment[name] !== '') {
      faults.push(`${name}_FILE and ${name} are both set; remove one of them`);
      continue;
    }
    const text = readSecret(`${name}_FILE`, file, faults);
    if (text !== undefined) read[name] = text;
  }
  return { ...environment, ...read };
}

function readSecret(name: string, file: string, faults: string[]): string | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    faults.push(`${name} is ${JSON.stringify(file)}, which cannot be read (${code})`);
    return undefined;
  }
  if (!isUtf8(bytes)) {
    faults.push(`${name} is ${JSON.stringify(file)}, which is not UTF-8`);
    return undefined;
  }
  const text = bytes
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .replace(/\r?\n$/, '');
  if (text === '' || text.length > MAX_BYTES) {
    faults.push(
      `${name} is ${JSON.stringify(file)}, which ${text === '' ? 'is empty' : 'is not a secret: it is too long'}`,
    );
    return undefined;
  }
  return text;
}
