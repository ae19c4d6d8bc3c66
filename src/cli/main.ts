import type { RtcClient } from '../client/client.ts';
import type { CommonFlags, SeenResponses } from './connection/connect.ts';
import type { Settings } from './connection/settings.ts';
import { bilingualError, EXIT, isProgrammingError, SEE_ROOT_HELP, usageError } from './errors/cli-error.ts';
import { didYouMean } from './errors/did-you-mean.ts';
import { CONNECTION_OPTIONS } from './framework/common-options.ts';
import type { Context } from './framework/context.ts';
import { rootHelp } from './framework/help/root-help.ts';
import {
  type Command,
  type CommandGroup,
  commandName,
  type Fields,
  matchesVerb,
} from './framework/parameters.ts';
import type { Invocation, ParseProblem, Word } from './framework/parsing/program.ts';
import {
  checked,
  kebab,
  readInput,
  splitLeadingOptions,
  withLeadingOptions,
} from './framework/parsing/read-input.ts';
import { createPrompter } from './framework/prompts.ts';
import type { ParseFailure } from './framework/report-error.ts';
import { findGroup, REGISTRY } from './registry.ts';
import { helpWidth, type Io } from './terminal/io.ts';
import { checkFields, listFields, printResult } from './terminal/output.ts';
import type { Result } from './terminal/result.ts';
import { colourLevel, type JsonChoice, openTerminal, type Terminal } from './terminal/terminal.ts';
import type { ReaderWatch } from './terminal/watch-reader.ts';

/**
 * Runs `rtc` once.
 * @param argv the words after `rtc`
 * @returns the exit code; the caller ends the process
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const pipe = watchPipes(io);
  const code = await dispatch(argv, pipe.io);
  await flushOutput(io);
  const streamError = pipe.streamError();
  if (streamError === undefined) return code;
  if (streamError.code === 'EPIPE') return code === EXIT.cancelled ? EXIT.success : code;
  const { reportError } = await import('./framework/report-error.ts');
  return reportError(io, { error: streamError, argv });
}

/** Waits until an error of the last write, which is an event of a later turn, has been seen. */
async function flushOutput(io: Io): Promise<void> {
  await new Promise<void>((resolve) => io.stdout.write('', () => setImmediate(resolve)));
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const { noun, rest, leading, lacksValue } = splitLeadingOptions(argv);
  if (lacksValue !== undefined)
    return refuse(io, argv, usageError(`${lacksValue} needs a value`, SEE_ROOT_HELP));
  if (noun === undefined || noun === '--help' || noun === '-h' || (noun === 'help' && rest.length === 0)) {
    const hasColours = colourLevel(io.stdout, { env: io.env, isRefused: argv.includes('--no-color') }) > 0;
    io.stdout.write(rootHelp(REGISTRY, { hasColours, width: helpWidth(io) }));
    return EXIT.success;
  }
  if (noun === '__complete') {
    const { complete } = await import('./commands/completion.ts');
    await complete(REGISTRY, rest, io);
    return EXIT.success;
  }
  const group = findGroup(noun === '--version' || noun === '-V' ? 'version' : noun);
  if (group !== undefined) {
    const words = withLeadingOptions(group, rest, leading);
    return runCommand({ group, argv: words, writeHelp: (subject) => writeHelp(subject, io) }, io);
  }
  return refuse(io, argv, unknownCommand(noun));
}

/** The help command cannot import the registry, because the registry imports it. */
async function writeHelp(words: readonly string[], io: Io): Promise<string> {
  const module = await import('./framework/help/command-help.ts');
  return module.formatHelp(REGISTRY, words, io);
}

async function refuse(io: Io, argv: readonly string[], error: Error): Promise<number> {
  const { reportError } = await import('./framework/report-error.ts');
  return reportError(io, { error, argv });
}

function unknownCommand(noun: string): Error {
  if (noun.startsWith('-')) return usageError(`unknown option '${noun}'`, SEE_ROOT_HELP);
  const nouns = REGISTRY.map((group) => group.noun);
  return usageError(`unknown command '${noun}'${didYouMean(noun, nouns)}`, SEE_ROOT_HELP);
}

/**
 * A reader that closes its pipe (`rtc rooms list | head -1`) is no error: the command is stopped, and its exit code is then 0.
 * Without a listener the error would end the process. A full disk is reported like any other error.
 */
function watchPipes(io: Io): { readonly io: Io; streamError(): NodeJS.ErrnoException | undefined } {
  const closed = new AbortController();
  let streamError: NodeJS.ErrnoException | undefined;
  io.stdout.on('error', (error: NodeJS.ErrnoException) => {
    streamError = error;
    closed.abort();
  });
  io.stderr.on('error', () => {
    // The status lines have no reader, but the result still counts.
  });
  let signal: AbortSignal | undefined;
  return {
    // The prototype is set, because a copy would read the property stdin, which opens it.
    io: Object.create(io, {
      signal: {
        get: () => {
          signal ??= AbortSignal.any([io.signal, closed.signal]);
          return signal;
        },
      },
    }) as Io,
    streamError: () => streamError,
  };
}

/** A noun, the words after it, and the parts of the context from main. */
type CommandCall = {
  readonly group: CommandGroup;
  readonly argv: readonly string[];
  readonly writeHelp: Context['writeHelp'];
};

/** Parses the words after a noun, runs the command that they name, and prints its result. Returns the exit code. */
export async function runCommand(call: CommandCall, io: Io): Promise<number> {
  const { group, argv } = call;
  let command: string | undefined;
  try {
    const parsed = await parseCommand(group, argv);
    if (parsed.kind === 'help') {
      const { layOutHelp } = await import('./framework/help/layout.ts');
      const hasColours = colourLevel(io.stdout, { env: io.env, isRefused: argv.includes('--no-color') }) > 0;
      io.stdout.write(await layOutHelp(group, parsed.command, { width: helpWidth(io), hasColours }));
      return EXIT.success;
    }
    command = commandName(parsed.invocation.command);
    return await runInvocation(parsed.invocation, call, io);
  } catch (error) {
    const { reportError } = await import('./framework/report-error.ts');
    const { inAskedLanguage } = await import('./framework/language.ts');
    return reportError(io, { error: await inAskedLanguage(error, group, argv), argv, command });
  }
}

async function runInvocation(
  invocation: Invocation,
  { argv, writeHelp }: CommandCall,
  io: Io,
): Promise<number> {
  const { common, command } = invocation;
  const json = jsonChoice(common.json);
  const terminal = openTerminal(io, { json, isColourRefused: common.color === false });
  const opened = openContext(io, terminal, {
    command: commandName(command),
    argv,
    flags: commonFlags(common),
    writeHelp: writeHelp,
  });
  try {
    const input = await readInput(opened.context, invocation);
    const fields = typeof command.fields === 'function' ? command.fields(input) : (command.fields ?? []);
    if (fields !== 'of-response') checkFields(json, fields);
    const isStream = command.isStream(input);
    const watch = isStream ? await watchReader(io) : undefined;
    try {
      const result = await command.run(opened.context, input);
      if (isOfAnotherService(opened.context.responses, result, fields))
        throw await notThisService(opened.context);
      await print(terminal, result, fields);
      return result.exitCode ?? EXIT.success;
    } catch (error) {
      // A signal is the normal end of a stream.
      if (io.signal.aborted && isStream) return EXIT.success;
      const isMisread = isProgrammingError(error) && opened.context.responses.unmarked !== undefined;
      throw isMisread ? await notThisService(opened.context) : error;
    } finally {
      watch?.close();
    }
  } finally {
    await opened.close();
  }
}

async function watchReader(io: Io): Promise<ReaderWatch | undefined> {
  const module = await import('./terminal/watch-reader.ts');
  return await module.watchReader(io);
}

/** Returns whether a response without the service's mark lacks the shape that the command expects. */
function isOfAnotherService({ unmarked }: SeenResponses, result: Result, fields: Fields): boolean {
  if (unmarked === undefined) return false;
  // A command whose result is only that it is done expects 204 without content.
  if (result.kind === 'done') return unmarked.status !== 204;
  if (result.kind !== 'record' || fields === 'of-response') return false;
  return !listFields(result.response).some((field) => fields.includes(field));
}

async function notThisService({ responses }: Context): Promise<Error> {
  const module = await import('./connection/connect.ts');
  return module.notThisService(responses);
}

/**
 * Prints the result. If --json names a field that the response lacks, a command that has changed something prints its whole
 * result before the error, because what was made, such as a secret, can perhaps not be read again.
 */
async function print(terminal: Terminal, result: Result, fields: Fields): Promise<void> {
  if (fields !== 'of-response' || !('response' in result)) return printResult(terminal, result);
  try {
    checkFields(terminal.json, listFields(result.response));
  } catch (error) {
    if (result.kind === 'text' && result.isAct)
      await printResult({ ...terminal, json: 'everything' }, result);
    throw error;
  }
  await printResult(terminal, result);
}

function jsonChoice(given: unknown): JsonChoice {
  if (given === undefined || given === false) return undefined;
  if (typeof given !== 'string') return 'everything';
  const fields = given.split(',').map((field) => field.trim());
  if (fields.some((field) => field === '')) {
    throw bilingualError(
      ['--json: a field name is empty', 'such as --json name,numParticipants'],
      ['--json: il nome di un campo è vuoto', 'ad esempio --json name,province'],
    );
  }
  return fields;
}

function requestTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const { flags = '', parse } = CONNECTION_OPTIONS.requestTimeout;
  const seconds = checked(flags.split(' ', 1)[0] ?? '', parse, text);
  return typeof seconds === 'number' ? seconds : undefined;
}

function commonFlags(common: Readonly<Record<string, unknown>>): CommonFlags {
  const readText = (name: string): string | undefined => {
    const value = common[name];
    if (value === '')
      throw bilingualError([`--${kebab(name)} must not be empty`], [`--${kebab(name)} non può essere vuoto`]);
    return typeof value === 'string' ? value : undefined;
  };
  return {
    url: readText('url'),
    apiKey: readText('apiKey'),
    apiSecretFile: readText('apiSecretFile'),
    profile: readText('profile'),
    isDebug: common.debug === true,
    isCurl: common.curl === true,
    requestTimeoutSeconds: requestTimeout(readText('requestTimeout')),
  };
}

type OpenContext = { readonly context: Context; close(): Promise<void> };

/** The command line of a context. */
type Call = Pick<Context, 'command' | 'argv' | 'flags' | 'writeHelp'>;

function openContext(io: Io, terminal: Terminal, call: Call): OpenContext {
  let settings: Promise<Settings> | undefined;
  let client: Promise<RtcClient> | undefined;
  let readOnlyClient: Promise<RtcClient> | undefined;
  const context: Context = {
    io,
    terminal,
    responses: { unmarked: undefined },
    ...call,
    prompter: createPrompter(io),
    settings: () => {
      settings ??= import('./connection/settings.ts').then((module) =>
        module.resolveSettings(io, call.flags),
      );
      return settings;
    },
    client: () => {
      client ??= import('./connection/connect.ts').then((module) => module.connect(context));
      return client;
    },
    readOnlyClient: () => {
      // With --curl the ordinary client prints its first request and does not send it. Lookups need one that sends.
      if (!call.flags.isCurl) return context.client();
      readOnlyClient ??= import('./connection/connect.ts').then((module) => module.connectReadOnly(context));
      return readOnlyClient;
    },
  };
  return {
    context,
    close: async () => {
      for (const opening of [client, readOnlyClient]) {
        // The error of a client that could not be created was reported already.
        const opened = await opening?.catch(() => undefined);
        await opened?.close();
      }
    },
  };
}

type Parsed =
  | { readonly kind: 'invocation'; readonly invocation: Invocation }
  /** The help of the noun, or of one of its commands. */
  | { readonly kind: 'help'; readonly command: Command | undefined };

/**
 * Finds the command that the words after a noun name, and parses the words of that command alone.
 * @throws CliError (usage) for words that no command accepts, with the most similar name
 */
export async function parseCommand(group: CommandGroup, argv: readonly string[]): Promise<Parsed> {
  const { commands } = await group.load();
  const [verb, ...rest] = argv;
  const named = commands.find((each) => matchesVerb(each, verb));
  const command = named ?? commands.find((each) => each.verb === '');
  if (command === undefined) {
    if (argv.length === 0 || argv.some(isHelp)) return { kind: 'help', command };
    throw await toError({ commands, command, argv, problem: undefined });
  }
  const words = named === undefined ? argv : rest;
  const parsed = await parseWords(command, words);
  if ('kind' in parsed) {
    if (parsed.kind !== 'help') throw await toError({ commands, command, argv, problem: parsed });
    return { kind: 'help', command };
  }
  const reinterpreted = reinterpretJsonValue(parsed, words);
  const again = reinterpreted === undefined ? parsed : await parseWords(command, reinterpreted);
  if ('kind' in again) throw await toError({ commands, command, argv, problem: again });
  return { kind: 'invocation', invocation: again };
}

/** Without options there is nothing to parse, and commander takes longer to load than an offline command to run. */
async function parseWords(command: Command, argv: readonly string[]): Promise<Invocation | ParseProblem> {
  if (!argv.some((word) => word.startsWith('-'))) return assignWords(command, argv);
  const { parseOptions } = await import('./framework/parsing/program.ts');
  return parseOptions(command, argv);
}

/** Assigns the words to the arguments in order; a list takes all remaining words. */
function assignWords(command: Command, argv: readonly string[]): Invocation | ParseProblem {
  const parameters = Object.entries(command.arguments);
  const takesAll = parameters.at(-1)?.[1].isList === true;
  if (!takesAll && argv.length > parameters.length) return { kind: 'excess-arguments', count: argv.length };
  const words: Record<string, Word> = {};
  for (const [index, [name, { isList }]] of parameters.entries())
    words[name] = isList ? argv.slice(index) : argv[index];
  return { command, words, common: {} };
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h';
}

async function toError(failure: ParseFailure): Promise<Error> {
  const { parseError } = await import('./framework/report-error.ts');
  return parseError(failure);
}

/**
 * `--json` may be used alone or with fields, so commander reads `get --json demo` as fields. When an argument is missing and
 * the word after --json is no field list, the word was the argument: --json moves to the end of the options.
 */
function reinterpretJsonValue(invocation: Invocation, argv: readonly string[]): string[] | undefined {
  const { json } = invocation.common;
  if (typeof json !== 'string' || json.includes(',')) return undefined;
  const isMissing = Object.entries(invocation.command.arguments).some(
    ([name, parameter]) => parameter.isRequired && isEmpty(invocation.words[name]),
  );
  const at = argv.indexOf('--json');
  if (!isMissing || at === -1) return undefined;
  const others = argv.toSpliced(at, 1);
  // After `--` it would be an argument.
  const end = others.includes('--') ? others.indexOf('--') : others.length;
  return others.toSpliced(end, 0, '--json');
}

function isEmpty(word: Word): boolean {
  return word === undefined || (typeof word === 'object' && word.length === 0);
}
