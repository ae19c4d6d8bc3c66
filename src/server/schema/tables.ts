import type { ColumnType, GeneratedAlways } from 'kysely';
import type { ApiKey, AuditRecord, IdempotentRequest } from '../access/store.ts';
import type {
  FanOut,
  ParticipantSession,
  PublishedTrack,
  RoomSession,
  StoredEvent,
} from '../events/store.ts';
import type { Connection as StorageConnection } from '../platform/storage/engine.ts';
import type { Numbered } from '../platform/storage/row-cache.ts';
import type { Recording } from '../recordings/store.ts';
import type {
  Block,
  EntryDecision,
  PlannedRoom,
  PlannedStart,
  PlanRecord,
  RoomRecord,
} from '../rooms/store.ts';
import type { StoredSegment, Transcription } from '../transcription/store.ts';
import type { TurnListenerRow, TurnRow, TurnSoundRow } from '../transcription/turns/store.ts';
import type { Delivery, Webhook } from '../webhooks/store.ts';

/** The database, or one of its transactions, for the methods of a store. */
export type Connection = StorageConnection<Tables>;

/**
 * The tables that the query layer names; statements in text also use parcels, instances, leases and usage. Columns have the
 * names of the records' fields, so that rows need no mapping.
 */
export type Tables = {
  readonly rtcMigrations: MigrationRow;
  readonly recordings: Recording;
  readonly events: StoredEvent;
  readonly counters: CounterRow;
  readonly fanOuts: FanOut;
  readonly roomSessions: RoomSessionRow;
  readonly participantSessions: ParticipantSession;
  readonly publishedTracks: PublishedTrack;
  readonly webhooks: WebhookRow;
  readonly deletedWebhooks: DeletedWebhookRow;
  readonly deliveries: DeliveryRow;
  readonly comparisons: ComparisonRow;
  readonly blocks: BlockRow;
  readonly rooms: Numbered<RoomRecord>;
  readonly plans: Numbered<PlanRecord>;
  readonly plannedRooms: PlannedRoom;
  readonly entryDecisions: EntryDecision;
  readonly plannedStarts: PlannedStart;
  readonly idempotentRequests: IdempotentRequest;
  readonly apiKeys: ApiKeyRow;
  readonly auditEntries: AuditRow;
  readonly transcriptions: TranscriptionRow;
  readonly segments: SearchedSegmentRow;
  readonly segmentLanguages: { readonly language: string };
  readonly interimSegments: InterimSegmentRow;
  readonly speechWorkers: SpeechWorkerRow;
  readonly turns: TurnRow;
  readonly turnListeners: TurnListenerRow;
  readonly turnSounds: TurnSoundRow;
  readonly vocabularies: VocabularyRow;
};

/** `scopes` is a list as JSON text. */
export type ApiKeyRow = Omit<ApiKey, 'scopes' | 'rooms' | 'limits'> & {
  readonly scopes: string;
  readonly rooms: string | null;
  readonly limits: string | null;
};

/** `ids` is an object as JSON text. */
export type AuditRow = Omit<AuditRecord, 'ids'> & { readonly ids: string };

type MigrationRow = {
  readonly name: string;
  readonly appliedAt: number;
};

type CounterRow = {
  readonly name: string;
  readonly value: number;
};

/** `events` is a list as JSON text. */
export type WebhookRow = Omit<Webhook, 'events' | 'rooms'> & {
  readonly events: string;
  readonly rooms: string | null;
};

/** A deleted webhook, kept while rows of it may remain or may still be written by an earlier transaction. */
type DeletedWebhookRow = {
  readonly id: string;
  readonly deletedAt: number;
};

/**
 * `log` is a list as JSON text, null before the first attempt. The database computes `claimableAt`: dueAt, or the end of the
 * lease when that is later.
 */
type DeliveryRow = Delivery & {
  readonly log: string | null;
  readonly claimableAt: GeneratedAlways<number>;
};

/** `settleAt` is when its usage is computed next; null when it has ended and that is done; negative during its purge. */
type RoomSessionRow = RoomSession & { readonly settleAt: number | null };

type ComparisonRow = {
  readonly name: string;
  /** The instance that makes the comparison; null when there is none. */
  readonly owner: string | null;
  readonly leaseUntil: number;
  /** Number of the comparison that was begun last. */
  readonly number: number;
  readonly completed: number;
};

/** `createdBy` is the id of the key that made it. */
type BlockRow = Numbered<Block> & { readonly createdBy: string };

/** `terms` is a list as JSON text. */
type VocabularyRow = { readonly room: string; readonly terms: string; readonly createdBy: string };

/** `speakers` and `options` are objects as JSON text. */
export type TranscriptionRow = Omit<Transcription, 'speakers' | 'options'> & {
  readonly speakers: string;
  readonly options: string;
};

/** `words` is a list as JSON text. */
export type SegmentRow = Omit<StoredSegment, 'words'> & {
  readonly transcriptionId: string;
  readonly words: string | null;
};

/** `searchTerms` is a column of PostgreSQL; SQLite has its index in a table of its own. */
type SearchedSegmentRow = SegmentRow & {
  readonly searchTerms: ColumnType<string, string | undefined, never>;
};

/** One row per track: its current interim result. */
type InterimSegmentRow = SegmentRow & { readonly trackId: string; readonly updatedAt: number };

/** `languages` and `failedModels` are lists as JSON text. */
type SpeechWorkerRow = {
  readonly id: string;
  readonly kind: string;
  readonly languages: string;
  readonly failedModels: string;
  readonly aliveUntil: number;
};
