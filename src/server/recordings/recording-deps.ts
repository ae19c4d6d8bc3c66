import type { Clock, IdGenerator } from '../platform/clock.ts';
import type { BucketSettings, MediaServer } from '../platform/livekit/media-server.ts';
import type { MediaWorkers } from '../platform/livekit/media-workers.ts';
import type { Log } from '../platform/log.ts';
import type { FoundEnd } from './apply-egress-state.ts';
import type { RecordingStorage } from './files/recording-storage.ts';
import type { RecordingStores } from './store.ts';

export type RecordingDeps = {
  readonly mediaServer: MediaServer;
  readonly mediaWorkers: MediaWorkers;
  readonly recordingStorage: Pick<RecordingStorage, 'makeReady'>;
  readonly store: Pick<RecordingStores, 'recordings'>;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly log: Log;
  /** This process among the instances: the owner of its claims. */
  readonly instanceId: string;
  readonly recordings: {
    readonly bucket: BucketSettings | undefined;
    /** Folder of the recorder's own file system, where there is no bucket. */
    readonly directory: string;
    readonly pathTemplate: string;
    /** How long a start waits for a recorder. */
    readonly patienceMs: number;
    /** Where the media server tells of an egress; known once the service listens. */
    readonly webhookUrl: () => string | undefined;
  };
  readonly onEnded?: ((end: FoundEnd) => Promise<void>) | undefined;
  /** Work that outlives its request; the service waits for it before it closes. */
  readonly background: (work: Promise<void>) => void;
};
