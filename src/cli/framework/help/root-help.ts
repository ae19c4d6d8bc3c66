import { wrapWords } from '../../terminal/wrap-text.ts';
import type { Group, NounEntry } from '../command-group.ts';
import type { ProgramOptions } from '../program.ts';

const GROUPS: readonly Group[] = ['Rooms', 'Service', 'Italian fiscal codes, offline', 'Settings and help'];

/** `rtc --help`, from the catalogue alone: no command is loaded for it. */
export function rootHelp(catalogue: readonly NounEntry[], { hasColours, width }: ProgramOptions): string {
  const bold = (text: string): string => (hasColours ? `\u001b[1m${text}\u001b[22m` : text);
  const groups = GROUPS.map((group) => {
    const lines = catalogue.filter((entry) => entry.group === group).map((entry) => line(entry, width));
    return `${bold(`${group}:`)}\n${lines.join('\n')}`;
  });
  return `Operate the rooms of a real-time room service: people, recordings, streams.

${bold('Usage:')} rtc <noun> <verb> [arguments] [options]

${groups.join('\n\n')}

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

/** Wide enough for most nouns with their verbs; what is longer has its summary on a line of its own. */
const TITLE_WIDTH = 36;

function line(entry: NounEntry, width: number): string {
  const name = title(entry, width);
  const start = TITLE_WIDTH + 2;
  const summary = wrapWords(entry.summary, { width, start, indent: start });
  return name.length < TITLE_WIDTH
    ? `  ${name.padEnd(TITLE_WIDTH)}${summary}`
    : `  ${name}\n${' '.repeat(start)}${summary}`;
}

/** Broken between verbs where it does not fit. */
function title({ noun, verbs }: NounEntry, width: number): string {
  if (verbs.length === 0) return noun;
  const wrapping = { width, start: 2, indent: noun.length + 3 };
  return wrapWords(`${noun} ${verbs.join('| ')}`, wrapping).replaceAll('| ', '|');
}
