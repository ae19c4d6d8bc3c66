import type { Parameter } from '../parameters.ts';

/** `--role` for an option, `ROOM` for an argument: how a message names it. */
export function labelOf(name: string, parameter: Parameter<unknown>): string {
  return parameter.flags === undefined ? kebab(name).toUpperCase() : longFlag(parameter);
}

/** `--metadata` of `-m, --metadata <text>`. */
function longFlag(parameter: Parameter<unknown>): string {
  const names = flagNames(parameter);
  return names.find((name) => name.startsWith('--')) ?? names[0] ?? '';
}

/** `-m` and `--metadata` of `-m, --metadata <text>`. */
export function flagNames({ flags = '' }: Parameter<unknown>): readonly string[] {
  return flags.split(/[ ,]+/).filter((word) => word.startsWith('-'));
}

/** `<room>`, `[delivery]`, `<names...>`: how a usage line names an argument. */
export function argumentTerm(name: string, { isList, isRequired }: Parameter<unknown>): string {
  const word = `${kebab(name)}${isList ? '...' : ''}`;
  return isRequired ? `<${word}>` : `[${word}]`;
}

/** `trackSid` as `track-sid`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
