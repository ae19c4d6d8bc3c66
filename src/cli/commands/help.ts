import { ALL, TOPICS } from '../framework/help/command-help.ts';
import { defineCommand, ofNoun, optionalListArgument } from '../framework/parameters.ts';
import { text } from '../terminal/result.ts';

const help = defineCommand({
  summary: 'Show the help of a command or a topic',
  needs: 'nothing',
  arguments: {
    subject: optionalListArgument('a command such as rooms create, or a topic', {
      choices: [ALL, ...Object.keys(TOPICS)],
    }),
  },
  examples: [
    { line: 'rtc help rooms create', does: 'The same as rtc rooms create --help' },
    { line: 'rtc help all', does: 'Every noun with its verbs' },
    { line: 'rtc help exit-codes', does: 'What each exit code means' },
    { line: 'rtc help environment', does: 'Variables that rtc reads' },
    { line: 'rtc help output', does: 'Tables, tab-separated lines and JSON' },
    { line: 'rtc help recorder', does: 'How to start a recorder, and a worker for streams' },
  ],
  run: async (context, { subject }) => text(await context.writeHelp(subject)),
});

export const commands = ofNoun('help', [help]);
