import { readFile, writeFile } from 'node:fs/promises';
import type { Result } from './experiment.ts';
import type { Figure, Figures } from './figures.ts';
import { figuresWithSpread, type RecordedResult, type Results } from './results.ts';

/** The summary, and beside it a page for each experiment, in docs/proof. */
const SUMMARY = new URL('../docs/proof.md', import.meta.url);
const SECTION = /^(?=## [\w-]+\n\n.+\.\n\n\*\*Claim\.\*\*)/gm;
const findPage = (name: string): URL => new URL(`../docs/proof/${name}.md`, import.meta.url);

/** An experiment as its page in docs/proof describes it. The claim, the attack and what is not claimed are written there only. */
type Described = { readonly name: string; readonly title: string };

/** The heading and first line of a section that has a claim. */
const DESCRIBED = /^## ([\w-]+)\n\n(.+)\.\n\n\*\*Claim\.\*\*/gm;

export function listDescribed(document: string): readonly Described[] {
  return [...document.matchAll(DESCRIBED)].map(([, name = '', title = '']) => ({ name, title }));
}

/** Returns the summary and the pages of these experiments as one text, in which each page is a section. */
export async function readDocument(names: readonly string[]): Promise<string> {
  const pages = await Promise.all(names.map((name) => readFile(findPage(name), 'utf8')));
  return [await readFile(SUMMARY, 'utf8'), ...pages.map((page) => `#${page}`)].join('\n');
}

export async function writeDocument(document: string): Promise<void> {
  const [summary = '', ...sections] = document.split(SECTION);
  await writeFile(SUMMARY, `${summary.trimEnd()}\n`);
  for (const section of sections) {
    const name = /^## (.+)$/m.exec(section)?.[1] ?? '';
    await writeFile(findPage(name), `${section.slice(1).trimEnd()}\n`);
  }
}

/** Returns the document with these results in place of those that it has. */
export function withResults(document: string, recorded: Results): string {
  const described = listDescribed(document);
  const [introduction = '', ...sections] = document.split(/^(?=## )/m);
  const updated = sections.map((section) => {
    if (section.startsWith('## Summary\n')) return overview(described, recorded);
    const { name } = described.find((each) => section.startsWith(`## ${each.name}\n`)) ?? {};
    return name === undefined ? section : replaceResults(section, recorded[name]);
  });
  return [introduction, ...updated].join('');
}

function replaceResults(section: string, result: RecordedResult | undefined): string {
  const results =
    result === undefined
      ? '**Results.** There are none yet: this experiment has not run to its end.\n'
      : formatResults(result);
  const between = /^\*\*Results\.\*\*.*?(?=^\*\*(?:Found and mended|Not claimed)\.\*\*)/ms;
  return section.replace(between, () => `${results}\n`);
}

function overview(described: readonly Described[], recorded: Results): string {
  const rows = described.map(({ name, title }) => {
    const result = recorded[name];
    const link = linkTo(name);
    if (result === undefined) return [link, title, 'no result yet', '', ''];
    const claimed = result.figures.filter((figure) => figure.holds !== undefined);
    const holding = claimed.filter((figure) => figure.holds === true);
    const share = `${holding.length} of ${claimed.length}${countGoals(result)}`;
    return [link, title, share, result.endedAt, duration(result.seconds)];
  });
  const head = ['experiment', 'attack', 'claims that hold', 'last run', 'duration'];
  return `## Summary

${markdownTable(head, rows)}

${missedClaims(described, recorded)}

${missedGoals(described, recorded)}`;
}

/** A goal that was not reached is counted as not reached, though nobody claims it. */
function countGoals({ figures }: RecordedResult): string {
  const goals = figures.filter(({ isReached }) => isReached !== undefined);
  const reached = goals.filter(({ isReached }) => isReached).length;
  return goals.length === 0 ? '' : `; ${reached} of ${goals.length} goals`;
}

function linkTo(name: string): string {
  return `[${name}](proof/${name}.md)`;
}

function missedClaims(described: readonly Described[], recorded: Results): string {
  const rows = described.flatMap(({ name }) => {
    const missed = (recorded[name]?.figures ?? []).filter((figure) => figure.holds === false);
    return missed.map((figure) => [linkTo(name), figure.name, figure.measured, figure.bound ?? '']);
  });
  if (rows.length === 0) return 'Every claim held in the last run of its experiment.';
  return `These claims did not hold in the last run of their experiment:

${markdownTable(['experiment', 'figure', 'measured', 'claimed'], rows)}`;
}

function missedGoals(described: readonly Described[], recorded: Results): string {
  const rows = described.flatMap(({ name }) => {
    const missed = (recorded[name]?.figures ?? []).filter((figure) => figure.isReached === false);
    return missed.map((figure) => [linkTo(name), figure.name, figure.measured, figure.goal ?? '']);
  });
  if (rows.length === 0) return '';
  return `These goals were not reached; nobody claims them:

${markdownTable(['experiment', 'figure', 'measured', 'goal'], rows)}

`;
}

function formatResults(result: RecordedResult): string {
  const { grouped, single } = groupFigures(figuresWithSpread(result));
  const { zeros, shown } = splitZeros(single);
  const tables = [...grouped, ...(shown.length === 0 ? [] : [toTable({ ...result, figures: shown })])];
  return `${['**Results.**', ...(result.notes ?? [])].join(' ')}

${tables.map(({ head, rows }) => markdownTable(head, rows)).join('\n\n')}
${zeros.length === 0 ? '' : `\n${listZeros(zeros)}\n`}
Last run: ${describeRun(result)}.
${earlierRuns(result)}`;
}

function describeRun({ endedAt, seconds, commit, node, versions, machine, load }: Result): string {
  const others = Object.entries(versions ?? {}).map(([name, version]) => `, ${name} ${version}`);
  return `${endedAt}, ${duration(seconds)}, commit ${commit}; Node ${node}${others.join('')}; ${machine}; load ${load.join(' to ')}`;
}

/** So many figures that are 0, as claimed, are a short list instead of rows. */
const MIN_ZEROS = 4;

function splitZeros(figures: Figures): { readonly zeros: Figures; readonly shown: Figures } {
  const zeros = figures.filter(isZeroAsClaimed);
  if (zeros.length < MIN_ZEROS) return { zeros: [], shown: figures };
  return { zeros, shown: figures.filter((figure) => !isZeroAsClaimed(figure)) };
}

function isZeroAsClaimed({ measured, bound, spread = 'none', holds }: Figure): boolean {
  return measured === '0' && bound === '0' && spread === 'none' && holds === true;
}

/** The figures of each group are a line that begins with its name. */
function listZeros(figures: Figures): string {
  const members = figures.map((figure) => toMember(figure)[0] ?? { group: '', label: figure.name });
  const lines = [...Map.groupBy(members, ({ group }) => group)].map(([group, some]) => {
    const labels = some.map(({ label }) => label).join('; ');
    return group === '' ? `- ${labels}` : `- ${group}: ${labels}`;
  });
  return ['As claimed, these are 0:', '', ...lines].join('\n');
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
type GroupedFigures = { readonly grouped: readonly Table[]; readonly single: Figures };

/** The name of a figure that several groups have is `group: figure`. */
type Member = { readonly group: string; readonly label: string; readonly figure: Figure };

/** A table is readable with this many columns beside the names of its rows. */
const MIN_SHARED = 3;

export function groupFigures(figures: Figures): GroupedFigures {
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
    const terms = new Set(figures.map(describeTerms));
    const [shared = ''] = terms.size === 1 ? terms : [];
    const head = `${label}${shared}`;
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

/** Returns the measured value with its spread, and with its bound or goal if the column has another one. */
function cell(figure: Figure, shared: string): string {
  const { measured, spread, holds } = figure;
  const range = spread === undefined || spread === 'none' ? '' : ` [${spread}]`;
  const own = describeTerms(figure);
  return `${holds === false ? `**NO:** ${measured}` : measured}${range}${own === shared ? '' : own}`;
}

function describeTerms({ bound, goal }: Figure): string {
  if (bound !== undefined) return ` (claimed: ${bound})`;
  return goal === undefined ? '' : ` (goal: ${goal})`;
}

type Table = { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };

/** Prints one table of all results on the terminal. */
export function printTable(results: readonly RecordedResult[]): void {
  const { head, rows } = withoutEmptyColumns({
    head: ['experiment', ...HEAD],
    rows: results.flatMap((result) => toRows(result).map((row) => [result.experiment, ...row])),
  });
  console.log(markdownTable(head, rows));
  for (const result of results) console.log(`${result.experiment}: ${describeRun(result)}`);
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
    figure.bound ?? (figure.goal === undefined ? '' : `goal: ${figure.goal}`),
    verdict(figure),
  ]);
}

function verdict({ holds, isReached }: Figure): string {
  if (isReached !== undefined) return isReached ? 'reached' : 'not reached';
  if (holds === undefined) return '';
  return holds ? 'yes' : 'NO';
}

function withoutEmptyColumns({ head, rows }: Table): Table {
  const isUsed = head.map((_, column) => rows.some((row) => row[column] !== ''));
  const used = (cells: readonly string[]): readonly string[] => cells.filter((_, column) => isUsed[column]);
  return { head: used(head), rows: rows.map(used) };
}
