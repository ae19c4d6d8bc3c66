/*
 * The lists of allowed values that a client needs at run time. They are separate from the schemas, so that programs that only
 * offer a choice do not load TypeBox.
 */

export const ROLES = ['host', 'moderator', 'participant', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** Whether a session of a room still runs. */
export const SESSION_STATUSES = ['open', 'ended'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** The roles that the holder of a role may give to others on the page of a room, the most usual first. */
export const INVITABLE_ROLES: Readonly<Record<Role, readonly Role[]>> = {
  host: ['participant', 'viewer', 'moderator', 'host'],
  moderator: ['participant', 'viewer'],
  participant: [],
  viewer: [],
};

/** The groups into which usage is added up. */
export const USAGE_GROUPS = ['day', 'month', 'room', 'prefix', 'key'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Formats in which a transcript can be read. */
export const TRANSCRIPT_FORMATS = ['json', 'text', 'md', 'vtt', 'srt'] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

export const POST_STATUSES = ['queued', 'processing', 'completed', 'failed'] as const;
export type PostStatus = (typeof POST_STATUSES)[number];

/** Kinds of transcription workers, which are add-ons of the service. */
export const WORKER_KINDS = ['stt-live', 'stt-post'] as const;
export type WorkerKind = (typeof WORKER_KINDS)[number];

/** Add-ons that `rtc dev` can start beside the service and its media server. */
export const DEV_ADD_ONS = [...WORKER_KINDS, 'recorder'] as const;
export type DevAddOn = (typeof DEV_ADD_ONS)[number];

export const INGRESS_TYPES = ['rtmp', 'whip'] as const;
export type IngressType = (typeof INGRESS_TYPES)[number];

/** How LiveKit sends data to clients. */
export const DATA_KINDS = ['reliable', 'lossy'] as const;
export type DataKind = (typeof DATA_KINDS)[number];

export const DATA_ENCODINGS = ['text', 'base64'] as const;

/** Sources of a track, as LiveKit names them. */
export const TRACK_SOURCES = ['microphone', 'camera', 'screen_share', 'screen_share_audio'] as const;
export type TrackSourceName = (typeof TRACK_SOURCES)[number];

/** Layouts of LiveKit's recorder. */
export const RECORDING_LAYOUTS = ['grid', 'speaker', 'single-speaker'] as const;
export type RecordingLayout = (typeof RECORDING_LAYOUTS)[number];

/** Resolutions and frame rates of LiveKit's recorder, by LiveKit's names. */
export const RECORDING_PRESETS = [
  'H264_720P_30',
  'H264_720P_60',
  'H264_1080P_30',
  'H264_1080P_60',
  'PORTRAIT_H264_720P_30',
  'PORTRAIT_H264_720P_60',
  'PORTRAIT_H264_1080P_30',
  'PORTRAIT_H264_1080P_60',
] as const;
export type RecordingPreset = (typeof RECORDING_PRESETS)[number];

/** Scopes of an API key. */
export const SCOPES = ['read', 'tokens', 'rooms', 'ingress', 'recordings', 'webhooks', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** A description of each scope. */
export const SCOPE_MEANINGS: Readonly<Record<Scope, string>> = {
  read: 'read rooms, participants, sessions, recordings, transcripts, webhooks and events, and downloads; no stream keys, no audit log',
  tokens: 'issue and renew access tokens, and nothing else',
  rooms: 'open, change and close rooms; tokens, participants, blocks, data; no stream keys',
  ingress: 'create, list and delete endpoints for streams, with their stream keys',
  recordings: 'start, stop, read and delete recordings and transcriptions',
  webhooks: 'register, change and delete webhooks, their deliveries and replays, and thereby all events',
  admin: 'everything that the others allow, the audit log and the self-check; no API keys',
};

/** Results of a request that would change something: 2xx and 3xx, 4xx, 5xx. */
export const AUDIT_RESULTS = ['done', 'refused', 'failed'] as const;
export type AuditResult = (typeof AUDIT_RESULTS)[number];

/** The topic of the data with which somebody who waits gets the token of the room. */
export const ADMITTED_TOPIC = 'rtc.admitted';

/** The topic of the data that clients in a room get before the room is closed. */
export const CLOSING_TOPIC = 'rtc.closing';

/** Maximum of the durations of plans: a year. */
export const MAX_PLAN_SECONDS = 31_536_000;

/** Maximum size of a plan as JSON text, because every instance keeps all plans in memory. */
export const MAX_PLAN_BYTES = 32_768;

/** When something that is planned starts by itself. */
export const PLAN_TRIGGERS = ['firstJoin', 'firstPublish', 'role:host'] as const;
export type PlanTrigger = (typeof PLAN_TRIGGERS)[number];

/** The kinds of work that a plan starts. */
export const PLANNED_STARTS = ['recording', 'transcription'] as const;

/** Why a plan closed a room. */
export const CLOSE_REASONS = ['closes_at', 'max_duration', 'solo_timeout'] as const;
export type CloseReason = (typeof CLOSE_REASONS)[number];
