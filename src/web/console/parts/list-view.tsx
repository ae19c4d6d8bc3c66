import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { DataTable, type TableColumn } from './data-table.tsx';
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
  readonly panel: (row: Row) => { readonly title: string; readonly content: ReactNode };
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
      {error !== null && <Problem error={error} onRetry={refetch} />}
      {items === undefined && error === null && <Loading />}
      {items?.length === 0 && (
        <Empty title={empty.title}>
          <p>{empty.text}</p>
        </Empty>
      )}
      {items !== undefined && items.length > 0 && rows.length === 0 && (
        <Empty title={`None of the ${what} has this text`} />
      )}
      {rows.length > 0 && (
        <div className={opened === undefined ? 'split' : 'split split-open'}>
          <DataTable
            label={title}
            columns={columns}
            rows={rows}
            getId={getId}
            onEnd={loadMore}
            onSelect={(row) => change({ open: getId(row) })}
            selectedId={opened === undefined ? undefined : getId(opened)}
          />
          {opened !== undefined && <Panel {...panel(opened)} onClose={() => change({ open: undefined })} />}
        </div>
      )}
    </View>
  );
}

type PanelProps = { readonly title: string; readonly content: ReactNode; readonly onClose: () => void };

function Panel({ title, content, onClose }: PanelProps) {
  return (
    <aside className="panel" aria-label={title}>
      <header className="panel-head">
        <h2>{title}</h2>
        <button type="button" className="icon" aria-label="Close" onClick={onClose}>
          <X aria-hidden />
        </button>
      </header>
      {content}
    </aside>
  );
}

type OpenProps = { readonly id: string; readonly children: ReactNode };

/** The first cell of a row, which opens its panel by keyboard too. */
export function OpenButton({ id, children }: OpenProps) {
  const { change } = useAddress();
  return (
    <button type="button" className="cell-link" onClick={() => change({ open: id })}>
      {children}
    </button>
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
