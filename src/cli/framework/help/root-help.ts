import { wrapWords } from '../../terminal/wrap-text.ts';
import type { CommandGroup } from '../parameters.ts';
import type { HelpOptions } from './layout.ts';

/** The content of `rtc --help`, in this order: it fits a terminal of 24 lines. */
const CORE = [
  'dev',
  'rooms',
  'participants',
  'tokens',
  'recordings',
  'transcription',
  'webhooks',
  'events',
  'explain',
  'serve',
  'doctor',
  'console',
  'cf',
];

const WHAT_IT_IS = 'Operate video rooms on LiveKit: people, recordings, transcripts, webhooks.';
const USAGE = 'rtc <noun> <verb> [arguments] [options]';

/** Returns `rtc --help`, from the registry alone, without loading any command. */
export function rootHelp(registry: readonly CommandGroup[], { hasColours, width }: HelpOptions): string {
  const bold = chooseBold({ hasColours });
  const lines = CORE.flatMap((noun) => registry.find((group) => group.noun === noun) ?? []).map(
    ({ noun, summary }) => `  ${noun.padEnd(16)}${wrapWords(summary, { width, start: 18, indent: 18 })}`,
  );
  return `${WHAT_IT_IS}

${bold('Usage:')} ${USAGE}

${lines.join('\n')}

${bold('Start here:')}
  $ rtc dev                    # everything on this machine, to try it
  $ rtc profile add prod       # or where your service is, and its key

${bold('More:')} rtc help all | rtc rooms --help | rtc help exit-codes|environment|output
`;
}

/** Returns `rtc help all`: every noun with its verbs. */
export function fullHelp(registry: readonly CommandGroup[], { hasColours, width }: HelpOptions): string {
  const bold = chooseBold({ hasColours });
  const sections = [...new Set(registry.map(({ section }) => section))].map((section) => {
    const lines = registry.filter((group) => group.section === section).map((group) => line(group, width));
    return `${bold(`${section}:`)}\n${lines.join('\n')}`;
  });
  return `${WHAT_IT_IS}

${bold('Usage:')} ${USAGE}

${sections.join('\n\n')}

${bold('Options:')}
  -h, --help      of rtc, a noun or a command: rtc rooms create --help
  -V, --version   version of rtc

${bold('More:')} rtc help exit-codes | environment | output | recorder
`;
}

function chooseBold({ hasColours }: Pick<HelpOptions, 'hasColours'>): (text: string) => string {
  return (text) => (hasColours ? `\u001b[1m${text}\u001b[22m` : text);
}

/** Wide enough for most nouns with their verbs; longer ones have their summary on a line of its own. */
const TITLE_WIDTH = 36;

function line(group: CommandGroup, width: number): string {
  const name = title(group, width);
  const start = TITLE_WIDTH + 2;
  const summary = wrapWords(group.summary, { width, start, indent: start });
  return name.length < TITLE_WIDTH
    ? `  ${name.padEnd(TITLE_WIDTH)}${summary}`
    : `  ${name}\n${' '.repeat(start)}${summary}`;
}

/** Broken between verbs if it does not fit. */
function title({ noun, verbs }: CommandGroup, width: number): string {
  if (verbs.length === 0) return noun;
  const wrapping = { width, start: 2, indent: noun.length + 3 };
  return wrapWords(`${noun} ${verbs.join('| ')}`, wrapping).replaceAll('| ', '|');
}
