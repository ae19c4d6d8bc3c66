import type { Key, OwnKey } from '../../../contract/keys.ts';
import type { Column } from '../../terminal/result.ts';

export const KEY_FIELDS = [
  'id',
  'name',
  'scopes',
  'status',
  'createdAt',
  'expiresAt',
  'revokedAt',
  'secret',
] as const satisfies readonly (keyof Key)[];

type Shown = Pick<Key, 'id' | 'name' | 'scopes' | 'expiresAt'>;

const ID: Column<Shown> = { heading: 'ID', value: ({ id }) => id };
const NAME: Column<Shown> = { heading: 'NAME', value: ({ name }) => name, paint: 'name' };
const SCOPES: Column<Shown> = { heading: 'SCOPES', value: ({ scopes }) => scopes.join(',') };
const EXPIRES: Column<Shown> = {
  heading: 'EXPIRES',
  value: ({ expiresAt }) => (expiresAt === null ? 'never' : { instantMs: Date.parse(expiresAt) }),
};
const STATUS: Column<Key> = {
  heading: 'STATUS',
  value: ({ status }) => status,
  paint: ({ status }) => (status === 'active' ? 'good' : 'faint'),
};

export const KEY_LIST: readonly Column<Key>[] = [ID, NAME, SCOPES, STATUS, EXPIRES];

export const KEY_RECORD: readonly Column<Key>[] = [
  ...KEY_LIST,
  { heading: 'CREATED', value: ({ createdAt }) => ({ instantMs: Date.parse(createdAt) }) },
  {
    heading: 'REVOKED',
    value: ({ revokedAt }) => (revokedAt === null ? undefined : { instantMs: Date.parse(revokedAt) }),
  },
];

export const NEW_KEY: readonly Column<Key>[] = [
  ID,
  { heading: 'SECRET', value: ({ secret }) => secret },
  NAME,
  SCOPES,
  EXPIRES,
];

export const OWN_KEY: readonly Column<OwnKey>[] = [ID, NAME, SCOPES, EXPIRES];
