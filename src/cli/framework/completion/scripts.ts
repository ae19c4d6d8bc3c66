/*
 * Each script asks `rtc __complete <words before the cursor> --current=<word under the cursor>`, which answers one
 * candidate a line, `value<tab>description`. Values are names that strangers may have chosen: no script evaluates
 * them, and each quotes them for its shell.
 */

const BASH = `# bash completion of rtc
_rtc() {
  local value rest
  COMPREPLY=()
  while IFS=$'\\t' read -r value rest; do
    COMPREPLY+=("$(printf '%q' "$value")")
  done < <(rtc __complete "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "--current=\${COMP_WORDS[COMP_CWORD]}" 2>/dev/null)
}
complete -o bashdefault -o default -o nosort -F _rtc rtc 2>/dev/null || complete -o bashdefault -o default -F _rtc rtc
`;

const ZSH = `#compdef rtc
_rtc() {
  local value rest
  local -a candidates
  while IFS=$'\\t' read -r value rest; do
    value=\${value//\\\\/\\\\\\\\}
    candidates+=("\${value//:/\\\\:}:$rest")
  done < <(rtc __complete "\${(@)words[2,CURRENT-1]}" "--current=\${words[CURRENT]}" 2>/dev/null)
  if (( \${#candidates} )); then
    _describe -V rtc candidates
  else
    _files
  fi
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
    set -l current (commandline -ct)
    rtc __complete $words[2..-1] "--current=$current" 2>/dev/null
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
