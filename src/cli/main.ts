import { EXIT, SEE_ROOT_HELP, usageError } from './errors/cli-error.ts';
import { didYouMean } from './errors/did-you-mean.ts';
import { rootHelp } from './framework/help/root-help.ts';
import { splitLeadingOptions, withLeadingOptions } from './framework/parsing/read-input.ts';
import { runCommand } from './framework/run-command.ts';
import { findGroup, REGISTRY } from './registry.ts';
import { helpWidth, type Io } from './terminal/io.ts';
import { colourLevel } from './terminal/terminal.ts';

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
  if (streamError.code === 'EPIPE') return EXIT.success;
  const { reportError } = await import('./framework/report-error.ts');
  return reportError(io, { error: streamError, argv });
}

/** An error of the last write is an event of a later turn. */
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
    const { complete } = await import('./framework/completion/complete.ts');
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
 * A reader that closes its pipe (`rtc rooms list | head -1`) is no error: the command is stopped and the exit code is 0.
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
