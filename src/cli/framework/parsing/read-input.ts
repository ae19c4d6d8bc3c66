import { bilingualError, CliError, errorOfParameter } from '../../errors/cli-error.ts';
import type { Io } from '../../terminal/io.ts';
import { LEADING_OPTIONS } from '../common-options.ts';
import type { Context } from '../context.ts';
import type { Candidate } from '../lists/listed.ts';
import type { CommandGroup, Parameter, Parameters, Picked } from '../parameters.ts';
import type { Prompter, SearchChoice } from '../prompts.ts';
import type { Invocation } from './program.ts';

/** Reads and checks the input of a command. A missing value is asked for on a terminal, and a usage error elsewhere. */
export async function readInput(
  context: Context,
  invocation: Invocation,
): Promise<Readonly<Record<string, unknown>>> {
  const { io, prompter } = context;
  const parameters: Parameters = { ...invocation.command.arguments, ...invocation.command.options };
  const input: Record<string, unknown> = {};
  refuseMissing(parameters, invocation, prompter);
  refuseSecondReader(parameters, invocation);
  const ask = (parameter: Parameter<unknown>): Promise<string> => {
    // Arguments come first, so that the first one has been read.
    const [owner] = Object.keys(invocation.command.arguments);
    return question(context, parameter, owner === undefined ? undefined : input[owner]);
  };
  for (const [name, parameter] of Object.entries(parameters)) {
    const word = invocation.words[name];
    if (parameter.isList) {
      input[name] = await readList(name, parameter, { word, ask });
    } else if (parameter.parse === undefined) {
      input[name] = word === true;
    } else if (typeof word === 'string') {
      input[name] = checked(
        formatLabel(name, parameter),
        parameter.parse,
        await readSource(io, parameter, word),
      );
    } else if (parameter.isRequired) {
      input[name] = checked(formatLabel(name, parameter), parameter.parse, await ask(parameter));
    }
  }
  return input;
}

/** Reports all missing values in one message, and not one after the other. */
function refuseMissing(parameters: Parameters, invocation: Invocation, prompter: Prompter): void {
  const missing: string[] = [];
  for (const [name, parameter] of Object.entries(parameters)) {
    const word = invocation.words[name];
    const isMissing = word === undefined || (Array.isArray(word) && word.length === 0);
    if (parameter.isRequired && isMissing) missing.push(formatLabel(name, parameter));
  }
  if (missing.length === 0 || prompter.isInteractive) return;
  const names = missing.join(', ');
  throw bilingualError([`missing ${names}`], [`${missing.length === 1 ? 'manca' : 'mancano'} ${names}`]);
}

/** The second reader would find nothing, and report it as empty. */
function refuseSecondReader(parameters: Parameters, { words, common }: Invocation): void {
  const readers: string[] = [];
  for (const [name, parameter] of Object.entries(parameters)) {
    if (parameter.source !== 'typed' && words[name] === '-') readers.push(formatLabel(name, parameter));
  }
  if (common.apiSecretFile === '-') readers.push('--api-secret-file');
  if (readers.length < 2) return;
  throw bilingualError(
    [`${readers.join(' and ')} cannot both read stdin`, 'give one of them in another way'],
    [`${readers.join(' e ')} non possono leggere entrambi da stdin`, 'indicarne uno in un altro modo'],
  );
}

async function readList(
  name: string,
  parameter: Parameter<unknown>,
  { word, ask }: { readonly word: unknown; readonly ask: (parameter: Parameter<unknown>) => Promise<string> },
): Promise<readonly string[]> {
  const words = Array.isArray(word) ? (word as string[]) : [];
  const given = words.length === 0 && parameter.isRequired ? [await ask(parameter)] : words;
  for (const each of given) checked(formatLabel(name, parameter), parameter.checkEach, each);
  return given;
}

/** A single line end comes from the editor or from echo, and is not part of a name or a token. A file is read unchanged. */
async function readSource(io: Io, { source }: Parameter<unknown>, word: string): Promise<string> {
  if (source === 'typed') return word;
  // Loaded on use, because node:fs/promises takes longer to load than an offline command to run.
  const { readSourceText, readStdin } = await import('../../terminal/source-text.ts');
  if (source === 'typed-or-file') return readSourceText(io, word);
  return word === '-' ? (await readStdin(io)).replace(/\r?\n$/, '') : word;
}

/** An error is reported with the parameter: `--port "x" is not a whole number`, `ROOM must not be empty`. */
export function checked(
  label: string,
  parse: ((value: string) => unknown) | undefined,
  value: string,
): unknown {
  try {
    return parse?.(value);
  } catch (error) {
    if (error instanceof CliError) throw errorOfParameter(label, error);
    throw error;
  }
}

async function question(context: Context, parameter: Parameter<unknown>, owner: unknown): Promise<string> {
  const { prompter } = context;
  const message = `${sentence(parameter.description)}:`;
  if (parameter.picks !== undefined) {
    const candidates = await listCandidates(context, parameter.picks, typeof owner === 'string' ? owner : '');
    return prompter.pick(message, candidates);
  }
  if (parameter.choices !== undefined) return prompter.choose(message, parameter.choices);
  const { parse } = parameter.isList ? { parse: parameter.checkEach } : parameter;
  return prompter.text(message, (typed) => validationMessage(parse, typed));
}

/** @throws CliError (not found) when there is nothing to choose from */
async function listCandidates(
  context: Context,
  kind: Picked,
  owner: string,
): Promise<readonly SearchChoice[]> {
  const { listCandidates, noCandidate } = await import('../lists/listed.ts');
  const { io } = context;
  const request = async () => ({
    client: await context.readOnlyClient(),
    signal: io.signal,
    nowMs: io.clock(),
    owner,
  });
  const candidates =
    kind === 'profiles' ? await profileCandidates(io) : await listCandidates(kind, await request());
  if (candidates.length === 0) throw noCandidate(kind);
  return candidates.map(({ value, description }) => ({
    value,
    name: description === '' ? value : `${value}  ${description}`,
  }));
}

/** Returns why the typed text is invalid; undefined when it is valid. */
export function validationMessage(
  parse: ((value: string) => unknown) | undefined,
  typed: string,
): string | undefined {
  try {
    parse?.(typed);
    return undefined;
  } catch (error) {
    if (error instanceof CliError) return sentence(error.message);
    throw error;
  }
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Lists the profiles of this machine, with their addresses. */
export async function profileCandidates(io: Io): Promise<readonly Candidate[]> {
  const { readProfiles } = await import('../../connection/profiles.ts');
  const { profiles } = await readProfiles(io);
  return Object.entries(profiles).map(([value, { url }]) => ({ value, description: url }));
}

/** Returns `--role` for an option, `ROOM` for an argument, for messages. */
function formatLabel(name: string, parameter: Parameter<unknown>): string {
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

/**
 * Splits `rtc --profile dev rooms list`, which means `rtc rooms list --profile dev`, into the noun, the words after it,
 * those before it, and the option, if any, after which the words ended.
 */
export function splitLeadingOptions(argv: readonly string[]): {
  readonly noun: string | undefined;
  readonly rest: readonly string[];
  readonly leading: readonly string[];
  readonly lacksValue: string | undefined;
} {
  let at = 0;
  while (at < argv.length) {
    const word = argv[at] ?? '';
    const [name = ''] = word.split('=', 1);
    const takesValue = Object.hasOwn(LEADING_OPTIONS, name) ? LEADING_OPTIONS[name] : undefined;
    if (takesValue === undefined) break;
    at += takesValue && !word.includes('=') ? 2 : 1;
  }
  const lacksValue = at > argv.length ? argv.at(-1) : undefined;
  return { noun: argv[at], rest: argv.slice(at + 1), leading: argv.slice(0, at), lacksValue };
}

/**
 * Returns the words after a noun with the options that preceded it: after the verb, like those between the two, but before
 * its own words, whose `--` may end the options.
 */
export function withLeadingOptions(
  { verbs }: CommandGroup,
  rest: readonly string[],
  leading: readonly string[],
): readonly string[] {
  const { noun: verb, rest: own, leading: between, lacksValue } = splitLeadingOptions(rest);
  const isVerb = verbs.length > 0 && verb !== undefined && !verb.startsWith('-') && lacksValue === undefined;
  return isVerb ? [verb, ...leading, ...between, ...own] : [...leading, ...rest];
}
