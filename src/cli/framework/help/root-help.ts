import { wrapWords } from '../../terminal/wrap-text.ts';
import type { CommandGroup, HelpSection } from '../command-group.ts';
import type { HelpOptions } from './layout.ts';

const SECTIONS: readonly HelpSection[] = [
  'Rooms',
  'Service',
  'Italian fiscal codes, offline',
  'Settings and help',
];

/** Returns `rtc --help`, from the registry alone, without loading any command. */
export function rootHelp(registry: readonly CommandGroup[], { hasColours, width }: HelpOptions): string {
  const bold = (text: string): string => (hasColours ? `\u001b[1m${text}\u001b[22m` : text);
  const sections = SECTIONS.map((section) => {
    const lines = registry.filter((group) => group.section === section).map((group) => line(group, width));
    return `${bold(`${section}:`)}\n${lines.join('\n')}`;
  });
  return `Operate video rooms on LiveKit: people, recordings, transcripts, webhooks.

${bold('Usage:')} rtc <noun> <verb> [arguments] [options]

${sections.join('\n\n')}

${bold('Start here:')}
  $ rtc profile add prod            # where the service is, and its key
  $ rtc rooms create demo
  $ rtc tokens create --room demo --identity ada --role host
  $ rtc rooms list

${bold('Options:')}
  -h, --help      of rtc, a noun or a command: rtc rooms create --help
  -V, --version   version of rtc

More: rtc help exit-codes | environment | output
`;
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
