import manifest from '../../../package.json' with { type: 'json' };
import { type Command, defineCommand } from '../framework/command.ts';
import { text } from '../terminal/result.ts';

const version = defineCommand({
  noun: 'version',
  verb: '',
  summary: 'Print the version of rtc and of its Node',
  needs: 'nothing',
  arguments: {},
  options: {},
  examples: [
    { line: 'rtc version', does: 'For people' },
    { line: 'rtc version --json version', does: 'For scripts' },
  ],
  async run(context) {
    const answer = { version: manifest.version, ...context.io.runtime };
    return text(`rtc ${answer.version} (Node ${answer.node}, ${answer.platform}-${answer.arch})`, {
      answer,
      fields: Object.keys(answer),
    });
  },
});

export const commands: readonly Command[] = [version];
