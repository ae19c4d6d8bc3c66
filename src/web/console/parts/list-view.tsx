import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { DataTable, type TableColumn, type TableProps } from './data-table.tsx';
import { type Cells, FindAndSave, useRowsWith } from './find-and-save.tsx';
import { Problem } from './problem.tsx';
import { useAddress } from './use-address.ts';
import { type Cursored, type Source, usePages } from './use-pages.ts';
import { Empty, Loading, View } from './view.tsx';

type Props<Page extends Cursored, Row> = Source<Page, Row> & {
  readonly title: string;
  /** The noun for the rows of the list, such as `plans`. */
  readonly what: string;
  readonly command: string;
  readonly actions?: ReactNode;
  /** Fields that the service filters by, beside the one for a text. */
  readonly filters?: ReactNode;
  readonly columns: readonly TableColumn<Row>[];
  readonly cells: Cells<Row>;
  readonly getId: (row: Row) => string;
  readonly empty: { readonly title: string; readonly text: string };
  /** Content of the panel beside the list for the opened row, whose id is in the address. */
  readonly panel: (row: Row) => { readonly title: string; readonly children: ReactNode };
};

/** A list of the service with a field for a text, a file of it, and a panel for the opened row. */
export function ListView<Page extends Cursored, Row extends object>(props: Props<Page, Row>) {
  const { title, what, command, actions, filters, columns, cells, getId, empty, panel } = props;
  const { read: readAddress, change } = useAddress();
  const { items, count, error, refetch, loadMore } = usePages(props);
  const rows = useRowsWith(items ?? [], readAddress('text'));
  const opened = items?.find((row) => getId(row) === readAddress('open'));
  return (
    <View title={title} note={count} command={command} actions={actions} isFilled>
      <div className="filters">
        {filters}
        <FindAndSave what={what} rows={rows} cells={cells} />
      </div>
      <Rows
        label={title}
        columns={columns}
        rows={items === undefined ? undefined : rows}
        error={error}
        onRetry={refetch}
        empty={items?.length === 0 ? empty : { title: `None of the ${what} has this text` }}
        getId={getId}
        onEnd={loadMore}
        onSelect={(row) => change({ open: getId(row) })}
        selectedId={opened === undefined ? undefined : getId(opened)}
        panel={opened && <Panel {...panel(opened)} onClose={() => change({ open: undefined })} />}
      />
    </View>
  );
}

type RowsProps<Row extends object> = Omit<TableProps<Row>, 'rows'> & {
  /** Undefined until they are read. */
  readonly rows: readonly Row[] | undefined;
  readonly error: unknown;
  readonly onRetry?: () => void;
  readonly empty: { readonly title: string; readonly text?: string };
  /** Shown beside the rows. */
  readonly panel?: ReactNode;
};

/** The rows of a list, or why there are none. */
export function Rows<Row extends object>(props: RowsProps<Row>) {
  const { rows, error, onRetry, empty, panel, ...table } = props;
  return (
    <>
      {error != null && <Problem error={error} onRetry={onRetry} />}
      {rows === undefined && error == null && <Loading />}
      {rows?.length === 0 && (
        <Empty title={empty.title}>{empty.text !== undefined && <p>{empty.text}</p>}</Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <div className={panel === undefined ? 'split' : 'split split-open'}>
          <DataTable {...table} rows={rows} />
          {panel}
        </div>
      )}
    </>
  );
}

type PanelProps = {
  readonly title: string;
  /** Its name for readers who do not see it; without it, the title. */
  readonly label?: string;
  /** Stands beside the title. */
  readonly mark?: ReactNode;
  readonly children: ReactNode;
  readonly onClose: () => void;
};

/** Shows beside a list the thing that was opened. */
export function Panel({ title, label = title, mark, onClose, children }: PanelProps) {
  return (
    <aside className="panel" aria-label={label}>
      <header className="panel-head">
        <h2>{title}</h2>
        {mark}
        <button type="button" className="icon" aria-label="Close" onClick={onClose}>
          <X aria-hidden />
        </button>
      </header>
      {children}
    </aside>
  );
}

type DetailsProps = { readonly rows: Readonly<Record<string, ReactNode>> };

/** Facts by their names. */
export function Details({ rows }: DetailsProps) {
  return (
    <dl className="details">
      {Object.entries(rows).flatMap(([name, value]) =>
        value === undefined || value === null
          ? []
          : [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>],
      )}
    </dl>
  );
}
