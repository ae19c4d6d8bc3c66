import { join } from 'node:path';
import { formatBytes } from '../../contract/amounts.ts';
import type { Backup, Reencryption, Restoration } from '../../contract/launcher.ts';
import { codeOfError } from '../../contract/unknown-value.ts';
import { usageError } from '../errors/cli-error.ts';
import { exitCodeOfError } from '../errors/describe-error.ts';
import { startError } from '../errors/start-error.ts';
import { YES } from '../framework/common-options.ts';
import type { Context } from '../framework/context.ts';
import { argument, defineCommand, ofNoun, option } from '../framework/parameters.ts';
import { confirmOrRefuse } from '../framework/prompts.ts';
import type { MigratedTable, ServiceAdmin } from '../terminal/io.ts';
import { type Column, list, record } from '../terminal/result.ts';

const BACKUP_FIELDS = ['folder', 'sizeBytes', 'key'] as const satisfies readonly (keyof Backup)[];
const BACKUP_COLUMNS: readonly Column<Backup>[] = [
  { heading: 'FOLDER', value: ({ folder }) => folder, paint: 'name' },
  {
    heading: 'SIZE',
    value: ({ sizeBytes }) => sizeBytes,
    display: ({ sizeBytes }) => formatBytes(sizeBytes),
  },
  { heading: 'KEY', value: ({ key }) => key },
];

const backup = defineCommand({
  verb: 'backup',
  summary: 'Back up the database of the service on this machine',
  description:
    'Copies the SQLite database in DATA_DIR and the encryption key into a new folder that only its owner can read. The service may keep running. Recording files are not copied. Back up a PostgreSQL database with pg_dump, and restore it with pg_restore.',
  needs: 'nothing',
  fields: BACKUP_FIELDS,
  arguments: { folder: argument('folder to create', { completes: 'files' }) },
  examples: [
    { line: 'rtc admin backup /backups/rtc-monday', does: 'The database in .rtc' },
    {
      line: 'DATA_DIR=/var/lib/rtc rtc admin backup /backups/rtc-monday',
      does: 'The database in another folder',
    },
  ],
  async run(context, { folder }) {
    const made = await onThisMachine(context, (admin) => admin.backup(folder));
    return record(made, BACKUP_COLUMNS, {
      notes:
        made.key === 'setting'
          ? ['ENCRYPTION_KEY is not in it: keep it elsewhere, or the webhook secrets cannot be opened.']
          : ['It contains the webhook secrets and their key. Keep it where nobody else can read it.'],
    });
  },
});

const RESTORE_FIELDS = [
  'dataDir',
  'createdAt',
  'key',
  'keptAside',
] as const satisfies readonly (keyof Restoration)[];
const RESTORE_COLUMNS: readonly Column<Restoration>[] = [
  { heading: 'DATA DIR', value: ({ dataDir }) => dataDir, paint: 'name' },
  { heading: 'BACKUP OF', value: ({ createdAt }) => createdAt },
  { heading: 'KEPT ASIDE', value: ({ keptAside }) => keptAside.join(', ') || undefined },
];

const restore = defineCommand({
  verb: 'restore',
  summary: 'Replace the database by a backup',
  description:
    'Stop the service and its workers first; the command refuses to run while one has the database open. The present database is renamed, not deleted.',
  needs: 'nothing',
  fields: RESTORE_FIELDS,
  arguments: { folder: argument('folder that rtc admin backup made', { completes: 'files' }) },
  options: { yes: YES },
  examples: [
    { line: 'rtc admin restore /backups/rtc-monday', does: 'Asks first' },
    { line: 'rtc admin restore /backups/rtc-monday --yes', does: 'Without asking' },
  ],
  async run(context, { folder, yes }) {
    await confirmOrRefuse(context.prompter, {
      isSure: yes,
      what: 'restoring a backup',
      question: async () => `Replace the database by the backup in ${folder}?`,
    });
    const restored = await onThisMachine(context, (admin) => admin.restore(folder));
    return record(restored, RESTORE_COLUMNS, {
      notes: [
        ...(restored.key === 'setting'
          ? ['Start the service with the ENCRYPTION_KEY that it had at the time of the backup.']
          : []),
        'Deliveries that were waiting at the time of the backup are sent when the service starts.',
      ],
    });
  },
});

const TABLE_FIELDS = ['table', 'rows', 'checksum'] as const satisfies readonly (keyof MigratedTable)[];
const TABLE_COLUMNS: readonly Column<MigratedTable>[] = [
  { heading: 'TABLE', value: ({ table }) => table, paint: 'name' },
  { heading: 'ROWS', value: ({ rows }) => rows },
  {
    heading: 'CHECKSUM',
    value: ({ checksum }) => checksum,
    display: ({ checksum }) => checksum.slice(0, 12),
  },
];

const migrate = defineCommand({
  verb: 'migrate',
  summary: 'Copy the SQLite database into PostgreSQL',
  description:
    'Stop the service and its workers first. The command refuses to run while one has the SQLite database in DATA_DIR open, and if the PostgreSQL database is not empty. It reads back and compares every row before it commits: everything is copied, or nothing. The SQLite database is not changed.',
  needs: 'nothing',
  fields: TABLE_FIELDS,
  options: {
    to: option(
      '--to <url>',
      'address of the PostgreSQL database, DATABASE_URL by default; PGPASSWORD or ~/.pgpass has its password',
      addressWithoutPassword,
    ),
  },
  examples: [
    { line: 'rtc admin migrate --to postgres://rtc@db.example.org/rtc', does: 'The database in .rtc' },
    { line: 'DATABASE_URL_FILE=/run/secrets/url rtc admin migrate', does: 'To the address in a file' },
  ],
  async run(context, { to }) {
    const { tables, dataDir, key } = await onThisMachine(context, (admin) => admin.migrate(to));
    return list({
      response: { tables, dataDir, key },
      records: tables,
      identify: ({ table }) => table,
      columns: TABLE_COLUMNS,
      empty: 'no tables',
      notes: [
        'Both databases have the same rows.',
        key === 'setting'
          ? 'Start the service with DATABASE_URL and the ENCRYPTION_KEY that it had.'
          : `Start the service with DATABASE_URL and ENCRYPTION_KEY_FILE=${join(dataDir, 'encryption.key')}.`,
      ],
    });
  },
});

const confirmClock = defineCommand({
  verb: 'confirm-clock',
  summary: 'Confirm that the clock of this machine is right',
  description:
    'The service deletes nothing while the last deletion is more than a day ago, because a clock that is ahead would end every retention at once. After an outage it goes on by itself when the clock of LiveKit or of the database on another machine confirms the time; where all are on this machine, you do. Compare the clock first. While LiveKit’s clock or the database’s differs by more than five minutes, a confirmation would not help, and is refused: set the wrong clock. The service may keep running, and goes on within seconds.',
  needs: 'nothing',
  fields: ['confirmedAt'],
  options: { yes: YES },
  examples: [{ line: 'rtc admin confirm-clock', does: 'Shows the time, and asks first' }],
  async run(context, { yes }) {
    const now = new Date(context.io.clock()).toISOString();
    await confirmOrRefuse(context.prompter, {
      isSure: yes,
      what: 'confirming the clock',
      question: async () => `Is it ${now} now? What is past its retention at that time will be deleted.`,
    });
    const confirmed = await onThisMachine(context, (admin) => admin.confirmClock());
    return record(confirmed, [{ heading: 'CONFIRMED AT', value: ({ confirmedAt }) => confirmedAt }]);
  },
});

const REENCRYPTION_FIELDS = [
  'webhooks',
  'apiKeys',
  'lost',
  'instances',
] as const satisfies readonly (keyof Reencryption)[];
const REENCRYPTION_COLUMNS: readonly Column<Reencryption>[] = [
  { heading: 'WEBHOOKS', value: ({ webhooks }) => webhooks },
  { heading: 'API KEYS', value: ({ apiKeys }) => apiKeys },
  { heading: 'LOST', value: ({ lost }) => lost },
  { heading: 'INSTANCES', value: ({ instances }) => instances },
];

const reencrypt = defineCommand({
  verb: 'reencrypt',
  summary: 'Encrypt the stored secrets with the first ENCRYPTION_KEY',
  description:
    'The service does this by itself, a minute after all its instances have the new key in front. The command does it at once, with the settings of the service on this machine, also while the service is stopped. It refuses while a running instance has announced that it has another key in front.',
  needs: 'nothing',
  fields: REENCRYPTION_FIELDS,
  options: { yes: YES },
  examples: [
    { line: 'rtc admin reencrypt', does: 'Asks first' },
    { line: 'ENCRYPTION_KEY_FILE=/run/secrets/keys rtc admin reencrypt --yes', does: 'Keys in a file' },
  ],
  async run(context, { yes }) {
    await confirmOrRefuse(context.prompter, {
      isSure: yes,
      what: 'encrypting the stored secrets anew',
      question: async () =>
        'Does every running instance have the first key of this ENCRYPTION_KEY? One that has not cannot decrypt them.',
    });
    const done = await onThisMachine(context, (admin) => admin.reencrypt());
    return record(done, REENCRYPTION_COLUMNS, {
      notes: [
        done.lost === 0
          ? 'Every secret of a webhook and an API key is encrypted with the first key now.'
          : 'LOST ones are encrypted with none of these keys: give the webhooks new secrets, and programs new API keys.',
        `It proves nothing about instances that have announced no key; ${done.instances} announced this one.`,
      ],
    });
  },
});

/** Other users of the machine see the arguments of a process. */
function addressWithoutPassword(typed: string): string {
  const url = URL.parse(typed);
  if (url?.password === '' && !url.searchParams.has('password')) return typed;
  throw usageError(
    'must be postgres://user@host:5432/database without a password, as other users see the arguments of a process',
    'put the password into PGPASSWORD or ~/.pgpass',
  );
}

/** Ctrl-C does not interrupt the work: an error is its own. */
async function onThisMachine<T>({ io }: Context, work: (admin: ServiceAdmin) => Promise<T>): Promise<T> {
  try {
    return await work(await io.loaders.admin());
  } catch (error) {
    throw startError(error, { exitCode: exitCodeOfError(codeOfError(error) ?? '') });
  }
}

export const commands = ofNoun('admin', [backup, restore, migrate, confirmClock, reencrypt]);
