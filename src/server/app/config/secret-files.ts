import { readFileSync } from 'node:fs';
import type { Setting } from './setting.ts';
import { SETTINGS } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Far longer than any secret or database address. */
const MAX_BYTES = 64 * 1024;

/**
 * Replaces `NAME_FILE` by `NAME` with the content of the file, for every secret setting, as Docker, Kubernetes and systemd
 * provide secrets. A line feed at the end is not part of the secret. Adds errors, without secrets, to `faults`.
 */
export function readSecretFiles(environment: Environment, faults: string[]): Environment {
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
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    faults.push(`${name} is ${JSON.stringify(file)}, which cannot be read (${code})`);
    return undefined;
  }
  if (text === '' || text.length > MAX_BYTES) {
    faults.push(
      `${name} is ${JSON.stringify(file)}, which ${text === '' ? 'is empty' : 'is not a secret: it is too long'}`,
    );
    return undefined;
  }
  return text;
}
