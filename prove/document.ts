import type { ProofPart } from './part.ts';
import type { Results } from './results.ts';
import type { Result } from './run-part.ts';
import { tableRows } from './table.ts';

const INTRODUCTION = `# Proof

What the service claims under faults, load and hostile input, how each claim was attacked, and what was seen. Everything here
is written by \`npm run prove\` from its last run, also what did not hold. Run it yourself: each part takes less than an hour on
two cores, uses loopback only, and is resumed where it was interrupted.

\`\`\`sh
npm run prove -- --list              # the parts
npm run prove -- --only chaos-sqlite # one of them
npm run prove -- --short             # all, for seconds each, as the tests do
\`\`\`

Programs are the real ones: the service as a process of its own, PostgreSQL, LiveKit, Redis, HAProxy. Who judges is no part of
the service: signatures are computed anew from the specification, and what arrived is counted by the receiver. Other programs
ran on the machine at the same time where a load above 2 is told; times and rates are worse for it, counts are not.
`;

type Seen = { readonly part: ProofPart; readonly result: Result };

/** docs/proof.md. */
export function proofDocument(parts: readonly ProofPart[], landed: Results): string {
  const seen = parts.flatMap((part): readonly Seen[] => {
    const result = landed[part.name];
    return result === undefined ? [] : [{ part, result }];
  });
  const sections = parts.map((part) => section(part, landed[part.name]));
  return `${[INTRODUCTION, overview(seen), ...sections].join('\n').trimEnd()}\n`;
}

function overview(seen: readonly Seen[]): string {
  const rows = seen.map(({ part, result }) => {
    const claimed = result.figures.filter((figure) => figure.holds !== undefined);
    const holding = claimed.filter((figure) => figure.holds === true);
    const ofAll = `${holding.length} of ${claimed.length}`;
    return [`[${part.name}](#${part.name})`, part.title, ofAll, result.endedAt, duration(result.seconds)];
  });
  return `## In short

${markdownTable(['part', 'what it is', 'claimed figures that hold', 'seen at', 'in'], rows)}
`;
}

function section(part: ProofPart, result: Result | undefined): string {
  return `## ${part.name}

${part.title}.

**Claim.** ${part.claim}

**How it was attacked.** ${part.attack.join('\n\n')}

${result === undefined ? '**What was seen.** Nothing yet: this part has not been run to its end.\n' : seenIn(result)}
**What is not claimed.**

${part.notClaimed.map((line) => `- ${line}`).join('\n')}
`;
}

function seenIn(result: Result): string {
  const { endedAt, seconds, commit, machine, node, versions, load, notes } = result;
  const rows = tableRows([result]).map(([, ...cells]) => cells);
  const others = Object.entries(versions ?? {}).map(([name, version]) => `, ${name} ${version}`);
  return `**What was seen.** ${[...(notes ?? [])].join(' ')}

${markdownTable(['figure', 'measured', 'spread', 'claimed', 'holds'], rows)}

${endedAt}, ${duration(seconds)}, commit ${commit}; Node ${node}${others.join('')}; ${machine}; load ${load.join(' to ')}.
`;
}

function duration(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}
