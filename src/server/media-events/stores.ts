import type { LeaseStore } from '../platform/storage/leases.ts';
import type { RecordingStores } from '../recordings/store.ts';
import type { RoomStores } from '../rooms/store.ts';
import type { TranscriptionStores } from '../transcription/store.ts';
import type { ComparisonStore } from './comparisons.ts';

/** The stores that the media server's events, and the comparison with the media server, read and write. */
export interface MediaEventStores extends RecordingStores, TranscriptionStores, RoomStores {
  readonly leases: LeaseStore;
  readonly comparisons: ComparisonStore;
}
