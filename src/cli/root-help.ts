import type { Group, NounEntry } from './noun-entry.ts';

const GROUPS: readonly Group[] = ['Rooms', 'Service', 'Italian fiscal codes, offline', 'Settings and help'];

/** `rtc --help`, from the catalogue alone: no command is loaded for it. */
export function rootHelp(catalogue: readonly NounEntry[], hasColours: boolean): string {
  const bold = (text: string): string => (hasColours ? `\u001b[1m${text}\u001b[22m` : text);
  const groups = GROUPS.map((group) => {
    const lines = catalogue.filter((entry) => entry.group === group).map(line);
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
  -h, --help      of rtc, a noun or a command: rtc rooms --help, rtc rooms create --help
  -V, --version   version of rtc

More: rtc help exit-codes | environment | output
`;
}

/** Wide enough for most nouns with their verbs; what is longer has its summary on a line of its own. */
const TITLE_WIDTH = 36;

function line(entry: NounEntry): string {
  const name = title(entry);
  const gap = name.length < TITLE_WIDTH ? '' : `\n${' '.repeat(TITLE_WIDTH + 2)}`;
  return `  ${name.padEnd(gap === '' ? TITLE_WIDTH : 0)}${gap}${entry.summary}`;
}

function title(entry: NounEntry): string {
  return entry.verbs.length === 0 ? entry.noun : `${entry.noun} ${entry.verbs.join('|')}`;
}
