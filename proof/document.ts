import type { Experiment, Figure } from './experiment.ts';
import { figuresWithSpread, type RecordedResult, type Results } from './results.ts';

const INTRODUCTION = `# Proof

This page tests what the service claims. Each experiment below names a claim, describes how the claim was attacked, and shows what
happened, including every figure that missed its bound. It then names the defects of the service that the attack found, and ends
with what the experiment does not show.

\`npm run prove\` runs the attacks and writes this page from the results. Each experiment takes less than an hour on two cores, sends
nothing beyond the loopback interface, and continues after an interruption.

\`\`\`sh
npm run prove -- --list              # print the names of the experiments
npm run prove -- --only chaos-sqlite # run one experiment
npm run prove -- --short             # run the short run of every experiment, as the tests do
\`\`\`

## How to read the results

- **The programs are real.** The service runs as a process of its own, and so do PostgreSQL, LiveKit, Redis, HAProxy and ffmpeg. Where
  an experiment has a stand-in instead, its attack says so. Two experiments run the code of the service in another way: \`model\` simulates what is
  around it, and \`mutation\` changes it.
- **The judge shares no code with the service.** It computes signatures from the specification and counts what receivers got. It takes
  only limits from the source, such as the size of a batch, to compute bounds.
- **A figure with a bound is a claim.** \`holds\` says whether the last run met it. A figure without a bound is only reported. The
  summary counts the figures with a bound.
- **A table with a row for each fault** has the claims in its heading. A cell whose figure missed its bound begins with NO.
- **The spread** runs from the lowest to the highest value over the last runs on the same machine, or over the samples within one run
  where the experiment says so; \`none\` means that all runs gave the same value. Tables with a row for
  each fault have it in brackets.
- **The load** is the load average of the machine before and after the run. Above 2, other programs competed for its two cores:
  times, rates and numbers of requests are then worse than on a quiet machine. The counts of errors are bounded all the same.
`;

type Seen = { readonly experiment: Experiment; readonly result: RecordedResult };

/** Returns the text of docs/proof.md. */
export function proofDocument(experiments: readonly Experiment[], recorded: Results): string {
  const seen = experiments.flatMap((experiment): readonly Seen[] => {
    const result = recorded[experiment.name];
    return result === undefined ? [] : [{ experiment, result }];
  });
  const sections = experiments.map((experiment) => section(experiment, recorded[experiment.name]));
  const waiting = experiments.filter(({ name }) => recorded[name] === undefined);
  return `${[INTRODUCTION, overview(seen, waiting), ...sections].join('\n').trimEnd()}\n`;
}

function overview(seen: readonly Seen[], waiting: readonly Experiment[]): string {
  const rows = seen.map(({ experiment, result }) => {
    const claimed = result.figures.filter((figure) => figure.holds !== undefined);
    const holding = claimed.filter((figure) => figure.holds === true);
    const ofAll = `${holding.length} of ${claimed.length}`;
    return [
      `[${experiment.name}](#${experiment.name})`,
      experiment.title,
      ofAll,
      result.endedAt,
      duration(result.seconds),
    ];
  });
  const empty = waiting.map(({ name, title }) => [`[${name}](#${name})`, title, 'no result yet', '', '']);
  const head = ['experiment', 'attack', 'claims that hold', 'last run', 'duration'];
  return `## Summary

${markdownTable(head, [...rows, ...empty])}

${missedClaims(seen)}
`;
}

function missedClaims(seen: readonly Seen[]): string {
  const rows = seen.flatMap(({ experiment, result }) => {
    const missed = result.figures.filter((figure) => figure.holds === false);
    return missed.map(({ name, measured, bound = '' }) => [
      `[${experiment.name}](#${experiment.name})`,
      name,
      measured,
      bound,
    ]);
  });
  if (rows.length === 0) return 'Every claim held in the last run of its experiment.';
  return `These claims did not hold in the last run of their experiment:

${markdownTable(['experiment', 'figure', 'measured', 'claimed'], rows)}`;
}

function section(experiment: Experiment, result: RecordedResult | undefined): string {
  const { name, title, claim, attack, found = [], notClaimed } = experiment;
  const results =
    result === undefined
      ? '**Results.** There are none yet: this experiment has not run to its end.\n'
      : formatResults(result);
  const defects = `**Found and mended.** This attack, or an earlier form of it, found these defects:\n\n${list(found)}\n`;
  return `## ${name}

${title}.

**Claim.** ${claim}

**Attack.** ${attack.join('\n\n')}

${results}
${found.length === 0 ? '' : `${defects}\n`}**Not claimed.**

${list(notClaimed)}
`;
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

function formatResults(result: RecordedResult): string {
  const { endedAt, seconds, commit, machine, node, versions, load, notes } = result;
  const { grouped, single } = groupFigures(figuresWithSpread(result));
  const tables = [...grouped, ...(single.length === 0 ? [] : [toTable({ ...result, figures: single })])];
  const others = Object.entries(versions ?? {}).map(([name, version]) => `, ${name} ${version}`);
  return `${['**Results.**', ...(notes ?? [])].join(' ')}

${tables.map(({ head, rows }) => markdownTable(head, rows)).join('\n\n')}

Last run: ${endedAt}, ${duration(seconds)}, commit ${commit}; Node ${node}${others.join('')}; ${machine}; load ${load.join(' to ')}.
${earlierRuns(result)}`;
}

function earlierRuns({ earlier = [] }: RecordedResult): string {
  const runs = earlier.map(({ endedAt, load }) => `${endedAt} (load ${load.join(' to ')})`);
  return runs.length === 0 ? '' : `Earlier runs in the spread: ${runs.join(', ')}.\n`;
}

function duration(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

/** The tables of one experiment: the same figures of several groups side by side, and the other figures one below the other. */
type GroupedFigures = {
  readonly grouped: readonly Table[];
  readonly single: readonly Figure[];
};

/** The name of a figure that several groups have is `group: figure`. */
type Member = { readonly group: string; readonly label: string; readonly figure: Figure };

/** A table is readable with this many columns beside the names of its rows. */
const MIN_SHARED = 3;

export function groupFigures(figures: readonly Figure[]): GroupedFigures {
  const members = figures.flatMap(toMember);
  const labelsByGroup = Map.groupBy(members, ({ group }) => group);
  const families = Map.groupBy(labelsByGroup.values(), (group) => group.map(({ label }) => label).join('\n'));
  const wide = [...families.values()].filter(
    (groups) => groups.length > 1 && (groups[0]?.length ?? 0) >= MIN_SHARED,
  );
  const inTables = new Set(wide.flat(2).map(({ figure }) => figure));
  return { grouped: wide.map(tableOfGroups), single: figures.filter((figure) => !inTables.has(figure)) };
}

function toMember(figure: Figure): readonly Member[] {
  const colon = figure.name.lastIndexOf(': ');
  if (colon < 0) return [];
  return [{ group: figure.name.slice(0, colon), label: figure.name.slice(colon + 2), figure }];
}

function tableOfGroups(groups: readonly (readonly Member[])[]): Table {
  const columns = (groups[0] ?? []).map(({ label }, index) => {
    const figures = groups.flatMap((group) => group[index]?.figure ?? []);
    const bounds = new Set(figures.map(({ bound }) => bound ?? ''));
    const [shared = ''] = bounds.size === 1 ? bounds : [];
    const head = shared === '' ? label : `${label} (claimed: ${shared})`;
    return { head, cells: figures.map((figure) => cell(figure, shared)) };
  });
  return {
    head: ['', ...columns.map(({ head }) => head)],
    rows: groups.map((group, row) => [
      group[0]?.group ?? '',
      ...columns.map(({ cells }) => cells[row] ?? ''),
    ]),
  };
}

/** Returns the measured value with its spread, and with its bound if the column has another one. */
function cell({ measured, spread, bound = '', holds }: Figure, shared: string): string {
  const range = spread === undefined || spread === 'none' ? '' : ` [${spread}]`;
  const own = bound === shared ? '' : ` (claimed: ${bound})`;
  return `${holds === false ? `**NO:** ${measured}` : measured}${range}${own}`;
}

type Table = {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

/** Prints one table of all results on the terminal. */
export function printTable(results: readonly RecordedResult[]): void {
  const { head, rows } = withoutEmptyColumns({
    head: ['experiment', ...HEAD],
    rows: results.flatMap((result) => toRows(result).map((row) => [result.experiment, ...row])),
  });
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) {
    const cells = line.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    console.log(cells.join('  ').trimEnd());
  }
  for (const { experiment, machine, node, versions, commit, endedAt, seconds, load } of results) {
    const others = Object.entries(versions ?? {}).map(([name, version]) => `, ${name} ${version}`);
    console.log(
      `${experiment}: ${endedAt}, ${seconds} s, commit ${commit}, Node ${node}${others.join('')}; ` +
        `${machine}; load ${load.join(' to ')}`,
    );
  }
}

/** Returns the table of one experiment. A column is left out if it would be empty. */
function toTable(result: RecordedResult): Table {
  return withoutEmptyColumns({ head: HEAD, rows: toRows(result) });
}

const HEAD = ['figure', 'measured', 'spread', 'claimed', 'holds'];

function toRows(result: RecordedResult): readonly (readonly string[])[] {
  return figuresWithSpread(result).map((figure) => [
    figure.name,
    figure.measured,
    figure.spread ?? '',
    figure.bound ?? '',
    verdict(figure),
  ]);
}

function verdict({ holds }: Figure): string {
  if (holds === undefined) return '';
  return holds ? 'yes' : 'NO';
}

function withoutEmptyColumns({ head, rows }: Table): Table {
  const isUsed = head.map((_, column) => rows.some((row) => row[column] !== ''));
  const used = (cells: readonly string[]): readonly string[] => cells.filter((_, column) => isUsed[column]);
  return { head: used(head), rows: rows.map(used) };
}
