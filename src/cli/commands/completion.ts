import { type Command, defineCommand } from '../framework/command.ts';
import { COMPLETION_SCRIPTS } from '../framework/completion/scripts.ts';
import { argument } from '../framework/parameters.ts';
import { text } from '../terminal/result.ts';

const SHELLS = Object.keys(COMPLETION_SCRIPTS);

const completion = defineCommand({
  noun: 'completion',
  verb: '',
  summary: 'Print the tab completion script of a shell',
  description: 'It completes commands, options, choices, and the names of open rooms and of profiles.',
  needs: 'nothing',
  arguments: { shell: argument('shell', { choices: SHELLS }) },
  options: {},
  examples: [
    { line: 'source <(rtc completion bash)', does: 'bash: put it into ~/.bashrc' },
    { line: 'source <(rtc completion zsh)', does: 'zsh: put it into ~/.zshrc, after compinit' },
    { line: 'rtc completion fish > ~/.config/fish/completions/rtc.fish', does: 'fish' },
    {
      line: 'rtc completion powershell | Out-String | Invoke-Expression',
      does: 'PowerShell: put it into $PROFILE',
    },
  ],
  async run(_context, { shell }) {
    return text(COMPLETION_SCRIPTS[shell] ?? '');
  },
});

export const commands: readonly Command[] = [completion];
