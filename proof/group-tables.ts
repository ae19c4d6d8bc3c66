import type { Figure } from './part.ts';
import type { Table } from './support/table.ts';

/** The tables of one part: the same figures of several groups side by side, and the other figures one below the other. */
export type GroupedFigures = {
  readonly grouped: readonly Table[];
  readonly single: readonly Figure[];
};

/** The name of a figure that several groups have is `group: figure`. */
type Member = { readonly group: string; readonly label: string; readonly figure: Figure };

/** A table is readable with this many columns beside the names of its rows. */
const MIN_SHARED = 3;

export function groupFigures(figures: readonly Figure[]): GroupedFigures {
  const members = figures.flatMap(memberOf);
  const labelsByGroup = Map.groupBy(members, ({ group }) => group);
  const families = Map.groupBy(labelsByGroup.values(), (group) => group.map(({ label }) => label).join('\n'));
  const wide = [...families.values()].filter(
    (groups) => groups.length > 1 && (groups[0]?.length ?? 0) >= MIN_SHARED,
  );
  const inTables = new Set(wide.flat(2).map(({ figure }) => figure));
  return { grouped: wide.map(tableOfGroups), single: figures.filter((figure) => !inTables.has(figure)) };
}

function memberOf(figure: Figure): readonly Member[] {
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
