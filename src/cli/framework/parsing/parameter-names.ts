import type { Parameter } from '../parameters.ts';

/** Returns `--role` for an option, `ROOM` for an argument, for messages. */
export function formatLabel(name: string, parameter: Parameter<unknown>): string {
  return parameter.flags === undefined ? kebab(name).toUpperCase() : longFlag(parameter);
}

/** Returns `--metadata` for `-m, --metadata <text>`. */
function longFlag(parameter: Parameter<unknown>): string {
  const names = flagNames(parameter);
  return names.find((name) => name.startsWith('--')) ?? names[0] ?? '';
}

/** Returns `-m` and `--metadata` for `-m, --metadata <text>`. */
export function flagNames({ flags = '' }: Parameter<unknown>): readonly string[] {
  return flags.split(/[ ,]+/).filter((word) => word.startsWith('-'));
}

/** Returns `<room>`, `[delivery]`, `<names...>` for a usage line. */
export function argumentTerm(name: string, { isList, isRequired }: Parameter<unknown>): string {
  const word = `${kebab(name)}${isList ? '...' : ''}`;
  return isRequired ? `<${word}>` : `[${word}]`;
}

/** Converts `trackSid` to `track-sid`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
