import type { DevAddOn, WorkerKind } from './choices.ts';
import type { Hint } from './hint.ts';
import type { RoomClosing } from './plans.ts';

/*
 * Types of what the command line gives the server's parts and gets from them. The command line does not import the server: the
 * launcher, which the compiler does not check, brings both together. So both take their types from here.
 */

/** `rtc worker`: resolves when the worker has closed after `signal`. */
export type WorkerOptions = { readonly kind: WorkerKind; readonly signal: AbortSignal };

/** `rtc serve`: resolves when the service has closed after `signal`. */
export type ServeOptions = {
  /** Whether to only validate the settings, and that DATA_DIR can be used. */
  readonly check: boolean;
  /** Whether a new encryption key is made when secrets are stored, but the key file is lost. */
  readonly newKey: boolean;
  /** Override HOST and PORT. */
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly signal: AbortSignal;
};

/** `rtc dev`: resolves when everything that it started has closed after `signal`. */
export type DevOptions = Omit<ServeOptions, 'check'> & {
  readonly media: 'livekit' | 'embedded' | undefined;
  /** Required add-ons, whose errors end the server. Beside a real LiveKit the others are started too, if possible. */
  readonly with: readonly DevAddOn[];
  /** Add-ons that are not started. */
  readonly without: readonly DevAddOn[];
  /** Shows lines to the user during the start. */
  readonly progress: (line: string) => void;
  /** Shows the progress of a long step, replacing the previous text. */
  readonly status: (text: string) => void;
  /** Called once, when everything is ready. */
  readonly announce: (ready: DevReady) => Promise<void>;
};

export type DevReady = {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly areCredentialsNew: boolean;
  readonly dataDir: string;
  readonly media: {
    readonly kind: 'external' | 'livekit' | 'embedded';
    readonly url: string;
    readonly notes: readonly string[];
  };
  readonly addOns: {
    readonly running: readonly DevAddOn[];
    readonly absent: readonly AbsentAddOn[];
  };
};

/** An add-on that cannot run, and what it is missing. */
export type AbsentAddOn = {
  readonly name: DevAddOn;
  readonly reason: string;
  readonly hint: Hint | undefined;
};

/** News of the room, which `rtc rooms join` tells while it is there. */
export type RoomVisitNews =
  | {
      readonly type: 'joined';
      readonly room: string;
      readonly identity: string;
      readonly others: readonly string[];
    }
  | { readonly type: 'published'; readonly kind: 'audio' | 'video'; readonly trackSid: string }
  | { readonly type: 'participant_joined' | 'participant_left' | 'heard'; readonly identity: string }
  | ({ readonly type: 'closing' } & RoomClosing)
  | { readonly type: 'waiting' | 'reconnecting' | 'reconnected' };

/** Why the participant is no longer in the room. */
export type RoomVisitEnd =
  | 'stopped'
  | 'played'
  | 'room-closed'
  | 'removed'
  | 'denied'
  | 'replaced'
  | 'disconnected';

export type ModelInstallation = {
  readonly from: string | undefined;
  readonly acceptUnverified: boolean;
  readonly onProgress: (line: string) => void;
  readonly onBytes: (progress: { readonly received: number; readonly total: number | undefined }) => void;
  readonly signal: AbortSignal;
};

/** A speech model that is installed or can be installed. */
export type SpeechModel = ModelFigures & {
  readonly name: string;
  /** `unverified`: the model is installed, but no published SHA-256 has verified its files. */
  readonly status: 'installed' | 'unverified' | 'installable';
  /** BCP 47. */
  readonly languages: readonly string[];
  readonly licence: string;
  readonly about: string;
  /** Size of the files to download on install; null when it is not known before. */
  readonly downloadBytes: number | null;
  /** Size of the installed files; null when it is unknown. */
  readonly diskBytes: number | null;
  /** Address of the publication that has the word error rates. */
  readonly accuracy: string;
  /** Whether a published SHA-256 proves the files. */
  readonly isVerifiable: boolean;
  /** Folder of the installed model; null when it is not installed. */
  readonly folder: string | null;
};

export type ModelFigures = {
  /** Memory of the loaded model at work, without the process around it. */
  readonly memoryBytes: number | null;
  readonly speed: ModelSpeed | null;
  readonly errorRates: readonly ErrorRate[];
};

export type ModelSpeed = {
  /** Seconds of recognition for each second of audio, with that many threads. */
  readonly realTimeFactor: number;
  readonly threads: number;
  /** Null when the source does not name it. */
  readonly machine: string | null;
  readonly source: string | null;
};

export type ErrorRate = {
  readonly percent: number;
  /** `words or characters` when the source states only that the unit depends on the language. */
  readonly unit: 'words' | 'characters' | 'words or characters';
  /** The set of recordings, with its language where the model has several. */
  readonly test: string;
  readonly source: string;
};

/** Numbers of what `rtc admin reencrypt` encrypted with the first key. */
export type Reencryption = {
  readonly webhooks: number;
  readonly apiKeys: number;
  /** Number of rows whose secrets no key of ENCRYPTION_KEY decrypts. */
  readonly lost: number;
  /** Number of running instances that have announced that they have the key. */
  readonly instances: number;
};

export type Backup = {
  readonly folder: string;
  readonly sizeBytes: number;
  /** Whether the webhook secrets are encrypted with a key in a file, or in a setting. */
  readonly key: 'file' | 'setting';
};

export type Restoration = {
  readonly dataDir: string;
  /** When the backup was made. */
  readonly createdAt: string;
  readonly key: 'file' | 'setting';
  /** Existing files that were renamed, by their new names. */
  readonly keptAside: readonly string[];
};
