import { RtcClient } from '../../client/client.ts';
import { createWire } from '../connection/connect.ts';
import { readCredentials, resolveSettings } from '../connection/settings.ts';
import { CONNECTION_OPTIONS } from '../framework/common-options.ts';
import { type Candidate, listCandidates } from '../framework/lists/listed.ts';
import {
  argument,
  type Command,
  type CommandGroup,
  defineCommand,
  matchesVerb,
  ofNoun,
  type Parameter,
  type Picked,
} from '../framework/parameters.ts';
import { commonParameters } from '../framework/parsing/program.ts';
import { flagNames, profileCandidates, splitLeadingOptions } from '../framework/parsing/read-input.ts';
import type { Io } from '../terminal/io.ts';
import { text } from '../terminal/result.ts';
import { escapeForTerminal } from '../terminal/terminal.ts';

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
  summary: 'Print the tab completion script of a shell',
  description: 'It completes commands, options, choices, and the names of open rooms and of profiles.',
  needs: 'nothing',
  arguments: { shell: argument('shell', { choices: SHELLS }) },
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

export const commands = ofNoun('completion', [completion]);

/** The line that makes a shell's script complete the names of files. */
const FILES = ':files';

/** Runs `rtc __complete <words> --current=<word>`: never fails and prints only candidates. */
export async function complete(
  registry: readonly CommandGroup[],
  argv: readonly string[],
  io: Io,
): Promise<void> {
  const current = (argv.at(-1) ?? '').replace(/^--current=/, '');
  const typed = { words: argv.slice(0, -1), current };
  const candidates = await candidatesFor(registry, typed, io).catch(() => []);
  const lines = candidates
    // A name with control characters would be shown as another name than the completed one.
    .filter(
      ({ value }) => (value === FILES || value.startsWith(current)) && escapeForTerminal(value) === value,
    )
    .map(({ value, description }) => `${value}\t${escapeForTerminal(description)}\n`);
  io.stdout.write(lines.join(''));
}

/** The words before the cursor, the one under it, and the value of the command's first argument. */
type Typed = { readonly words: readonly string[]; readonly current: string; readonly owner?: string };

async function candidatesFor(
  registry: readonly CommandGroup[],
  { words, current }: Typed,
  io: Io,
): Promise<readonly Candidate[]> {
  const { noun, rest, leading, lacksValue } = splitLeadingOptions(words);
  if (lacksValue !== undefined) return valuesOfLeading(lacksValue, { words, current }, io);
  if (noun === undefined) {
    return registry.map((group) => ({ value: group.noun, description: group.summary }));
  }
  const group = registry.find((each) => each.noun === noun);
  if (group === undefined) return [];
  const { commands } = await group.load();
  const behind = splitLeadingOptions(rest);
  const verb = commands.find((command) => matchesVerb(command, behind.noun));
  const command = verb ?? commands.find((each) => each.verb === '');
  if (command === undefined && behind.lacksValue !== undefined) {
    return valuesOfLeading(behind.lacksValue, { words, current }, io);
  }
  const isOpen = behind.noun === undefined && behind.lacksValue === undefined;
  const verbs = isOpen ? commands.filter((each) => each.verb !== '').map(asCandidate) : [];
  if (command === undefined) return verbs;
  const line =
    verb === undefined
      ? { given: rest, leading, current }
      : { given: behind.rest, leading: [...leading, ...behind.leading], current };
  return [...verbs, ...(await completeWords(command, line, io))];
}

/** Splits `--role=ho` into `--role` and `ho`. */
function splitValue(word: string): readonly [flag: string, value: string | undefined] {
  const at = word.indexOf('=');
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

/** Completes the value of an option before the verb or the noun. */
async function valuesOfLeading(
  name: string,
  { words, current }: Typed,
  io: Io,
): Promise<readonly Candidate[]> {
  const option = Object.values(CONNECTION_OPTIONS).find((each) => flagNames(each).includes(name));
  return option === undefined ? [] : completeValues(option, { words, current }, io);
}

/** The words of a command, those before its noun, and the one under the cursor. */
type Line = {
  readonly given: readonly string[];
  readonly leading: readonly string[];
  readonly current: string;
};

async function completeWords(
  command: Command,
  { given, leading, current }: Line,
  io: Io,
): Promise<readonly Candidate[]> {
  const words = [...leading, ...given];
  const options = listOptions(command);
  const pending = options.find(
    (option) => takesValue(option) && flagNames(option).includes(given.at(-1) ?? ''),
  );
  if (pending !== undefined && !isOptional(pending)) return completeValues(pending, { words, current }, io);
  if (current.startsWith('-') && !given.includes('--')) {
    const [flag = '', typed] = splitValue(current);
    const assigned = typed === undefined ? undefined : options.find((each) => flagNames(each).includes(flag));
    if (typed === undefined) return options.flatMap(listFlags);
    if (assigned === undefined) return [];
    const values = await completeValues(assigned, { words, current: typed }, io);
    return values.map(({ value, description }) => ({ value: `${flag}=${value}`, description }));
  }
  const operands = readOperands(given, options);
  const parameters = Object.values(command.arguments);
  const parameter = parameters[operands.length] ?? parameters.find((each) => each.isList);
  if (parameter === undefined) return [];
  const values = await completeValues(parameter, { words, current, owner: operands[0] ?? '' }, io);
  // A room may be named `--yes`: before `--` it would be read as an option, so it is not offered.
  const isOption = (value: string): boolean => value.startsWith('-') && !given.includes('--');
  return values.filter(({ value }) => !operands.includes(value) && !isOption(value));
}

function listOptions(command: Command): readonly Parameter<unknown>[] {
  return [...Object.values(command.options), ...commonParameters(command)];
}

async function completeValues(
  parameter: Parameter<unknown>,
  { words, current, owner = '' }: Typed,
  io: Io,
): Promise<readonly Candidate[]> {
  const { choices = [], completes } = parameter;
  if (completes === undefined) return choices.map((value) => ({ value, description: '' }));
  if (completes === 'files') return [{ value: FILES, description: '' }];
  return completes === 'events' ? eventLists(current) : findNames(completes, { words, owner }, io);
}

/** Adds to the list so far each name that is not in it yet: `room_started,` becomes `room_started,room_finished`. */
async function eventLists(current: string): Promise<readonly Candidate[]> {
  const { EVENT_NAMES } = await import('../../contract/event-names.ts');
  const head = current.slice(0, current.lastIndexOf(',') + 1);
  const taken = head.split(',');
  const left = EVENT_NAMES.filter((name) => !taken.includes(name) && (head === '' || name !== '*'));
  return left.map((name) => ({ value: head + name, description: '' }));
}

/** Returns the words that are neither an option nor an option's value. */
function readOperands(given: readonly string[], options: readonly Parameter<unknown>[]): readonly string[] {
  return given.filter((word, index) => {
    if (word.startsWith('-') && word !== '-') return false;
    const before = given[index - 1] ?? '';
    return !options.some(
      (option) => takesValue(option) && !isOptional(option) && flagNames(option).includes(before),
    );
  });
}

function asCandidate(command: Command): Candidate {
  return { value: command.verb, description: command.summary };
}

function listFlags(option: Parameter<unknown>): readonly Candidate[] {
  const long = flagNames(option).filter((name) => name.startsWith('--'));
  return long.map((value) => ({ value, description: option.description }));
}

function takesValue(option: Parameter<unknown>): boolean {
  return /[<[]/.test(option.flags ?? '');
}

function isOptional(option: Parameter<unknown>): boolean {
  return (option.flags ?? '').includes('[');
}

/** Time limit: a slow completion is worse than none. */
const TIMEOUT_MS = 1000;

/** The words so far, and the value of the first argument among them. */
type GivenWords = { readonly words: readonly string[]; readonly owner: string };

/** Finds names to complete with, from the profiles or from the service that the words so far select. */
async function findNames(
  kind: Picked,
  { words: given, owner }: GivenWords,
  io: Io,
): Promise<readonly Candidate[]> {
  if (kind === 'profiles') return await profileCandidates(io);
  const settings = await resolveSettings(io, {
    url: optionValue(given, '--url'),
    apiKey: optionValue(given, '--api-key'),
    profile: optionValue(given, '--profile'),
    apiSecretFile: undefined,
  });
  // A secret command may ask for a passphrase while the user is typing.
  if (settings.apiSecret?.source.endsWith('(command)') === true) return [];
  const credentials = await readCredentials(settings);
  const target = { url: settings.url.value, ...credentials };
  const client = new RtcClient({
    ...target,
    ...createWire(target, {}),
    clock: io.clock,
    timeoutMs: TIMEOUT_MS,
    maxAttempts: 1,
  });
  try {
    return await listCandidates(kind, { client, signal: io.signal, nowMs: io.clock(), owner });
  } finally {
    await client.close();
  }
}

function optionValue(given: readonly string[], name: string): string | undefined {
  const at = given.indexOf(name);
  if (at !== -1) return given[at + 1];
  return given.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
}
