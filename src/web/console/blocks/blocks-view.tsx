import { Link } from 'wouter';
import type { RoomBlock } from '../../../contract/blocks.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { CellButton, type TableColumn } from '../parts/data-table.tsx';
import type { Cells } from '../parts/find-and-save.tsx';
import { Details, ListView } from '../parts/list-view.tsx';
import { Ago, Clock } from '../parts/time.tsx';

const PAGE_SIZE = 200;

/** The view lists who is kept out of which room. */
export function Blocks() {
  return (
    <ListView
      title="Blocks"
      what="blocks"
      command="rtc blocks list"
      queryKey={KEYS.allBlocks()}
      read={(cursor) => client.blocks.listEverywhere({ limit: PAGE_SIZE, cursor })}
      items={({ blocks }) => blocks}
      columns={COLUMNS}
      cells={CELLS}
      getId={toId}
      empty={{
        title: 'Nobody is blocked',
        text: 'Who is removed from a room may be blocked: for a time, or until you lift the block here.',
      }}
      panel={(block) => ({ title: block.identity, children: <BlockDetails block={block} /> })}
    />
  );
}

function toId({ roomId, identity }: RoomBlock): string {
  return JSON.stringify([roomId, identity]);
}

function BlockDetails({
  block: { roomId, identity, blockedAt, blockedUntil },
}: {
  readonly block: RoomBlock;
}) {
  return (
    <>
      <Details
        rows={{
          Room: <Link href={`/rooms/${encodeURIComponent(roomId)}`}>{roomId}</Link>,
          Blocked: <Clock at={blockedAt} />,
          Until: blockedUntil === null ? 'For ever' : <Clock at={blockedUntil} />,
        }}
      />
      <div className="actions">
        <ChangeButton
          question={`Let ${identity} into ${roomId} again?`}
          consequence="From now on this identity gets tokens for the room."
          verb="Lift the block"
          command={writeCommand('blocks', 'remove', roomId, identity)}
          run={() => client.blocks.remove(roomId, identity)}
        >
          Lift the block
        </ChangeButton>
      </div>
    </>
  );
}

const COLUMNS: readonly TableColumn<RoomBlock>[] = [
  {
    heading: 'Identity',
    width: 'minmax(7rem, 1.5fr)',
    sortBy: ({ identity }) => identity,
    cell: (block) => <CellButton>{block.identity}</CellButton>,
  },
  {
    heading: 'Room',
    width: 'minmax(7rem, 1.5fr)',
    sortBy: ({ roomId }) => roomId,
    cell: ({ roomId }) => roomId,
  },
  {
    heading: 'Until',
    width: 'minmax(6rem, 1fr)',
    sortBy: ({ blockedUntil }) => blockedUntil ?? '9',
    cell: ({ blockedUntil }) => (blockedUntil === null ? 'For ever' : <Ago at={blockedUntil} />),
  },
  {
    heading: 'Blocked',
    width: 'minmax(6rem, 1fr)',
    isSecondary: true,
    sortBy: ({ blockedAt }) => blockedAt,
    cell: ({ blockedAt }) => <Ago at={blockedAt} />,
  },
];

const CELLS: Cells<RoomBlock> = {
  room: ({ roomId }) => roomId,
  identity: ({ identity }) => identity,
  blockedAt: ({ blockedAt }) => blockedAt,
  blockedUntil: ({ blockedUntil }) => blockedUntil,
};
