import { EXIT, SEE_ROOT_HELP, usageError } from './errors/cli-error.ts';
import { rootHelp } from './framework/help/root-help.ts';
import { splitLeadingOptions, withLeadingOptions } from './framework/leading-options.ts';
import { CATALOGUE, findNoun } from './registry.ts';
import { colourLevel } from './terminal/colours.ts';
import { helpWidth, type Io } from './terminal/io.ts';

/**
 * One run of `rtc`.
 * @param argv the words after `rtc`
 * @returns the exit code; the caller ends the process
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const pipe = watchPipes(io);
  const code = await dispatch(argv, pipe.io);
  await written(io);
  const fault = pipe.fault();
  if (fault === undefined) return code;
  if (fault.code === 'EPIPE') return EXIT.success;
  const { reportFailure } = await import('./framework/report-error.ts');
  return reportFailure(io, { error: fault, argv });
}

/** An error of the last write is an event of a later turn. */
async function written(io: Io): Promise<void> {
  await new Promise<void>((resolve) => io.stdout.write('', () => setImmediate(resolve)));
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const { noun, rest, leading, lacksValue } = splitLeadingOptions(argv);
  if (lacksValue !== undefined)
    return refuse(io, argv, usageError(`${lacksValue} needs a value`, SEE_ROOT_HELP));
  if (noun === undefined || noun === '--help' || noun === '-h' || (noun === 'help' && rest.length === 0)) {
    const hasColours = colourLevel(io.stdout, io.env, argv.includes('--no-color')) > 0;
    io.stdout.write(rootHelp(CATALOGUE, { hasColours, width: helpWidth(io) }));
    return EXIT.success;
  }
  if (noun === '__complete') {
    const { complete } = await import('./framework/completion/complete.ts');
    await complete(CATALOGUE, rest, io);
    return EXIT.success;
  }
  const entry = findNoun(noun === '--version' || noun === '-V' ? 'version' : noun);
  if (entry !== undefined) {
    const { runNoun } = await import('./framework/run-command.ts');
    const words = withLeadingOptions(entry, rest, leading);
    return runNoun({ entry, argv: words, helpOf: (subject) => helpOf(subject, io) }, io);
  }
  return refuse(io, argv, await unknownNoun(noun));
}

/** The help command cannot know the catalogue, which knows it. */
async function helpOf(words: readonly string[], io: Io): Promise<string> {
  const module = await import('./framework/help/command-help.ts');
  return module.helpOf(CATALOGUE, words, io);
}

async function refuse(io: Io, argv: readonly string[], error: Error): Promise<number> {
  const { reportFailure } = await import('./framework/report-error.ts');
  return reportFailure(io, { error, argv });
}

async function unknownNoun(noun: string): Promise<Error> {
  if (noun.startsWith('-')) return usageError(`unknown option '${noun}'`, SEE_ROOT_HELP);
  const { didYouMean } = await import('./errors/did-you-mean.ts');
  const nouns = CATALOGUE.map((entry) => entry.noun);
  return usageError(`unknown command '${noun}'${didYouMean(noun, nouns)}`, SEE_ROOT_HELP);
}

/**
 * A reader that goes away (`rtc rooms list | head -1`) is no failure: the command is stopped and the exit is 0.
 * Without a listener the error would end the process; a full disk is reported as any other failure.
 */
function watchPipes(io: Io): { readonly io: Io; fault(): NodeJS.ErrnoException | undefined } {
  const closed = new AbortController();
  let fault: NodeJS.ErrnoException | undefined;
  io.stdout.on('error', (error: NodeJS.ErrnoException) => {
    fault = error;
    closed.abort();
  });
  io.stderr.on('error', () => {
    // Nobody reads the status lines: the result still counts.
  });
  return {
    // By prototype: a copy would read stdin, and reading it opens it.
    io: Object.create(io, { signal: { value: AbortSignal.any([io.signal, closed.signal]) } }) as Io,
    fault: () => fault,
  };
}
