import manifest from '../../../package.json' with { type: 'json' };
import { type Command, defineCommand } from '../framework/command.ts';
import { text } from '../terminal/result.ts';

const version = defineCommand({
  noun: 'version',
  verb: '',
  summary: 'Print the version of rtc and of its Node',
  needs: 'nothing',
  fields: ['version', 'node', 'platform', 'arch'],
  arguments: {},
  options: {},
  examples: [
    { line: 'rtc version', does: 'For people' },
    { line: 'rtc version --json version', does: 'For scripts' },
  ],
  async run(context) {
    const response = { version: manifest.version, ...context.io.runtime };
    return text(`rtc ${response.version} (Node ${response.node}, ${response.platform}-${response.arch})`, {
      response,
    });
  },
});

export const commands: readonly Command[] = [version];
