import { useQuery } from '@tanstack/react-query';
import { DoorOpen } from 'lucide-react';
import type { Block } from '../../../contract/blocks.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { CommandLine, commandOf } from '../parts/command-line.tsx';
import { Problem } from '../parts/problem.tsx';
import { Ago, Clock } from '../parts/time.tsx';

/** Rows of a page of the service's list; a user with more blocks uses the command. */
const SHOWN = 200;

/** A table of blocked identities and the ends of the blocks; nothing when it is empty. The room need not be open. */
export function Blocks({ room }: { readonly room: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: KEYS.blocks(room),
    queryFn: () => client.blocks.list(room, { limit: SHOWN }),
  });
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined || data.blocks.length === 0) return null;
  const { blocks, nextCursor } = data;
  return (
    <section aria-labelledby="blocks-title">
      <div className="section-head">
        <h2 id="blocks-title">
          Kept out{' '}
          <span className="count">
            {blocks.length}
            {nextCursor !== null && '+'}
          </span>
        </h2>
        <CommandLine command={commandOf('blocks', 'list', room)} />
      </div>
      <div className="plain-scroll">
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">Identity</th>
              <th scope="col">Until</th>
              <th scope="col">Since</th>
              <th scope="col">
                <span className="sr-only">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {blocks.map((block) => (
              <BlockRow key={block.identity} room={room} block={block} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

type RowProps = { readonly room: string; readonly block: Block };

function BlockRow({ room, block: { identity, blockedAt, blockedUntil } }: RowProps) {
  return (
    <tr>
      <th scope="row">
        <span className="name">{identity}</span>
      </th>
      <td>{blockedUntil === null ? 'for ever' : <Clock at={blockedUntil} />}</td>
      <td>
        <Ago at={blockedAt} />
      </td>
      <td className="cell-actions">
        <ChangeButton
          label={`Let in ${identity}`}
          change={() => ({
            question: `Let ${identity} into ${room} again?`,
            consequence: 'The identity gets tokens, and may join with those that are still valid.',
            verb: 'Let in',
            command: commandOf('blocks', 'remove', room, identity),
            run: () => client.blocks.remove(room, identity),
          })}
        >
          <DoorOpen aria-hidden /> Let in
        </ChangeButton>
      </td>
    </tr>
  );
}
