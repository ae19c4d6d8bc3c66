import { Plus, ShieldOff } from 'lucide-react';
import { Link } from 'wouter';
import { SCOPE_MEANINGS, SCOPES, type Scope } from '../../../contract/choices.ts';
import { type Key, type KeyCreate, OWN_LIMITS } from '../../../contract/keys.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { askForDraft, ChangeButton } from '../parts/changes.tsx';
import { CommandLine, Secret, writeCommand } from '../parts/command-line.tsx';
import { CellButton, type TableColumn } from '../parts/data-table.tsx';
import { Boxes, TextField } from '../parts/fields.tsx';
import type { Cells } from '../parts/find-and-save.tsx';
import { Details, ListView } from '../parts/list-view.tsx';
import { Status } from '../parts/status.tsx';
import { Ago, Clock } from '../parts/time.tsx';

const PAGE_SIZE = 100;

/** The API keys beside the root key. Only the root key may see them. */
export function ApiKeys() {
  return (
    <ListView
      title="API keys"
      what="keys"
      command="rtc keys list"
      actions={<CreateKey />}
      queryKey={KEYS.keys()}
      read={(cursor) => client.keys.list({ limit: PAGE_SIZE, cursor })}
      items={({ keys }) => keys}
      columns={COLUMNS}
      cells={CELLS}
      getId={({ id }) => id}
      empty={{
        title: 'There is only the root key',
        text: 'Give each program a key of its own: with the scopes that it needs, for the rooms that it needs.',
      }}
      panel={(key) => ({ title: key.name, children: <KeyDetails apiKey={key} /> })}
    />
  );
}

function describeRooms({ rooms }: Pick<Key, 'rooms'>): string {
  return rooms === null ? 'All' : rooms.map((prefix) => `${prefix}*`).join(', ');
}

const LIMIT_WORDS: Readonly<Record<(typeof OWN_LIMITS)[number], string>> = {
  webhooks: 'Webhooks',
  plans: 'Plans',
  rooms: 'Open rooms at once',
  participants: 'People at once',
  minutesPerMonth: 'Participant minutes a month',
  requestsPerSecond: 'Requests a second',
};

function KeyStatus({ status }: Pick<Key, 'status'>) {
  return <Status tone={status === 'active' ? 'good' : 'neutral'}>{status}</Status>;
}

/** The service knows it to the minute. */
function LastUse({ lastUsedAt }: Pick<Key, 'lastUsedAt'>) {
  return lastUsedAt === null ? <span className="faint">Never</span> : <Ago at={lastUsedAt} />;
}

function KeyDetails({ apiKey }: { readonly apiKey: Key }) {
  const { id, scopes, status, limits, createdAt, expiresAt, revokedAt, lastUsedAt } = apiKey;
  return (
    <>
      <Details
        rows={{
          State: <KeyStatus status={status} />,
          Key: <code>{id}</code>,
          Scopes: scopes.join(', '),
          Rooms: describeRooms(apiKey),
          Created: <Clock at={createdAt} />,
          Expires: expiresAt === null ? 'Never' : <Clock at={expiresAt} />,
          Revoked: revokedAt === null ? undefined : <Clock at={revokedAt} />,
          'Last used': <LastUse lastUsedAt={lastUsedAt} />,
        }}
      />
      <h3>Limits of its own</h3>
      {limits === null && <p className="faint">None beside those of the service.</p>}
      {limits !== null && (
        <Details
          rows={Object.fromEntries(
            OWN_LIMITS.map((limit) => [LIMIT_WORDS[limit], limits[limit]?.toLocaleString()]),
          )}
        />
      )}
      <div className="actions">
        <Link className="button" href={`/audit?key=${encodeURIComponent(id)}`}>
          Its requests
        </Link>
        <Link className="button" href="/usage?by=key">
          Usage by key
        </Link>
        <RevokeButton apiKey={apiKey} />
      </div>
      <CommandLine command={writeCommand('keys', 'get', id)} />
    </>
  );
}

function RevokeButton({ apiKey: { id, name, status } }: { readonly apiKey: Key }) {
  return (
    <ChangeButton
      className="danger-quiet"
      isDisabled={status === 'revoked'}
      question={`Revoke the key ${name}?`}
      consequence="What signs with it is refused at once, on every instance. This cannot be undone."
      verb="Revoke the key"
      isDestructive
      command={writeCommand('keys', 'revoke', id)}
      run={() => client.keys.revoke(id)}
    >
      <ShieldOff aria-hidden /> Revoke
    </ChangeButton>
  );
}

/** The texts in the fields of a new key. */
type Draft = {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Beginnings of names of rooms, with commas between them. */
  readonly prefixes: string;
  readonly days: string;
  readonly limits: Readonly<Record<(typeof OWN_LIMITS)[number], string>>;
};

const EMPTY: Draft = {
  name: '',
  scopes: ['read'],
  prefixes: '',
  days: '',
  limits: {
    webhooks: '',
    plans: '',
    rooms: '',
    participants: '',
    minutesPerMonth: '',
    requestsPerSecond: '',
  },
};

function CreateKey() {
  return (
    <ChangeButton
      className="primary"
      action="create"
      question="Create an API key"
      verb="Create"
      {...askForDraft({
        initial: EMPTY,
        writeCommand: toCommand,
        fields: (draft, change) => <KeyFields draft={draft} onChange={change} />,
        run: async (draft) => {
          const { id, secret = '' } = await client.keys.create(toKey(draft));
          return (
            <>
              <p>
                The key is <code>{id}</code>.
              </p>
              <Secret secret={secret} />
            </>
          );
        },
      })}
    >
      <Plus aria-hidden /> Create a key
    </ChangeButton>
  );
}

function splitPrefixes(prefixes: string): readonly string[] {
  return prefixes.split(/[\s,]+/).filter((prefix) => prefix !== '');
}

const SECONDS_PER_DAY = 86_400;

function toKey({ name, scopes, prefixes, days, limits }: Draft): KeyCreate {
  const rooms = splitPrefixes(prefixes);
  const given = OWN_LIMITS.filter((limit) => limits[limit] !== '');
  return {
    name,
    scopes: [...scopes],
    ...(rooms.length === 0 ? {} : { rooms: [...rooms] }),
    ...(days === '' ? {} : { ttl: Number(days) * SECONDS_PER_DAY }),
    ...(given.length === 0
      ? {}
      : { limits: Object.fromEntries(given.map((limit) => [limit, Number(limits[limit])])) }),
  };
}

function toCommand({ name, scopes, prefixes, days, limits }: Draft): string {
  return writeCommand(
    ...['keys', 'create', name === '' ? 'NAME' : name],
    ...scopes.flatMap((scope) => ['--scope', scope]),
    ...splitPrefixes(prefixes).flatMap((prefix) => ['--rooms', prefix]),
    ...OWN_LIMITS.flatMap((limit) => (limits[limit] === '' ? [] : ['--limit', `${limit}=${limits[limit]}`])),
    ...(days === '' ? [] : ['--valid-for', `${days}d`]),
  );
}

type FieldsProps = { readonly draft: Draft; readonly onChange: (changed: Partial<Draft>) => void };

function KeyFields({ draft: { name, scopes, prefixes, days, limits }, onChange }: FieldsProps) {
  return (
    <>
      <TextField
        label="Name"
        value={name}
        required
        placeholder="booking back end"
        onChange={(text) => onChange({ name: text })}
      />
      <Boxes
        legend="What it may do"
        choices={SCOPES}
        chosen={scopes}
        hint={(scope) => SCOPE_MEANINGS[scope]}
        onChange={(chosen) => onChange({ scopes: chosen })}
      />
      <TextField
        label="Only rooms whose names begin so, with commas between"
        value={prefixes}
        placeholder="acme-"
        onChange={(text) => onChange({ prefixes: text })}
      />
      <div className="fields">
        <TextField
          type="number"
          min={1}
          label="Valid for days"
          placeholder="until it is revoked"
          value={days}
          onChange={(value) => onChange({ days: value })}
        />
        {OWN_LIMITS.map((limit) => (
          <TextField
            key={limit}
            type="number"
            min={1}
            label={LIMIT_WORDS[limit]}
            placeholder="as the service"
            value={limits[limit]}
            onChange={(value) => onChange({ limits: { ...limits, [limit]: value } })}
          />
        ))}
      </div>
    </>
  );
}

const COLUMNS: readonly TableColumn<Key>[] = [
  {
    heading: 'Name',
    width: 'minmax(7rem, 2fr)',
    sortBy: ({ name }) => name,
    cell: ({ name }) => <CellButton>{name}</CellButton>,
  },
  {
    heading: 'State',
    width: 'minmax(5.5rem, 0.7fr)',
    sortBy: ({ status }) => status,
    cell: ({ status }) => <KeyStatus status={status} />,
  },
  {
    heading: 'Scopes',
    width: 'minmax(7rem, 1.6fr)',
    cell: ({ scopes }) => <span title={scopes.join(', ')}>{scopes.join(', ')}</span>,
  },
  {
    heading: 'Rooms',
    width: 'minmax(5rem, 1fr)',
    isSecondary: true,
    cell: (key) => <span title={describeRooms(key)}>{describeRooms(key)}</span>,
  },
  {
    heading: 'Limits',
    width: 'minmax(6rem, 1fr)',
    isSecondary: true,
    cell: ({ limits }) =>
      limits === null ? (
        <span className="faint">—</span>
      ) : (
        OWN_LIMITS.filter((limit) => limits[limit] !== undefined)
          .map((limit) => `${limit} ${limits[limit]?.toLocaleString()}`)
          .join(', ')
      ),
  },
  {
    heading: 'Expires',
    width: 'minmax(6rem, 0.8fr)',
    isSecondary: true,
    cell: ({ expiresAt }) => (expiresAt === null ? 'Never' : <Ago at={expiresAt} />),
  },
  {
    heading: 'Last used',
    width: 'minmax(6.5rem, 0.8fr)',
    sortBy: ({ lastUsedAt }) => lastUsedAt ?? '',
    cell: LastUse,
  },
];

const CELLS: Cells<Key> = {
  key: ({ id }) => id,
  name: ({ name }) => name,
  scopes: ({ scopes }) => scopes.join(' '),
  rooms: describeRooms,
  state: ({ status }) => status,
  created: ({ createdAt }) => createdAt,
  expires: ({ expiresAt }) => expiresAt,
  used: ({ lastUsedAt }) => lastUsedAt,
};
