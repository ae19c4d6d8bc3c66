import { argument, type Command, defineCommand } from '../framework/parameters.ts';
import { text } from '../terminal/result.ts';

/*
 * Each script asks `rtc __complete <words before the cursor> --current=<word under the cursor>`, which prints one candidate
 * per line, `value<tab>description`, or `:files` for the names of files. Values may be hostile names: no script evaluates
 * them, and each quotes them for its shell.
 */

const BASH = `# bash completion of rtc
_rtc() {
  local i word glue= current quote= prefix= value rest
  local -a words=()
  COMPREPLY=()
  # bash splits words at = and :, which are part of options and of names.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((\${#words[@]})) && [[ $glue || $word == [=:]* ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    if [[ $word == *[=:] ]]; then glue=1; else glue=; fi
  done
  ((\${#words[@]})) || return 0
  current=\${words[\${#words[@]}-1]}
  case $current in
    \\'* | \\"*) quote=\${current:0:1} current=\${current:1} ;;
    *) current=\${current//\\\\/} ;;
  esac
  if [[ ! $quote && $current == *[=:]* ]]; then prefix=\${current%"\${current##*[=:]}"}; fi
  while IFS=$'\\t' read -r value rest; do
    if [[ $value == :files ]]; then
      compopt -o default 2>/dev/null
    elif [[ $quote == \\' ]]; then
      [[ $value == *\\'* ]] || COMPREPLY+=("$value")
    elif [[ $quote == \\" ]]; then
      [[ $value == *[\\"\\$\\\`\\\\!]* ]] || COMPREPLY+=("$value")
    elif [[ $value == *[!A-Za-z0-9_.,:=/@%+*-]* ]]; then
      COMPREPLY+=("$(printf '%q' "\${value#"$prefix"}")")
    else
      COMPREPLY+=("\${value#"$prefix"}")
    fi
  done < <(rtc __complete "\${words[@]:0:\${#words[@]}-1}" "--current=$current" 2>/dev/null)
}
complete -o nosort -F _rtc rtc 2>/dev/null || complete -F _rtc rtc
`;

const ZSH = `#compdef rtc
_rtc() {
  # Words come with their quotes; zsh leaves a quote that is still open out of PREFIX.
  local value rest
  local -a candidates
  while IFS=$'\\t' read -r value rest; do
    if [[ $value == :files ]]; then
      _files
      return
    fi
    value=\${value//\\\\/\\\\\\\\}
    candidates+=("\${value//:/\\\\:}\${rest:+:$rest}")
  done < <(rtc __complete "\${(@Q)words[2,CURRENT-1]}" "--current=\${(Q)PREFIX}" 2>/dev/null)
  (( \${#candidates} )) && _describe -V rtc candidates
}
if [[ "\${funcstack[1]}" == _rtc ]]; then
  _rtc "$@"
else
  compdef _rtc rtc
fi
`;

const FISH = `# fish completion of rtc
function __rtc_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    # The word may begin with a quote that is still open; else single characters may be escaped.
    set -l current (string replace -rf '^[\\'"]' '' -- $typed; or string unescape -- $typed)
    for candidate in (rtc __complete $words[2..-1] "--current=$current" 2>/dev/null)
        if string match -q ':files*' -- $candidate
            __fish_complete_path $current
        else
            echo $candidate
        end
    end
end
complete -c rtc -f -k -a '(__rtc_complete)'
`;

const POWERSHELL = `# PowerShell completion of rtc
Register-ArgumentCompleter -Native -CommandName rtc -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  rtc __complete @words "--current=$wordToComplete" 2>$null | ForEach-Object {
    $value, $description = $_ -split "\`t", 2
    if ($value -eq ':files') { return }
    if (-not $description) { $description = $value }
    $quoted = if ($value -match '[^\\w./:@=+-]') { "'" + $value.Replace("'", "''") + "'" } else { $value }
    [System.Management.Automation.CompletionResult]::new($quoted, $value, 'ParameterValue', $description)
  }
}
`;

export const COMPLETION_SCRIPTS: Readonly<Record<string, string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
  powershell: POWERSHELL,
};

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
