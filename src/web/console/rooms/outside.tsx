import { useQuery } from '@tanstack/react-query';
import { Check, DoorOpen, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Block } from '../../../contract/blocks.ts';
import type { WaitingPerson } from '../../../contract/waiting.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { CommandLine, writeCommand } from '../parts/command-line.tsx';
import { Problem } from '../parts/problem.tsx';
import { Ago, Clock } from '../parts/time.tsx';

/** Shows those who wait to be admitted to a room, and those who are kept out. The room need not be open. */
export function Outside({ room }: { readonly room: string }) {
  return (
    <>
      <Waiting room={room} />
      <Blocks room={room} />
    </>
  );
}

/** Somebody who gives up causes no event. */
const REFRESH_MS = 10_000;

/** Shows who waits in the lobby; nothing while nobody does. */
function Waiting({ room }: { readonly room: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: KEYS.waiting(room),
    queryFn: () => client.waiting.list(room),
    refetchInterval: ({ state }) => (state.data?.waiting.length === 0 ? false : REFRESH_MS),
  });
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined || data.waiting.length === 0) return null;
  return (
    <Section
      title="Waiting"
      count={String(data.waiting.length)}
      command={writeCommand('rooms', 'waiting', room)}
      heads={['Name', 'Role', 'Since']}
      action={
        <ChangeButton
          className="primary"
          question={`Admit everybody who waits for ${room}?`}
          verb="Admit all"
          command={writeCommand('rooms', 'admit', room, '--all')}
          run={() => client.waiting.admitAll(room)}
        >
          <Check aria-hidden /> Admit all
        </ChangeButton>
      }
    >
      {data.waiting.map((person) => (
        <WaitingRow key={person.identity} room={room} person={person} />
      ))}
    </Section>
  );
}

type WaitingProps = { readonly room: string; readonly person: WaitingPerson };

function WaitingRow({ room, person: { identity, name, role, waitingSince } }: WaitingProps) {
  const called = name === '' ? identity : name;
  return (
    <tr>
      <th scope="row">
        <span className="name">{called}</span>
        {called !== identity && <code className="faint">{identity}</code>}
      </th>
      <td>{role}</td>
      <td>
        <Ago at={waitingSince} />
      </td>
      <td className="cell-actions">
        <ChangeButton
          label={`Admit ${called}`}
          question={`Admit ${called} to ${room}?`}
          verb="Admit"
          command={writeCommand('rooms', 'admit', room, identity)}
          run={() => client.waiting.admit({ room, identity })}
        >
          <Check aria-hidden /> Admit
        </ChangeButton>
        <ChangeButton
          label={`Deny ${called}`}
          question={`Deny ${called}?`}
          consequence="The person is told, and does not wait any longer."
          verb="Deny"
          isDestructive
          command={writeCommand('rooms', 'deny', room, identity)}
          run={() => client.waiting.deny({ room, identity })}
        >
          <X aria-hidden /> Deny
        </ChangeButton>
      </td>
    </tr>
  );
}

/** Rows of a page of the service's list; a user with more blocks uses the command. */
const SHOWN = 200;

/** A table of blocked identities and the ends of the blocks; nothing when it is empty. The room need not be open. */
function Blocks({ room }: { readonly room: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: KEYS.blocks(room),
    queryFn: () => client.blocks.list(room, { limit: SHOWN }),
  });
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined || data.blocks.length === 0) return null;
  const { blocks, nextCursor } = data;
  return (
    <Section
      title="Kept out"
      count={`${blocks.length}${nextCursor === null ? '' : '+'}`}
      command={writeCommand('blocks', 'list', room)}
      heads={['Identity', 'Until', 'Since']}
    >
      {blocks.map((block) => (
        <BlockRow key={block.identity} room={room} block={block} />
      ))}
    </Section>
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
          question={`Let ${identity} into ${room} again?`}
          consequence="The identity gets tokens, and may join with those that are still valid."
          verb="Let in"
          command={writeCommand('blocks', 'remove', room, identity)}
          run={() => client.blocks.remove(room, identity)}
        >
          <DoorOpen aria-hidden /> Let in
        </ChangeButton>
      </td>
    </tr>
  );
}

type SectionProps = {
  readonly title: string;
  readonly count: string;
  readonly command: string;
  readonly heads: readonly string[];
  readonly action?: ReactNode;
  readonly children: ReactNode;
};

/** A titled table, whose last column has the actions of a row. */
function Section({ title, count, command, heads, action, children }: SectionProps) {
  const id = `${title.replace(' ', '-').toLowerCase()}-title`;
  return (
    <section aria-labelledby={id}>
      <div className="section-head">
        <h2 id={id}>
          {title} <span className="count">{count}</span>
        </h2>
        <CommandLine command={command} />
        {action}
      </div>
      <div className="plain-scroll">
        <table className="plain">
          <thead>
            <tr>
              {heads.map((head) => (
                <th scope="col" key={head}>
                  {head}
                </th>
              ))}
              <th scope="col">
                <span className="sr-only">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
    </section>
  );
}
