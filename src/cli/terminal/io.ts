import type { Readable, Writable } from 'node:stream';
import type {
  Backup,
  DevOptions,
  ModelInstallation,
  Reencryption,
  Restoration,
  RoomVisitEnd,
  RoomVisitNews,
  ServeOptions,
  SpeechModel,
  WorkerOptions,
} from '../../contract/launcher.ts';

/**
 * The process's streams, environment and signals, as a command sees them. Tests pass their own; nothing in src/cli
 * reads `process`.
 */
export type Io = {
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  readonly env: Environment;
  readonly workingDirectory: string;
  /** The launcher's own file, to call it where `rtc` is not installed. */
  readonly launcher: string;
  readonly processId: number;
  readonly runtime: { readonly node: string; readonly platform: string; readonly arch: string };
  /** Aborted by Ctrl-C and by a request to terminate. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** The parts of the process that a command needs to draw on the whole terminal. */
  readonly processControl: ProcessControl;
  /** The server's parts, which the CLI never imports. The launcher knows where they are. */
  readonly loaders: ServiceLoaders;
};

export type ProcessControl = {
  /** Returns a function that removes the listener. */
  onSignal(signal: 'SIGTSTP' | 'SIGCONT', listener: () => void): () => void;
  /** Called when the process ends, except by SIGKILL. */
  onExit(listener: () => void): () => void;
  /** Stops the process, and those that a shell started with it, until it is continued. */
  stop(): void;
};

export type Environment = Readonly<Record<string, string | undefined>>;

export type TerminalStream = Writable & {
  /** The file descriptor of a stream of the process. */
  readonly fd?: number;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** Columns of a terminal. A terminal without a size (a container's, a serial line) reports 0. */
export function countColumns({ columns }: TerminalStream): number {
  return columns === undefined || columns === 0 ? 80 : columns;
}

/** Columns of the help text: wider lines are hard to read. */
export function helpWidth({ stdout }: Io): number {
  return Math.min(stdout.columns || 100, 110);
}

export type ServiceLoaders = {
  readonly serve: () => Promise<{
    serve(options: ServeOptions): Promise<unknown>;
    /** The effective settings by variable name, secrets masked; unset ones are empty. */
    readSettings(options: Pick<ServeOptions, 'host' | 'port'>): Readonly<Record<string, string>>;
  }>;
  readonly dev: () => Promise<{ dev(options: DevOptions): Promise<unknown> }>;
  readonly worker: () => Promise<{ runWorker(options: WorkerOptions): Promise<unknown> }>;
  readonly roomClient: () => Promise<RoomClient>;
  readonly stt: () => Promise<SpeechModels>;
  readonly admin: () => Promise<ServiceAdmin>;
  /** The bill of materials of the build in CycloneDX format. */
  readonly bundled: () => Promise<BillOfMaterials>;
};

export type BillOfMaterials = {
  readonly components: readonly {
    readonly group?: string;
    readonly name: string;
    readonly version: string;
    readonly licenses: readonly (
      | { readonly expression: string }
      | { readonly license: { readonly id: string } }
    )[];
  }[];
};

/** `rtc admin`: the database of the service on this machine. */
export type ServiceAdmin = {
  backup(folder: string): Promise<Backup>;
  restore(folder: string): Promise<Restoration>;
  /** Migrates into the PostgreSQL database of that address, or of DATABASE_URL. */
  migrate(to: string | undefined): Promise<Migration>;
  /** Confirms that the clock of this machine is right. */
  confirmClock(): Promise<{ readonly confirmedAt: string }>;
  /** Encrypts every stored secret with the first key of ENCRYPTION_KEY. */
  reencrypt(): Promise<Reencryption>;
  /** Creates folders and the files of LiveKit's workers, and starts missing workers. */
  fix(missing: readonly MediaWorkerKind[], signal: AbortSignal): Promise<readonly Repair[]>;
};

export type MediaWorkerKind = 'egress' | 'ingress';

export type Repair = {
  readonly subject: string;
  readonly status: 'done' | 'unchanged' | 'not done';
  readonly detail: string;
  /** The next step for the user; empty when there is none. */
  readonly next: string;
};

export type Migration = {
  readonly tables: readonly MigratedTable[];
  readonly dataDir: string;
  readonly key: 'file' | 'setting';
};

export type MigratedTable = {
  readonly table: string;
  readonly rows: number;
  /** The sum of the SHA-256 of every row, as 64 hexadecimal digits; the same on both sides. */
  readonly checksum: string;
};

/** `rtc rooms join`: a participant without a browser. */
export type RoomClient = { visitRoom(options: RoomVisit): Promise<RoomVisitEnd> };

export type RoomVisit = {
  readonly publication: RoomPublication | undefined;
  /** Whether the published media starts again at its end. */
  readonly isLooped: boolean;
  /** A WAV file that does not exist yet, or a stream. */
  readonly listenTo: string | Writable | undefined;
  readonly signal: AbortSignal;
  readonly onNews: (news: RoomVisitNews) => void;
  /** Called when everything else is ready. */
  readonly issueToken: () => Promise<RoomVisitToken>;
};

/** `waiting`: it leads into the waiting room. */
export type RoomVisitToken = {
  readonly url: string;
  readonly token: string;
  readonly waiting?: boolean;
};

export type RoomPublication =
  | { readonly kind: 'test-pattern'; readonly parts: readonly ('audio' | 'video')[] }
  | { readonly kind: 'file'; readonly path: string }
  | {
      readonly kind: 'stdin';
      readonly stream: Readable;
      /** The format of samples without a header. */
      readonly raw: { readonly sampleRate: number; readonly channels: number };
    };

/** `rtc stt`: the speech models of this machine. */
export type SpeechModels = {
  listModels(): readonly SpeechModel[];
  /** Returns the folder. */
  install(name: string, installation: ModelInstallation): Promise<string>;
};

/** Returns whether there is a terminal on both ends, and no variable that turns prompts off. */
export function canPrompt(io: Io): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY === true && !isTurnedOn(io.env.CI);
}

/** Returns whether the value of a variable turns something on. CI=false, CI=0 and an empty CI do not. */
export function isTurnedOn(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value.toLowerCase());
}
