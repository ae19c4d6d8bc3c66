import {
  type ColumnDef,
  createSortedRowModel,
  type HeaderGroup,
  rowSortingFeature,
  sortFns,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import {
  type CSSProperties,
  type ReactNode,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Link } from 'wouter';

const FEATURES = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel(), sortFns });
const ROW_HEIGHT = 44;
/** In a table as narrow as a telephone a row has two lines: what it is and its state, and then the rest. */
const FOLDED_HEIGHT = 68;
const FOLDED_BELOW_PX = 480;
const FRAME_HEIGHT = 2;
/** With its line. */
const HEAD_HEIGHT = ROW_HEIGHT + 1;
/** Rows beyond the visible ones, so that fast scrolling shows no gap. */
const OVERSCAN = 12;
/** Number of rows before the end at which the next page is requested. */
const ROWS_BEFORE_END = 40;

export type TableColumn<Row> = {
  /** Names the column, too. */
  readonly heading: string;
  readonly cell: (row: Row) => ReactNode;
  /** The value to sort by; a column without one cannot be sorted. */
  readonly sortBy?: (row: Row) => string | number;
  /** Width of a CSS grid track, such as `8rem` or `2fr`. */
  readonly width: string;
  /** Whether the column is left out in a narrow table. */
  readonly isSecondary?: boolean;
  /** Whether its text takes as many lines as it needs. The rows are then as high as their texts. */
  readonly isWrapped?: boolean;
};

/** So many columns need a wide window, or only the first ones are shown. */
const MANY = 8;

export type TableProps<Row> = {
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly getId: (row: Row) => string;
  /** Called near the end of the rows, if there are more than were loaded. */
  readonly onEnd?: (() => void) | undefined;
  /** Called with the clicked row; the row's own link or button does the same by keyboard. */
  readonly onSelect?: ((row: Row) => void) | undefined;
  readonly selectedId?: string | undefined;
};

/** A table that draws only the visible rows, so that it stays fast with ten thousand of them. */
export function DataTable<Row extends object>(props: TableProps<Row>) {
  const { label, columns, rows, getId, onEnd, onSelect, selectedId } = props;
  const definitions = useMemo(() => columns.map((column) => defineColumn(column)), [columns]);
  const data = useMemo(() => [...rows], [rows]);
  const table = useTable({ features: FEATURES, columns: definitions, data, getRowId: getId });
  const sorted = table.getRowModel().rows;
  const isWrapped = columns.some((column) => column.isWrapped);
  const { scroller, height, items, isFolded, measure } = useVisibleRows({ sorted, onEnd, isWrapped });
  // A folded table shows only the headings that sort it.
  const hasHead = !isFolded || columns.some(({ sortBy }) => sortBy !== undefined);
  const whole = height + FRAME_HEIGHT + (hasHead ? HEAD_HEIGHT : 0);
  return (
    <div
      className={`table-scroll${isFolded ? ' table-folded' : ''}${columns.length >= MANY ? ' table-many' : ''}`}
      ref={scroller}
      style={{ '--whole': `${whole}px` } as CSSProperties}
    >
      <table
        className="table"
        aria-label={label}
        aria-rowcount={sorted.length + 1}
        style={describeWidths(columns)}
      >
        <Head columns={columns} groups={table.getHeaderGroups()} />
        <tbody className="table-body" style={{ height }}>
          {items.map(({ index, key, start }) => {
            const row = sorted[index];
            if (row === undefined) return null;
            return (
              <BodyRow
                key={key}
                columns={columns}
                row={row.original}
                index={index}
                start={start}
                isSelected={row.id === selectedId}
                onSelect={onSelect}
                measure={isWrapped ? measure : undefined}
              />
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

type VisibleRows = {
  readonly sorted: readonly { readonly id: string }[];
  readonly onEnd: (() => void) | undefined;
  readonly isWrapped: boolean;
};

/** The rows that are drawn; `onEnd` is called when they come near the end. */
function useVisibleRows({ sorted, onEnd, isWrapped }: VisibleRows) {
  const scroller = useRef<HTMLDivElement>(null);
  const isFolded = useIsFolded(scroller);
  const virtualizer = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isFolded ? FOLDED_HEIGHT : ROW_HEIGHT),
    getItemKey: (index) => sorted[index]?.id ?? index,
    overscan: OVERSCAN,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of one height are folded at once, others are measured
  useEffect(() => {
    if (!isWrapped) virtualizer.measure();
  }, [isFolded]);
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= sorted.length - ROWS_BEFORE_END) onEnd?.();
  }, [last, sorted.length, onEnd]);
  const height = virtualizer.getTotalSize();
  return { scroller, height, items, isFolded, measure: virtualizer.measureElement };
}

/** Returns whether the table is too narrow for columns. */
function useIsFolded(scroller: RefObject<HTMLDivElement | null>): boolean {
  const [isFolded, setFolded] = useState(() => window.innerWidth < FOLDED_BELOW_PX);
  useEffect(() => {
    if (scroller.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setFolded(entry.contentRect.width < FOLDED_BELOW_PX);
    });
    observer.observe(scroller.current);
    return () => observer.disconnect();
  }, [scroller]);
  return isFolded;
}

/** The widths of all columns, and of those that a narrow table has. */
function describeWidths<Row>(columns: readonly TableColumn<Row>[]): CSSProperties {
  const wide = columns.map(({ width }) => width).join(' ');
  const narrow = columns
    .filter(({ isSecondary }) => isSecondary !== true)
    .map(({ width }) => width)
    .join(' ');
  return { '--wide': wide, '--narrow': narrow } as CSSProperties;
}

type HeadProps<Row extends object> = Pick<TableProps<Row>, 'columns'> & {
  readonly groups: readonly HeaderGroup<typeof FEATURES, Row>[];
};

function Head<Row extends object>({ columns, groups }: HeadProps<Row>) {
  return (
    <thead className="table-head">
      {groups.map((group) => (
        <tr className="row" key={group.id} aria-rowindex={1}>
          {group.headers.map((header, index) => (
            <Heading
              key={header.id}
              column={columns[index]}
              direction={header.column.getIsSorted()}
              onSort={header.column.getCanSort() ? () => header.column.toggleSorting() : undefined}
            />
          ))}
        </tr>
      ))}
    </thead>
  );
}

type BodyRowProps<Row> = Pick<TableProps<Row>, 'columns' | 'onSelect'> & {
  readonly row: Row;
  readonly index: number;
  /** Distance from the top of the body in pixels. */
  readonly start: number;
  readonly isSelected: boolean;
  /** Measures the row, if it is as high as its text. */
  readonly measure: ((row: HTMLTableRowElement | null) => void) | undefined;
};

function BodyRow<Row>(props: BodyRowProps<Row>) {
  const { columns, row, index, start, isSelected, onSelect, measure } = props;
  return (
    <tr
      ref={measure}
      data-index={index}
      className={`row row-placed${measure ? ' row-measured' : ''}${isSelected ? ' row-selected' : ''}`}
      aria-rowindex={index + 2}
      aria-current={isSelected ? 'true' : undefined}
      onClick={onSelect === undefined ? undefined : () => onSelect(row)}
      style={{ transform: `translateY(${start}px)` }}
    >
      {columns.map((column) => (
        <td key={column.heading} className={cellClass(column)} data-heading={column.heading}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

type HeadingProps<Row> = {
  readonly column: TableColumn<Row> | undefined;
  readonly direction: 'asc' | 'desc' | false;
  readonly onSort: (() => void) | undefined;
};

const SORTS = { asc: 'ascending', desc: 'descending' } as const;

function Heading<Row>({ column, direction, onSort }: HeadingProps<Row>) {
  return (
    <th
      scope="col"
      className={cellClass(column)}
      aria-sort={direction === false ? undefined : SORTS[direction]}
    >
      {onSort === undefined ? (
        column?.heading
      ) : (
        <button type="button" className="sort" onClick={onSort}>
          {column?.heading}
          {direction === 'asc' && <ArrowUp aria-hidden />}
          {direction === 'desc' && <ArrowDown aria-hidden />}
          {direction === false && <ChevronsUpDown aria-hidden className="faint" />}
        </button>
      )}
    </th>
  );
}

function defineColumn<Row extends object>(column: TableColumn<Row>): ColumnDef<typeof FEATURES, Row> {
  const { heading: id, sortBy } = column;
  if (sortBy === undefined) return { id, enableSorting: false };
  return { id, accessorFn: sortBy, sortFn: 'auto', enableSorting: true };
}

function cellClass<Row>(column: TableColumn<Row> | undefined): string {
  const { isSecondary = false, isWrapped = false } = column ?? {};
  return `cell${isSecondary ? ' cell-secondary' : ''}${isWrapped ? ' cell-wrapped' : ''}`;
}

/** The link of a row, which its cells make larger; a click on it does not count as one on the row. */
export function CellLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <Link href={href} className="cell-link" onClick={(event) => event.stopPropagation()}>
      {children}
    </Link>
  );
}

/** The first cell of a row: by keyboard too, a click on it is one on the row. */
export function CellButton({ children }: { readonly children: ReactNode }) {
  return (
    <button type="button" className="cell-link">
      {children}
    </button>
  );
}
