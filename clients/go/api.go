// Code generated from the OpenAPI document of rtc-service. DO NOT EDIT.

package rtc

import (
	"context"
	"iter"
	"net/http"
	"net/url"
)

// Health: The service runs, with these capabilities.
type Health struct {
	// Always ok; a service that does not run does not respond. One of ok.
	Status string `json:"status"`
	// Version of the service
	Version string `json:"version"`
	// What the running add-ons can do
	Capabilities HealthCapabilities `json:"capabilities"`
}

// HealthCapabilities: What the running add-ons can do.
type HealthCapabilities struct {
	// Whether a stt-live worker is running
	TranscriptionLive bool `json:"transcriptionLive"`
	// Whether a stt-post worker is running
	TranscriptionPost bool `json:"transcriptionPost"`
	// BCP 47 tags that the living workers transcribe
	Languages *HealthCapabilitiesLanguages `json:"languages,omitempty"`
	// Languages for which a living worker has a model that does not work; rtc doctor has the reason
	FailedLanguages *HealthCapabilitiesFailedLanguages `json:"failedLanguages,omitempty"`
}

// HealthCapabilitiesLanguages: BCP 47 tags that the living workers transcribe.
type HealthCapabilitiesLanguages struct {
	// Languages of live transcription
	Live []string `json:"live"`
	// Languages of the transcription of recordings
	Post []string `json:"post"`
}

// HealthCapabilitiesFailedLanguages: Languages for which a living worker has a model that does not work; rtc doctor
// has the reason.
type HealthCapabilitiesFailedLanguages struct {
	// Languages of live transcription
	Live []string `json:"live"`
	// Languages of the transcription of recordings
	Post []string `json:"post"`
}

// Readiness: Whether the service can do its work; 503 when it cannot.
type Readiness struct {
	// Whether everything that is needed responds
	Ready bool `json:"ready"`
	// The dependencies, one by one
	Checks ReadinessChecks `json:"checks"`
	// Since when this instance has rejected the media server's events because it could not store them; absent when no
	// event is missing
	EventsRefusedSince *string `json:"eventsRefusedSince,omitempty"`
	// Since when this instance deletes nothing whose retention has ended, because the clock may be wrong; absent
	// otherwise
	PurgeRefusedSince *string `json:"purgeRefusedSince,omitempty"`
	// Why: `pause`: the last deletion, or the newest event before it, is more than a day ago (correct the clock, or
	// confirm it: rtc admin confirm-clock); `database-clock`, `media-server-clock`: that clock differs from the
	// service’s by more than five minutes (set the wrong one; a confirmation does not help). One of pause,
	// database-clock, media-server-clock.
	PurgeRefusedBecause *string `json:"purgeRefusedBecause,omitempty"`
}

// ReadinessChecks: The dependencies, one by one.
type ReadinessChecks struct {
	// The media server responds and accepts our key
	MediaServer bool `json:"mediaServer"`
	// The database responds
	Database bool `json:"database"`
}

// SelfCheck: One check.
type SelfCheck struct {
	// Name of the check
	Check string `json:"check"`
	// note: something optional is missing, and nothing is wrong; unknown: the service cannot find out, and `next` may
	// describe how to. One of ok, note, warning, fault, unknown.
	Status string `json:"status"`
	// What was found
	Detail string `json:"detail"`
	// What to do; empty when nothing is needed
	Next string `json:"next"`
}

// SelfCheckList: Results of the service's checks of itself.
type SelfCheckList struct {
	// Every check
	Checks []SelfCheck `json:"checks"`
}

// TokenRequest: The person, the room and the role.
type TokenRequest struct {
	// Target room name. At most 256 bytes of UTF-8, no control characters.
	RoomID string `json:"roomId"`
	// Unique participant identity. At most 256 bytes of UTF-8, no control characters.
	UserID string `json:"userId"`
	// Display name. At most 256 bytes of UTF-8, no control characters.
	Name string `json:"name"`
	// Grants of the token: a host may do everything, also in LiveKit; a moderator and a participant publish and
	// subscribe; a viewer only subscribes. Hosts and moderators may mute others through your back end. One of host,
	// moderator, participant, viewer.
	Role string `json:"role"`
	// Attached to the participant as JSON text, at most 512 KiB
	Metadata map[string]any `json:"metadata,omitempty"`
	// Seconds until the token expires, at most MAX_TOKEN_TTL of the service (a day by default); default TOKEN_TTL (an
	// hour by default)
	Ttl *int64 `json:"ttl,omitempty"`
	// Limits a role that may publish to tracks of these sources; default: every source. One of microphone, camera,
	// screen_share, screen_share_audio.
	CanPublishSources []string `json:"canPublishSources,omitempty"`
}

// Token: What a participant needs to join a room.
type Token struct {
	// LiveKit access token (JWT), signed with the media server's key
	Token string `json:"token"`
	// WebSocket URL of the media server
	URL string `json:"url"`
	// The JWT's own exp
	ExpiresAt string `json:"expiresAt"`
	// True for a token that leads into the waiting room of a room with a lobby
	Waiting *bool `json:"waiting,omitempty"`
}

// PlannedRecording: Record each session of the room, with the fields of recording/start.
type PlannedRecording struct {
	// When it starts: at the first join, when the first track is published, or when somebody with the role host is
	// there; default firstJoin. One of firstJoin, firstPublish, role:host.
	At *string `json:"at,omitempty"`
	// Arrangement of the people: everyone in a grid, the speaker beside the others, or the speaker alone; default grid.
	// One of grid, speaker, single-speaker.
	Layout *string `json:"layout,omitempty"`
	// Record sound only, also into an MP4 file; default false
	AudioOnly *bool `json:"audioOnly,omitempty"`
	// Also keep each participant's speech, encrypted, until the recording is transcribed or for 7 days, so that the
	// transcript has everybody when people speak at once; needs a stt-live worker; default false
	RecordTracks *bool `json:"recordTracks,omitempty"`
	// Resolution and frames per second of the picture; default H264_720P_30. One of H264_720P_30, H264_720P_60,
	// H264_1080P_30, H264_1080P_60, PORTRAIT_H264_720P_30, PORTRAIT_H264_720P_60, PORTRAIT_H264_1080P_30,
	// PORTRAIT_H264_1080P_60.
	Preset *string `json:"preset,omitempty"`
}

// PlannedTranscription: Transcribe each session of the room live, with the fields of transcription/start.
type PlannedTranscription struct {
	// When it starts: at the first join, when the first track is published, or when somebody with the role host is
	// there; default firstJoin. One of firstJoin, firstPublish, role:host.
	At *string `json:"at,omitempty"`
	// BCP 47, or auto when a model detects the spoken language; default en-US
	Language *string `json:"language,omitempty"`
	// Track id or identity to speaker name
	Participants map[string]string `json:"participants,omitempty"`
	// How to transcribe
	Options *PlannedTranscriptionOptions `json:"options,omitempty"`
}

// PlannedTranscriptionOptions: How to transcribe.
type PlannedTranscriptionOptions struct {
	// Interim results in captions, and at the end of the returned segments; default false
	PartialResults *bool `json:"partialResults,omitempty"`
	// Send captions to everyone in the room (text streams on lk.transcription); default true
	Captions *bool `json:"captions,omitempty"`
	// Punctuation and capitals; default true
	Punctuation *bool `json:"punctuation,omitempty"`
	// Mask profanity with asterisks; default false
	ProfanityFilter *bool `json:"profanityFilter,omitempty"`
}

// RoomCreate: The room to open.
type RoomCreate struct {
	// Room name, which is also its id. At most 256 bytes of UTF-8, no control characters.
	Name string `json:"name"`
	// Hard cap on participants
	MaxParticipants *int64 `json:"maxParticipants,omitempty"`
	// Seconds before an empty room is closed: sets both LiveKit's empty timeout (before the first join) and its
	// departure timeout (after the last leave)
	EmptyTimeout *int64 `json:"emptyTimeout,omitempty"`
	// Arbitrary string stored on the room, at most 512 KiB of UTF-8
	Metadata *string `json:"metadata,omitempty"`
	// Before this instant nobody gets a token, except for earlyJoin
	OpensAt *string `json:"opensAt,omitempty"`
	// The room is closed at this instant. No token is valid for longer
	ClosesAt *string `json:"closesAt,omitempty"`
	// Seconds after the first join at which the room is closed
	MaxDuration *int64 `json:"maxDuration,omitempty"`
	// Seconds that one participant may be alone before the room is closed
	SoloTimeout *int64 `json:"soloTimeout,omitempty"`
	// Seconds before opensAt from which on people may join; default 0
	EarlyJoin *int64 `json:"earlyJoin,omitempty"`
	// Seconds before closesAt or the end of maxDuration at which everyone in the room gets data on the topic
	// rtc.closing; default 300 and 60, and none for an empty list
	ClosingWarnings []int64 `json:"closingWarnings,omitempty"`
	// Whether other roles than `roles` wait until they are admitted
	Lobby *bool `json:"lobby,omitempty"`
	// With a lobby, the roles that enter without waiting; default host and moderator. One of host, moderator,
	// participant, viewer.
	Roles      []string              `json:"roles,omitempty"`
	Record     *PlannedRecording     `json:"record,omitempty"`
	Transcribe *PlannedTranscription `json:"transcribe,omitempty"`
	// Names and terms for transcriptions of rooms without a vocabulary
	Vocabulary []string `json:"vocabulary,omitempty"`
	// Language of live transcriptions that are started without one: BCP 47, or auto
	Language *string `json:"language,omitempty"`
}

// Room: LiveKit's Room object.
type Room struct {
	// The media server's id of this session of the room
	SID string `json:"sid"`
	// Room name, which is also its id
	Name string `json:"name"`
	// Seconds before a room that nobody has joined is closed
	EmptyTimeout int64 `json:"emptyTimeout"`
	// Seconds before a room is closed after the last participant left
	DepartureTimeout int64 `json:"departureTimeout"`
	// Maximum number of participants at a time; 0: no limit
	MaxParticipants int64 `json:"maxParticipants"`
	// When the room was opened: Unix seconds, int64 as a string
	CreationTime string `json:"creationTime"`
	// When the room was opened: Unix milliseconds, int64 as a string
	CreationTimeMs string `json:"creationTimeMs"`
	// Metadata of the room's creation or last update; empty for none
	Metadata string `json:"metadata"`
	// Participants in the room, without recorders and agents
	NumParticipants int64 `json:"numParticipants"`
	// Participants who publish a track
	NumPublishers int64 `json:"numPublishers"`
	// Whether a recorder of the media server is in the room, other than for a broadcast
	ActiveRecording bool `json:"activeRecording"`
	// Whether the room is broadcast
	ActiveBroadcast bool `json:"activeBroadcast"`
}

// RoomList: Open rooms.
type RoomList struct {
	// The rooms
	Rooms []Room `json:"rooms"`
	// The cursor of the next page; null after the last one; absent when the whole list is returned at once
	NextCursor *string `json:"nextCursor,omitempty"`
}

// ClosedRoom: A room that is kept closed.
type ClosedRoom struct {
	// Room name
	Name string `json:"name"`
	// When it was closed
	ClosedAt string `json:"closedAt"`
	// When it may be entered again; null for never, until POST /v1/rooms
	ClosedUntil *string `json:"closedUntil"`
}

// ClosedRoomList: The rooms that are kept closed, ordered by name.
type ClosedRoomList struct {
	// The rooms
	ClosedRooms []ClosedRoom `json:"closedRooms"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// RoomPatch: Changes of the room.
type RoomPatch struct {
	// Replaces the metadata of the room; at most 512 KiB of UTF-8, and empty for none. Everyone in the room is notified
	Metadata *string `json:"metadata,omitempty"`
}

// RoomData: A message to clients in a room.
type RoomData struct {
	// What to send: text, or bytes as base64. At most 15360 bytes, and 1300 when lossy
	Data string `json:"data"`
	// Encoding of `data`: `text` is sent as UTF-8, `base64` (RFC 4648, section 4) as its bytes; default text. One of
	// text, base64.
	Encoding *string `json:"encoding,omitempty"`
	// Distinguishes kinds of messages in clients. At most 256 bytes of UTF-8, no control characters.
	Topic *string `json:"topic,omitempty"`
	// reliable: in order, with retransmissions; lossy: at once or not at all; default reliable. One of reliable, lossy.
	Kind *string `json:"kind,omitempty"`
	// Receivers; without it, everyone in the room
	DestinationIdentities []string `json:"destinationIdentities,omitempty"`
}

// RoomDataSent: The receivers of a message.
type RoomDataSent struct {
	// Identities in the room to which the message was sent. LiveKit does not report who has received it
	SentTo []string `json:"sentTo"`
}

// PlanPut: The plan: exactly one of `room` and `prefix`, and what it sets.
type PlanPut struct {
	// The room that the plan is for. At most 256 bytes of UTF-8, no control characters.
	Room *string `json:"room,omitempty"`
	// The plan is for all rooms whose names begin so; the longest prefix wins. At most 256 bytes of UTF-8, no control
	// characters.
	Prefix *string `json:"prefix,omitempty"`
	// Before this instant nobody gets a token, except for earlyJoin
	OpensAt *string `json:"opensAt,omitempty"`
	// The room is closed at this instant. No token is valid for longer
	ClosesAt *string `json:"closesAt,omitempty"`
	// Seconds after the first join at which the room is closed
	MaxDuration *int64 `json:"maxDuration,omitempty"`
	// Seconds that one participant may be alone before the room is closed
	SoloTimeout *int64 `json:"soloTimeout,omitempty"`
	// Seconds before opensAt from which on people may join; default 0
	EarlyJoin *int64 `json:"earlyJoin,omitempty"`
	// Seconds before closesAt or the end of maxDuration at which everyone in the room gets data on the topic
	// rtc.closing; default 300 and 60, and none for an empty list
	ClosingWarnings []int64 `json:"closingWarnings,omitempty"`
	// Whether other roles than `roles` wait until they are admitted
	Lobby *bool `json:"lobby,omitempty"`
	// With a lobby, the roles that enter without waiting; default host and moderator. One of host, moderator,
	// participant, viewer.
	Roles      []string              `json:"roles,omitempty"`
	Record     *PlannedRecording     `json:"record,omitempty"`
	Transcribe *PlannedTranscription `json:"transcribe,omitempty"`
	// Names and terms for transcriptions of rooms without a vocabulary
	Vocabulary []string `json:"vocabulary,omitempty"`
	// Language of live transcriptions that are started without one: BCP 47, or auto
	Language *string `json:"language,omitempty"`
	// Hard cap on participants
	MaxParticipants *int64 `json:"maxParticipants,omitempty"`
	// Seconds before an empty room is closed, unless POST /v1/rooms says otherwise
	EmptyTimeout *int64 `json:"emptyTimeout,omitempty"`
	// Metadata of rooms that are opened without any; at most 2 KiB
	Metadata *string `json:"metadata,omitempty"`
}

// Plan: Settings for a room, or for all rooms with a prefix.
type Plan struct {
	// Id of the plan
	PlanID string `json:"planId"`
	// The room that the plan is for. At most 256 bytes of UTF-8, no control characters.
	Room *string `json:"room,omitempty"`
	// The plan is for all rooms whose names begin so; the longest prefix wins. At most 256 bytes of UTF-8, no control
	// characters.
	Prefix *string `json:"prefix,omitempty"`
	// Before this instant nobody gets a token, except for earlyJoin
	OpensAt *string `json:"opensAt,omitempty"`
	// The room is closed at this instant. No token is valid for longer
	ClosesAt *string `json:"closesAt,omitempty"`
	// Seconds after the first join at which the room is closed
	MaxDuration *int64 `json:"maxDuration,omitempty"`
	// Seconds that one participant may be alone before the room is closed
	SoloTimeout *int64 `json:"soloTimeout,omitempty"`
	// Seconds before opensAt from which on people may join; default 0
	EarlyJoin *int64 `json:"earlyJoin,omitempty"`
	// Seconds before closesAt or the end of maxDuration at which everyone in the room gets data on the topic
	// rtc.closing; default 300 and 60, and none for an empty list
	ClosingWarnings []int64 `json:"closingWarnings,omitempty"`
	// Whether other roles than `roles` wait until they are admitted
	Lobby *bool `json:"lobby,omitempty"`
	// With a lobby, the roles that enter without waiting; default host and moderator. One of host, moderator,
	// participant, viewer.
	Roles      []string              `json:"roles,omitempty"`
	Record     *PlannedRecording     `json:"record,omitempty"`
	Transcribe *PlannedTranscription `json:"transcribe,omitempty"`
	// Names and terms for transcriptions of rooms without a vocabulary
	Vocabulary []string `json:"vocabulary,omitempty"`
	// Language of live transcriptions that are started without one: BCP 47, or auto
	Language *string `json:"language,omitempty"`
	// Hard cap on participants
	MaxParticipants *int64 `json:"maxParticipants,omitempty"`
	// Seconds before an empty room is closed, unless POST /v1/rooms says otherwise
	EmptyTimeout *int64 `json:"emptyTimeout,omitempty"`
	// Metadata of rooms that are opened without any; at most 2 KiB
	Metadata *string `json:"metadata,omitempty"`
	// When the plan was made
	CreatedAt string `json:"createdAt"`
	// When it was changed last
	UpdatedAt string `json:"updatedAt"`
}

// PlanList: Plans, ordered by id.
type PlanList struct {
	// The plans
	Plans []Plan `json:"plans"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// Participant: LiveKit's ParticipantInfo object.
type Participant struct {
	// The media server's id of this connection
	SID string `json:"sid"`
	// Identity of the token (userId)
	Identity string `json:"identity"`
	// Display name
	Name string `json:"name"`
	// JOINING, JOINED, ACTIVE or DISCONNECTED
	State string `json:"state"`
	// STANDARD for people, INGRESS for streams, SIP for telephones
	Kind string `json:"kind"`
	// JSON text of the token; empty without metadata
	Metadata string `json:"metadata"`
	// When the participant joined: Unix seconds, int64 as a string
	JoinedAt string `json:"joinedAt"`
	// Whether the participant publishes a track
	IsPublisher bool `json:"isPublisher"`
	// Signed attributes of the token: rtc.role, rtc.canMuteOthers, and rtc.key with the id of an API key other than the
	// root key
	Attributes map[string]string `json:"attributes"`
	// Permissions of the token
	Permission *ParticipantPermission `json:"permission,omitempty"`
	// Tracks that the participant publishes
	Tracks []ParticipantTracksItem `json:"tracks"`
}

// ParticipantPermission: Permissions of the token.
type ParticipantPermission struct {
	// May publish tracks
	CanPublish bool `json:"canPublish"`
	// Whether the participant may receive the tracks of others
	CanSubscribe bool `json:"canSubscribe"`
	// Whether the participant is invisible to others
	Hidden bool `json:"hidden"`
}

type ParticipantTracksItem struct {
	// Id of the track, for muting
	SID string `json:"sid"`
	// AUDIO, VIDEO or DATA
	Type string `json:"type"`
	// Name from the publisher
	Name string `json:"name"`
	// Whether the track is muted
	Muted bool `json:"muted"`
	// CAMERA, MICROPHONE, SCREEN_SHARE, SCREEN_SHARE_AUDIO or UNKNOWN
	Source string `json:"source"`
}

// ParticipantList: The participants of a room.
type ParticipantList struct {
	// The participants, by identity
	Participants []Participant `json:"participants"`
	// The cursor of the next page; null after the last one; absent when the whole list is returned at once
	NextCursor *string `json:"nextCursor,omitempty"`
}

// ParticipantPatch: Changes of the participant.
type ParticipantPatch struct {
	// New display name. At most 256 bytes of UTF-8, no control characters.
	Name *string `json:"name,omitempty"`
	// Replaces the metadata; kept as JSON text, at most 512 KiB
	Metadata map[string]any `json:"metadata,omitempty"`
	// Merged into the attributes, at most 64 KiB in LiveKit; null or an empty text removes one. Those that begin with
	// `rtc.` belong to the role
	Attributes map[string]*string `json:"attributes,omitempty"`
	// Grants of the token: a host may do everything, also in LiveKit; a moderator and a participant publish and
	// subscribe; a viewer only subscribes. Hosts and moderators may mute others through your back end. One of host,
	// moderator, participant, viewer.
	Role *string `json:"role,omitempty"`
}

// Mute: What to mute.
type Mute struct {
	// Track to mute
	TrackSID string `json:"trackSid"`
	// False unmutes it, if the media server allows that (`room.enable_remote_unmute` of LiveKit); default true
	Muted *bool `json:"muted,omitempty"`
}

// RoomMute: Which tracks to mute in a room.
type RoomMute struct {
	// Identities that are not muted
	Except []string `json:"except,omitempty"`
	// Only tracks of these sources; without it, every track. One of microphone, camera, screen_share,
	// screen_share_audio.
	Sources []string `json:"sources,omitempty"`
}

// MutedTrack: A track that was muted.
type MutedTrack struct {
	// The participant who publishes the track
	Identity string `json:"identity"`
	// Track that was muted
	TrackSID string `json:"trackSid"`
}

// RoomMuted: What was muted in a room.
type RoomMuted struct {
	// The tracks that this request muted
	Muted []MutedTrack `json:"muted"`
	// True when there are more tracks to mute than the 1000 of one request: repeat it
	MutedTruncated *bool `json:"mutedTruncated,omitempty"`
}

// WaitingPerson: Somebody who waits to be admitted.
type WaitingPerson struct {
	// Identity of the token (userId)
	Identity string `json:"identity"`
	// Display name
	Name string `json:"name"`
	// Grants of the token: a host may do everything, also in LiveKit; a moderator and a participant publish and
	// subscribe; a viewer only subscribes. Hosts and moderators may mute others through your back end. One of host,
	// moderator, participant, viewer.
	Role string `json:"role"`
	// Since when the person has been waiting
	WaitingSince string `json:"waitingSince"`
}

// WaitingList: The people who wait for a room.
type WaitingList struct {
	// Whether the room has a lobby now
	Lobby bool `json:"lobby"`
	// Who waits, the longest first; at most 500 can wait
	Waiting []WaitingPerson `json:"waiting"`
}

// AdmittedPerson: Somebody who was admitted, with the token of the room.
type AdmittedPerson struct {
	// Identity of the token (userId)
	Identity string `json:"identity"`
	// Display name
	Name string `json:"name"`
	// Grants of the token: a host may do everything, also in LiveKit; a moderator and a participant publish and
	// subscribe; a viewer only subscribes. Hosts and moderators may mute others through your back end. One of host,
	// moderator, participant, viewer.
	Role string `json:"role"`
	// LiveKit access token (JWT), signed with the media server's key
	Token string `json:"token"`
	// WebSocket URL of the media server
	URL string `json:"url"`
	// The JWT's own exp
	ExpiresAt string `json:"expiresAt"`
}

// AdmittedList: The people who were admitted.
type AdmittedList struct {
	// Whom this request has admitted
	Admitted []AdmittedPerson `json:"admitted"`
	// True when more people wait than the 100 of one request: repeat it
	AdmittedTruncated *bool `json:"admittedTruncated,omitempty"`
}

// Block: A blocked identity.
type Block struct {
	// Blocked identity (userId)
	Identity string `json:"identity"`
	// When it was blocked
	BlockedAt string `json:"blockedAt"`
	// When the block ends; null for never
	BlockedUntil *string `json:"blockedUntil"`
}

// BlockList: The blocked identities of a room, ordered by identity.
type BlockList struct {
	// The blocks
	Blocks []Block `json:"blocks"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// RoomBlock: An identity that is blocked in a room.
type RoomBlock struct {
	// Room name
	RoomID string `json:"roomId"`
	// Blocked identity (userId)
	Identity string `json:"identity"`
	// When it was blocked
	BlockedAt string `json:"blockedAt"`
	// When the block ends; null for never
	BlockedUntil *string `json:"blockedUntil"`
}

// RoomBlockList: The blocked identities of all rooms, ordered by room and identity.
type RoomBlockList struct {
	// The blocks
	Blocks []RoomBlock `json:"blocks"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// RecordingSettings: How to record.
type RecordingSettings struct {
	// Arrangement of the people: everyone in a grid, the speaker beside the others, or the speaker alone; default grid.
	// One of grid, speaker, single-speaker.
	Layout *string `json:"layout,omitempty"`
	// Record sound only, also into an MP4 file; default false
	AudioOnly *bool `json:"audioOnly,omitempty"`
	// Also keep each participant's speech, encrypted, until the recording is transcribed or for 7 days, so that the
	// transcript has everybody when people speak at once; needs a stt-live worker; default false
	RecordTracks *bool `json:"recordTracks,omitempty"`
	// Resolution and frames per second of the picture; default H264_720P_30. One of H264_720P_30, H264_720P_60,
	// H264_1080P_30, H264_1080P_60, PORTRAIT_H264_720P_30, PORTRAIT_H264_720P_60, PORTRAIT_H264_1080P_30,
	// PORTRAIT_H264_1080P_60.
	Preset *string `json:"preset,omitempty"`
}

// RecordingStart: The running recording.
type RecordingStart struct {
	// Form EG_<id>
	EgressID string `json:"egressId"`
	// Room name
	RoomID string `json:"roomId"`
	// already_recording: another request started it. One of recording, already_recording.
	Status string `json:"status"`
	// When the recording was started
	StartedAt string `json:"startedAt"`
}

// RecordingStop: The recording that was stopped.
type RecordingStop struct {
	// Form EG_<id>
	EgressID string `json:"egressId"`
	// Room name
	RoomID string `json:"roomId"`
	// Always stopped. One of stopped.
	Status string `json:"status"`
	// When the recording was stopped
	StoppedAt string `json:"stoppedAt"`
}

// RecordingStatus: Whether a room is being recorded.
type RecordingStatus struct {
	// Whether a recording is running
	IsRecording bool `json:"isRecording"`
	// Form EG_<id>; null while none is running
	EgressID *string `json:"egressId"`
	// When the recording was started; null while none is running
	StartedAt *string `json:"startedAt"`
	// When the recording's media begins, some seconds after startedAt: times in the file count from it; null until known
	MediaStartedAt *string `json:"mediaStartedAt"`
}

// HlsSettings: Also write the broadcast as HLS, beside the recordings.
type HlsSettings struct {
	// Length of a segment in seconds; default 4
	SegmentSeconds *int64 `json:"segmentSeconds,omitempty"`
	// Name of the playlist of everything; default index.m3u8
	Playlist *string `json:"playlist,omitempty"`
	// Name of the playlist of the newest segments; default live.m3u8
	LivePlaylist *string `json:"livePlaylist,omitempty"`
}

// BroadcastSettings: Where a room is broadcast to, and how; urls or hls is required.
type BroadcastSettings struct {
	// Where to send the stream: either all with srt, or none; may be left out with hls
	Urls []string     `json:"urls,omitempty"`
	Hls  *HlsSettings `json:"hls,omitempty"`
	// Arrangement of the people, as of a recording; default grid. One of grid, speaker, single-speaker.
	Layout *string `json:"layout,omitempty"`
	// Resolution and frames per second of the picture; default H264_720P_30. One of H264_720P_30, H264_720P_60,
	// H264_1080P_30, H264_1080P_60, PORTRAIT_H264_720P_30, PORTRAIT_H264_720P_60, PORTRAIT_H264_1080P_30,
	// PORTRAIT_H264_1080P_60.
	Preset *string `json:"preset,omitempty"`
}

// BroadcastURLState: connecting: the receiver has not accepted yet; failed: it refused or closed, and the recorder
// has given up; removed: by a caller; ended: with the broadcast.
type BroadcastURLState = string

// BroadcastURL: One receiver of a broadcast.
type BroadcastURL struct {
	// Form bu_<id>
	URLID string `json:"urlId"`
	// The URL without its key
	URL   string            `json:"url"`
	State BroadcastURLState `json:"state"`
	// When it came into this state
	Since string `json:"since"`
	// Why it failed, as the recorder tells it; else null
	Error *string `json:"error"`
	// How often the recorder has connected again
	Retries int64 `json:"retries"`
}

// BroadcastHls: Where the HLS of a broadcast is.
type BroadcastHls struct {
	// Length of a segment in seconds
	SegmentSeconds int64 `json:"segmentSeconds"`
	// Null for a local folder
	Bucket *string `json:"bucket"`
	// Prefix of the keys in the bucket, or path of the folder on the recorder's file system
	Folder string `json:"folder"`
	// Name of the playlist of everything
	Playlist string `json:"playlist"`
	// Name of the playlist of the newest segments
	LivePlaylist string `json:"livePlaylist"`
}

// BroadcastStart: The running broadcast.
type BroadcastStart struct {
	// Form bc_<id>
	BroadcastID string `json:"broadcastId"`
	// Room name
	RoomID string `json:"roomId"`
	// LiveKit's id of the recorder's work; null if it never began
	EgressID *string `json:"egressId"`
	// When it was started; null if it never began
	StartedAt *string `json:"startedAt"`
	// Null while it is running
	StoppedAt *string `json:"stoppedAt"`
	// When everything had ended; null before
	EndedAt *string `json:"endedAt"`
	// Length of the HLS in milliseconds; null until known
	DurationMs *int64 `json:"durationMs"`
	// Size of the HLS in bytes; null until known
	SizeBytes *int64 `json:"sizeBytes"`
	// Why the broadcast failed or was aborted
	Error *string `json:"error"`
	// Its receivers, in the order in which they were added
	Urls []BroadcastURL `json:"urls"`
	// Null without HLS
	Hls *BroadcastHls `json:"hls"`
	// already_broadcasting: another request started it, and its own options apply. One of broadcasting,
	// already_broadcasting.
	Status string `json:"status"`
}

// BroadcastChange: URLs to add to a running broadcast, and to remove from it.
type BroadcastChange struct {
	// URLs to which the stream goes too
	Add []string `json:"add,omitempty"`
	// The urlId, or the whole URL, of those to which it goes no longer
	Remove []string `json:"remove,omitempty"`
}

// BroadcastState: stopped: by a caller, the media server, or because the room ended; aborted: stopped before any
// media arrived; failed: `error` says why.
type BroadcastState = string

// Broadcast: A broadcast of a room, until it is deleted.
type Broadcast struct {
	// Form bc_<id>
	BroadcastID string `json:"broadcastId"`
	// Room name
	RoomID string `json:"roomId"`
	// LiveKit's id of the recorder's work; null if it never began
	EgressID *string `json:"egressId"`
	// When it was started; null if it never began
	StartedAt *string `json:"startedAt"`
	// Null while it is running
	StoppedAt *string `json:"stoppedAt"`
	// When everything had ended; null before
	EndedAt *string `json:"endedAt"`
	// Length of the HLS in milliseconds; null until known
	DurationMs *int64 `json:"durationMs"`
	// Size of the HLS in bytes; null until known
	SizeBytes *int64 `json:"sizeBytes"`
	// Why the broadcast failed or was aborted
	Error *string `json:"error"`
	// Its receivers, in the order in which they were added
	Urls []BroadcastURL `json:"urls"`
	// Null without HLS
	Hls    *BroadcastHls  `json:"hls"`
	Status BroadcastState `json:"status"`
}

// BroadcastStop: The broadcast that was stopped.
type BroadcastStop struct {
	// Form bc_<id>
	BroadcastID string `json:"broadcastId"`
	// Form EG_<id>
	EgressID string `json:"egressId"`
	// Room name
	RoomID string `json:"roomId"`
	// Always stopped. One of stopped.
	Status string `json:"status"`
	// When the broadcast was stopped
	StoppedAt string `json:"stoppedAt"`
}

// BroadcastStatus: Whether a room is being broadcast, and where to.
type BroadcastStatus struct {
	// Whether a broadcast is running
	IsBroadcasting bool `json:"isBroadcasting"`
	// The running broadcast, or the one that ran last; null if there was none
	Broadcast *Broadcast `json:"broadcast"`
}

// BroadcastList: A page of broadcasts.
type BroadcastList struct {
	// The broadcasts
	Broadcasts []Broadcast `json:"broadcasts"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// RecordingState: stopped: by a caller, the media server, or because the room ended; aborted: stopped before any
// media arrived; failed: `error` says why.
type RecordingState = string

// Recording: A recording, until it is deleted.
type Recording struct {
	// The recording's egress id; of the form rec_<id> if there never was an egress
	RecordingID string `json:"recordingId"`
	// Room name
	RoomID string         `json:"roomId"`
	Status RecordingState `json:"status"`
	// Null when it never started
	StartedAt *string `json:"startedAt"`
	// When the recording's media begins, some seconds after startedAt: times in the file count from it; null until known
	MediaStartedAt *string `json:"mediaStartedAt"`
	// Null while the recording is running
	StoppedAt *string `json:"stoppedAt"`
	// When the file was complete, or when it was known that there will be none; null before
	EndedAt *string `json:"endedAt"`
	// Length of the file in milliseconds; null until known
	DurationMs *int64 `json:"durationMs"`
	// Size of the file in bytes; null until known
	SizeBytes *int64 `json:"sizeBytes"`
	// Why the recording failed, was aborted, or was ended by its recorder
	Error *string `json:"error"`
	// Null without a file
	File *RecordingFile `json:"file"`
}

// RecordingFile: Null without a file.
type RecordingFile struct {
	// Null for a local file
	Bucket *string `json:"bucket"`
	// Key in the bucket, or path on the recorder's file system
	Path string `json:"path"`
}

// RecordingList: A page of recordings.
type RecordingList struct {
	// The recordings
	Recordings []Recording `json:"recordings"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// Session: A room from its opening to its end, without recorders and agents.
type Session struct {
	// The media server's id of the session, as `room.id` of events
	SessionID string `json:"sessionId"`
	// Room name
	RoomID string `json:"roomId"`
	// Whether the room is open. One of open, ended.
	Status string `json:"status"`
	// When the room was opened
	CreatedAt string `json:"createdAt"`
	// When the first participant joined; null if none has
	StartedAt *string `json:"startedAt"`
	// When the room was closed; null while it is open
	EndedAt *string `json:"endedAt"`
	// Metadata of the room, empty for none; null when it has more than 16 KiB, which metadataBytes and metadataSha256
	// then identify, or when it is not known
	Metadata *string `json:"metadata"`
	// Length of metadata of more than 16 KiB, in bytes of UTF-8; read it from the room while it is open
	MetadataBytes *int64 `json:"metadataBytes,omitempty"`
	// SHA-256 of metadata of more than 16 KiB, of its UTF-8, in hexadecimal
	MetadataSha256 *string `json:"metadataSha256,omitempty"`
	// From startedAt to endedAt, in milliseconds; until now while the room is open; 0 if nobody joined
	DurationMs int64 `json:"durationMs"`
	// Number of identities that were there, without streams into the room; somebody who joined several times counts once
	TotalParticipants int64 `json:"totalParticipants"`
	// Maximum number of these identities at the same time
	PeakParticipants int64 `json:"peakParticipants"`
	// Minutes of all participants together, with two decimals; until now for those who are still there. Time in which an
	// identity was connected twice counts once
	ParticipantMinutes float64 `json:"participantMinutes"`
}

// SessionList: A page of sessions.
type SessionList struct {
	// The sessions, newest first
	Sessions []Session `json:"sessions"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// SessionTranscription: A transcription of the room, or of one of its recordings.
type SessionTranscription struct {
	// Form tr_<id>
	TranscriptionID string `json:"transcriptionId"`
	// live: of the room; post: of a recording. One of live, post.
	Kind string `json:"kind"`
	// The recording of a post-call transcription; null for a live one
	RecordingID *string `json:"recordingId"`
	// State; active or stopped for a live transcription. One of active, stopped, queued, processing, completed, failed.
	Status string `json:"status"`
	// BCP 47
	Language string `json:"language"`
	// When it was started; when it was queued, for a recording
	StartedAt string `json:"startedAt"`
	// Null until it is stopped, completed or failed
	EndedAt *string `json:"endedAt"`
}

// SessionParticipant: A connection of a participant to the room, from joining to leaving.
type SessionParticipant struct {
	// The media server's id of this connection; somebody who joins again has a new one
	SID string `json:"sid"`
	// Identity of the token (userId)
	Identity string `json:"identity"`
	// Display name
	Name string `json:"name"`
	// Role of the token; `ingress` for a stream; null for tokens that another program issued
	Role *string `json:"role"`
	// When the participant joined
	JoinedAt string `json:"joinedAt"`
	// Null while the participant is present
	LeftAt *string `json:"leftAt"`
	// From joinedAt to leftAt, in milliseconds; until now while the participant is present
	DurationMs int64 `json:"durationMs"`
}

// SessionDetail: A session with its participants, recordings and transcriptions.
type SessionDetail struct {
	// The media server's id of the session, as `room.id` of events
	SessionID string `json:"sessionId"`
	// Room name
	RoomID string `json:"roomId"`
	// Whether the room is open. One of open, ended.
	Status string `json:"status"`
	// When the room was opened
	CreatedAt string `json:"createdAt"`
	// When the first participant joined; null if none has
	StartedAt *string `json:"startedAt"`
	// When the room was closed; null while it is open
	EndedAt *string `json:"endedAt"`
	// Metadata of the room, empty for none; null when it has more than 16 KiB, which metadataBytes and metadataSha256
	// then identify, or when it is not known
	Metadata *string `json:"metadata"`
	// Length of metadata of more than 16 KiB, in bytes of UTF-8; read it from the room while it is open
	MetadataBytes *int64 `json:"metadataBytes,omitempty"`
	// SHA-256 of metadata of more than 16 KiB, of its UTF-8, in hexadecimal
	MetadataSha256 *string `json:"metadataSha256,omitempty"`
	// From startedAt to endedAt, in milliseconds; until now while the room is open; 0 if nobody joined
	DurationMs int64 `json:"durationMs"`
	// Number of identities that were there, without streams into the room; somebody who joined several times counts once
	TotalParticipants int64 `json:"totalParticipants"`
	// Maximum number of these identities at the same time
	PeakParticipants int64 `json:"peakParticipants"`
	// Minutes of all participants together, with two decimals; until now for those who are still there. Time in which an
	// identity was connected twice counts once
	ParticipantMinutes float64 `json:"participantMinutes"`
	// Recordings that were started in it, oldest first; at most the first 1000
	Recordings []Recording `json:"recordings"`
	// Transcriptions of the room and of these recordings, oldest first; at most the first 1000
	Transcriptions []SessionTranscription `json:"transcriptions"`
	// Presence of the participants, in the order in which they joined; at most the first 1000
	Participants []SessionParticipant `json:"participants"`
	// True if there are more participants; their own list has all of them
	ParticipantsTruncated *bool `json:"participantsTruncated,omitempty"`
	// True if there are more recordings; their own list has all of them
	RecordingsTruncated *bool `json:"recordingsTruncated,omitempty"`
	// True if there are more transcriptions
	TranscriptionsTruncated *bool `json:"transcriptionsTruncated,omitempty"`
}

// SessionParticipantList: A page of the participants of a session.
type SessionParticipantList struct {
	// Their connections, in the order in which they joined
	Participants []SessionParticipant `json:"participants"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// UsageFigures: Exact times, added up in milliseconds and rounded once.
type UsageFigures struct {
	// Minutes of all people together; time in which an identity was connected twice counts once, with two decimals
	ParticipantMinutes float64 `json:"participantMinutes"`
	// The same minutes by the role of the token
	ParticipantMinutesByRole UsageFiguresParticipantMinutesByRole `json:"participantMinutesByRole"`
	// Minutes of rooms, each from its first participant to its end, with two decimals
	RoomMinutes float64 `json:"roomMinutes"`
	// Minutes of finished recordings, with two decimals
	RecordedMinutes float64 `json:"recordedMinutes"`
	// Minutes of finished transcriptions, of rooms and of recordings, with two decimals
	TranscribedMinutes float64 `json:"transcribedMinutes"`
	// Minutes of finished broadcasts, with two decimals
	BroadcastMinutes float64 `json:"broadcastMinutes"`
	// Minutes of streams into rooms, with two decimals
	IngressMinutes float64 `json:"ingressMinutes"`
	// Maximum number of people at the same time in one room, the largest; people of several rooms are not added up
	PeakParticipants int64 `json:"peakParticipants"`
	// Bytes of recordings, on the day on which they ended
	RecordingBytes int64 `json:"recordingBytes"`
	// False while a day is not over, or a room is open whose minutes of that time are included
	IsFinal bool `json:"isFinal"`
}

// UsageFiguresParticipantMinutesByRole: The same minutes by the role of the token.
type UsageFiguresParticipantMinutesByRole struct {
	// Of hosts, with two decimals
	Host float64 `json:"host"`
	// Of moderators, with two decimals
	Moderator float64 `json:"moderator"`
	// Of participants, with two decimals
	Participant float64 `json:"participant"`
	// Of viewers, with two decimals
	Viewer float64 `json:"viewer"`
	// Of people with a token of another program, with two decimals
	Other float64 `json:"other"`
}

// UsageLine: The usage of one group.
type UsageLine struct {
	// The day (2026-11-01), month (2026-11), room, beginning of names or id of the API key, after `by`
	Group string `json:"group"`
	// Minutes of all people together; time in which an identity was connected twice counts once, with two decimals
	ParticipantMinutes float64 `json:"participantMinutes"`
	// The same minutes by the role of the token
	ParticipantMinutesByRole UsageLineParticipantMinutesByRole `json:"participantMinutesByRole"`
	// Minutes of rooms, each from its first participant to its end, with two decimals
	RoomMinutes float64 `json:"roomMinutes"`
	// Minutes of finished recordings, with two decimals
	RecordedMinutes float64 `json:"recordedMinutes"`
	// Minutes of finished transcriptions, of rooms and of recordings, with two decimals
	TranscribedMinutes float64 `json:"transcribedMinutes"`
	// Minutes of finished broadcasts, with two decimals
	BroadcastMinutes float64 `json:"broadcastMinutes"`
	// Minutes of streams into rooms, with two decimals
	IngressMinutes float64 `json:"ingressMinutes"`
	// Maximum number of people at the same time in one room, the largest; people of several rooms are not added up
	PeakParticipants int64 `json:"peakParticipants"`
	// Bytes of recordings, on the day on which they ended
	RecordingBytes int64 `json:"recordingBytes"`
	// False while a day is not over, or a room is open whose minutes of that time are included
	IsFinal bool `json:"isFinal"`
}

// UsageLineParticipantMinutesByRole: The same minutes by the role of the token.
type UsageLineParticipantMinutesByRole struct {
	// Of hosts, with two decimals
	Host float64 `json:"host"`
	// Of moderators, with two decimals
	Moderator float64 `json:"moderator"`
	// Of participants, with two decimals
	Participant float64 `json:"participant"`
	// Of viewers, with two decimals
	Viewer float64 `json:"viewer"`
	// Of people with a token of another program, with two decimals
	Other float64 `json:"other"`
}

// Usage: A page of usage, with the total of all pages.
type Usage struct {
	// The first day
	From string `json:"from"`
	// The day after the last one
	To string `json:"to"`
	// What each line is. One of day, month, room, prefix, key.
	By string `json:"by"`
	// Until when the time in open rooms is included
	AsOf  string       `json:"asOf"`
	Total UsageFigures `json:"total"`
	// The groups with any usage, in the order of their names
	Usage []UsageLine `json:"usage"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// IngressCreate: The ingress to create.
type IngressCreate struct {
	// Protocol; default rtmp. One of rtmp, whip.
	Type *string `json:"type,omitempty"`
	// Display name in the room; default "Ingress Stream". At most 256 bytes of UTF-8, no control characters.
	ParticipantName *string `json:"participantName,omitempty"`
	// Unique identity; generated as ingress_<id> when absent. At most 256 bytes of UTF-8, no control characters.
	ParticipantIdentity *string `json:"participantIdentity,omitempty"`
}

// Ingress: LiveKit's IngressInfo object.
type Ingress struct {
	// Form IN_<id>
	IngressID string `json:"ingressId"`
	// Name of the ingress
	Name string `json:"name"`
	// Key for the streaming program; its holder can publish a stream
	StreamKey string `json:"streamKey"`
	// Address for the stream
	URL string `json:"url"`
	// RTMP_INPUT or WHIP_INPUT
	InputType string `json:"inputType"`
	// The room in which the stream is published
	RoomName string `json:"roomName"`
	// Identity of the stream in the room
	ParticipantIdentity string `json:"participantIdentity"`
	// Display name of the stream in the room
	ParticipantName string `json:"participantName"`
	// Whether the ingress can be used again after a stream has ended
	Reusable bool `json:"reusable"`
}

// IngressList: Ingress endpoints.
type IngressList struct {
	// The ingress endpoints, by id
	Ingress []Ingress `json:"ingress"`
	// The cursor of the next page; null after the last one; absent when the whole list is returned at once
	NextCursor *string `json:"nextCursor,omitempty"`
}

// TranscriptionStart: How to transcribe a room.
type TranscriptionStart struct {
	// BCP 47, or auto when a model detects the spoken language; default en-US
	Language *string `json:"language,omitempty"`
	// Track id or identity to speaker name
	Participants map[string]string `json:"participants,omitempty"`
	// How to transcribe
	Options *TranscriptionStartOptions `json:"options,omitempty"`
}

// TranscriptionStartOptions: How to transcribe.
type TranscriptionStartOptions struct {
	// Interim results in captions, and at the end of the returned segments; default false
	PartialResults *bool `json:"partialResults,omitempty"`
	// Send captions to everyone in the room (text streams on lk.transcription); default true
	Captions *bool `json:"captions,omitempty"`
	// Punctuation and capitals; default true
	Punctuation *bool `json:"punctuation,omitempty"`
	// Mask profanity with asterisks; default false
	ProfanityFilter *bool `json:"profanityFilter,omitempty"`
}

// TranscriptionStarted: The active transcription.
type TranscriptionStarted struct {
	// Form tr_<id>
	TranscriptionID string `json:"transcriptionId"`
	// Room name
	RoomID string `json:"roomId"`
	// Always active. One of active.
	Status string `json:"status"`
	// BCP 47
	Language string `json:"language"`
	// When the transcription was started
	StartedAt string `json:"startedAt"`
}

// TranscriptionStopped: The stopped transcription.
type TranscriptionStopped struct {
	// Form tr_<id>
	TranscriptionID string `json:"transcriptionId"`
	// Always stopped. One of stopped.
	Status string `json:"status"`
	// When the transcription was stopped
	StoppedAt string `json:"stoppedAt"`
	// Final segments
	SegmentCount int64 `json:"segmentCount"`
}

// Word: A word with its times.
type Word struct {
	// The word, with its punctuation
	Text string `json:"text"`
	// Seconds from the transcription's start
	Start float64 `json:"start"`
	// Seconds from the transcription's start
	End float64 `json:"end"`
	// 0 to 1; null if the model gives none
	Confidence *float64 `json:"confidence"`
}

// Segment: A piece of speech of one speaker.
type Segment struct {
	// Form seg_<id>
	ID string `json:"id"`
	// Form tr_<id>
	TranscriptionID string `json:"transcriptionId"`
	// The track of the speech; null in the transcription of a recording if no worker listened to the tracks, or none of
	// them had speech
	TrackID *string `json:"trackId"`
	// Identity of the speaker; null if trackId is null
	ParticipantIdentity *string `json:"participantIdentity"`
	// Name of the speaker at the time of this request; null if it is not known
	Speaker *string `json:"speaker"`
	// What was said
	Text string `json:"text"`
	// BCP 47; und in a transcription in auto if the model did not detect it
	Language string `json:"language"`
	// Seconds from the transcription's start
	Start float64 `json:"start"`
	// Seconds from the transcription's start
	End float64 `json:"end"`
	// When the segment began
	StartedAt string `json:"startedAt"`
	// Time of the speech
	EndedAt string `json:"endedAt"`
	// False for an interim result, which keeps its id when it becomes final
	Final bool `json:"final"`
	// 0 to 1; null if the model gives none. At most 0.1 for a text that repeats itself or is too long for its sound
	Confidence *float64 `json:"confidence"`
	// The words of the text; only if the model says when each was spoken
	Words []Word `json:"words,omitempty"`
	// Somebody else spoke at the same time; only in transcriptions of recordings
	Overlap *bool `json:"overlap,omitempty"`
}

// TranscriptionWarning: A doubt about the text of a transcription.
type TranscriptionWarning struct {
	// language-doubtful: the speech is probably in another language than the transcription. One of language-doubtful.
	Code string `json:"code"`
	// Identity of the speaker; null if it is not known, as in a recording to which no worker listened
	ParticipantIdentity *string `json:"participantIdentity"`
	// Description of the problem
	Detail string `json:"detail"`
}

// LiveTranscription: The live transcription of a room.
type LiveTranscription struct {
	// Form tr_<id>
	TranscriptionID string `json:"transcriptionId"`
	// Room name
	RoomID string `json:"roomId"`
	// Whether the transcription is still active. One of active, stopped, failed.
	Status string `json:"status"`
	// BCP 47
	Language string `json:"language"`
	// When the transcription was started
	StartedAt string `json:"startedAt"`
	// When the transcription was stopped, or failed; null while it is active
	StoppedAt *string `json:"stoppedAt"`
	// Why it failed
	Error *LiveTranscriptionError `json:"error"`
	// The segments by their start; the first ones that were stored, if there are more than the response has
	Segments []Segment `json:"segments"`
	// Position after these segments, for `cursor` of the next read; there is one after the last too
	NextCursor string `json:"nextCursor"`
	// Only if there are doubts about the text
	Warnings []TranscriptionWarning `json:"warnings,omitempty"`
}

// LiveTranscriptionError: Why it failed.
type LiveTranscriptionError struct {
	// Error code
	Code string `json:"code"`
	// What is wrong, and what to do
	Message string `json:"message"`
}

// LiveTranscriptionSummary: The live transcription of a room, without its segments.
type LiveTranscriptionSummary struct {
	// Form tr_<id>
	TranscriptionID string `json:"transcriptionId"`
	// Room name
	RoomID string `json:"roomId"`
	// Whether the transcription is still active. One of active, stopped, failed.
	Status string `json:"status"`
	// BCP 47
	Language string `json:"language"`
	// When the transcription was started
	StartedAt string `json:"startedAt"`
	// When the transcription was stopped, or failed; null while it is active
	StoppedAt *string `json:"stoppedAt"`
	// Why it failed
	Error *LiveTranscriptionSummaryError `json:"error"`
}

// LiveTranscriptionSummaryError: Why it failed.
type LiveTranscriptionSummaryError struct {
	// Error code
	Code string `json:"code"`
	// What is wrong, and what to do
	Message string `json:"message"`
}

// LiveTranscriptionList: A page of live transcriptions.
type LiveTranscriptionList struct {
	// The transcriptions
	Transcriptions []LiveTranscriptionSummary `json:"transcriptions"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// SpeakerUpdate: Names to set or to remove.
type SpeakerUpdate struct {
	// Merged into the map; null removes a name
	Participants map[string]*string `json:"participants"`
}

// TranscriptionQueue: How to transcribe a recording.
type TranscriptionQueue struct {
	// BCP 47, or auto when a model detects the spoken language; default en-US
	Language *string `json:"language,omitempty"`
	// Track id or identity to speaker name
	Participants map[string]string `json:"participants,omitempty"`
}

// TranscriptionQueued: The queued transcription.
type TranscriptionQueued struct {
	// Form tr_<id>
	TranscriptionID string `json:"transcriptionId"`
	// The recording's egress id
	RecordingID string `json:"recordingId"`
	// State of the transcription. One of queued, processing, completed.
	Status string `json:"status"`
	// When it was queued
	QueuedAt string `json:"queuedAt"`
}

// PostTranscription: The transcription of a recording.
type PostTranscription struct {
	// Form tr_<id>
	TranscriptionID string `json:"transcriptionId"`
	// The recording's egress id
	RecordingID string `json:"recordingId"`
	// Room name
	RoomID string `json:"roomId"`
	// State of the transcription. One of queued, processing, completed, failed.
	Status string `json:"status"`
	// BCP 47
	Language string `json:"language"`
	// Names of speakers
	Participants map[string]string `json:"participants"`
	// Share of the audio that has been transcribed, 0 to 1
	Progress float64 `json:"progress"`
	// When it was queued
	QueuedAt string `json:"queuedAt"`
	// When a worker first claimed it; null before
	StartedAt *string `json:"startedAt"`
	// When it was completed or failed; null before
	CompletedAt *string `json:"completedAt"`
	// Length of the audio in milliseconds; null until known
	DurationMs *int64 `json:"durationMs"`
	// Why it failed, or the error of its last attempt
	Error *PostTranscriptionError `json:"error"`
}

// PostTranscriptionError: Why it failed, or the error of its last attempt.
type PostTranscriptionError struct {
	// Error code
	Code string `json:"code"`
	// What is wrong, and what to do
	Message string `json:"message"`
}

// PostTranscriptionList: A page of transcriptions.
type PostTranscriptionList struct {
	// The transcriptions
	Transcriptions []PostTranscription `json:"transcriptions"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// TextPiece: A piece of the text of a match.
type TextPiece struct {
	// A part of the text
	Text string `json:"text"`
	// Whether this piece was searched for
	Match bool `json:"match"`
}

// TranscriptHit: A segment that matches.
type TranscriptHit struct {
	// post: the transcription of a recording. One of live, post.
	Kind string `json:"kind"`
	// Room name
	RoomID string `json:"roomId"`
	// The recording's egress id; null for a live transcription
	RecordingID *string `json:"recordingId"`
	Segment     Segment `json:"segment"`
	// The text of the segment in pieces, which together are the whole text
	Highlighted []TextPiece `json:"highlighted"`
}

// TranscriptHitList: A page of matches in transcripts.
type TranscriptHitList struct {
	// The found segments, newest first. May be empty although nextCursor is not null
	Hits []TranscriptHit `json:"hits"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// PostTranscriptionDetail: The transcription of a recording with its segments.
type PostTranscriptionDetail struct {
	// Form tr_<id>
	TranscriptionID string `json:"transcriptionId"`
	// The recording's egress id
	RecordingID string `json:"recordingId"`
	// Room name
	RoomID string `json:"roomId"`
	// State of the transcription. One of queued, processing, completed, failed.
	Status string `json:"status"`
	// BCP 47
	Language string `json:"language"`
	// Names of speakers
	Participants map[string]string `json:"participants"`
	// Share of the audio that has been transcribed, 0 to 1
	Progress float64 `json:"progress"`
	// When it was queued
	QueuedAt string `json:"queuedAt"`
	// When a worker first claimed it; null before
	StartedAt *string `json:"startedAt"`
	// When it was completed or failed; null before
	CompletedAt *string `json:"completedAt"`
	// Length of the audio in milliseconds; null until known
	DurationMs *int64 `json:"durationMs"`
	// Why it failed, or the error of its last attempt
	Error *PostTranscriptionDetailError `json:"error"`
	// The segments by their start
	Segments []Segment `json:"segments"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
	// Only if there are doubts about the text
	Warnings []TranscriptionWarning `json:"warnings,omitempty"`
}

// PostTranscriptionDetailError: Why it failed, or the error of its last attempt.
type PostTranscriptionDetailError struct {
	// Error code
	Code string `json:"code"`
	// What is wrong, and what to do
	Message string `json:"message"`
}

// ErasedTraces: Only with `everything`.
type ErasedTraces struct {
	// Events, and with them payloads of deliveries, that have a pseudonym now
	Events int64 `json:"events"`
	// Connections in sessions that have a pseudonym now
	Connections int64 `json:"connections"`
	// Names that were deleted from maps of speakers
	Speakers int64 `json:"speakers"`
	// Blocks that were ended
	Blocks int64 `json:"blocks"`
	// Until when the database has the identity in ended blocks, from which other instances learn of the end; null if
	// there are none
	BlocksUntil *string `json:"blocksUntil"`
	// Audit entries that do not have the identity any more
	AuditEntries int64 `json:"auditEntries"`
	// Until when the last of them, and the entry of this request, are kept
	AuditEntriesUntil string `json:"auditEntriesUntil"`
	// Sessions that were left out because the participant is there: repeat it afterwards
	PresentIn int64 `json:"presentIn"`
}

// ForgottenWords: What was deleted of a participant's words, and what remains.
type ForgottenWords struct {
	// Final segments that were deleted
	Segments int64 `json:"segments"`
	// Transcriptions that contained them
	Transcriptions int64 `json:"transcriptions"`
	// Running transcriptions of the room, which go on storing what the participant says
	Running int64 `json:"running"`
	// Recordings with speech of the participant: their audio stays until they are deleted
	Recordings int64         `json:"recordings"`
	Traces     *ErasedTraces `json:"traces,omitempty"`
}

// Vocabulary: Names and terms that are likely to be said in a room.
type Vocabulary struct {
	// Names and terms. The first ones count most, since a speech server takes some hundred characters
	Terms []string `json:"terms"`
}

// WebhookWarning: A warning about a webhook.
type WebhookWarning struct {
	// private-address: the service does not deliver to the address of the URL. One of private-address.
	Code string `json:"code"`
	// What is wrong, and what to do
	Detail string `json:"detail"`
}

// Webhook: A URL that receives events.
type Webhook struct {
	// Form wh_<id>
	ID string `json:"id"`
	// Where deliveries go
	URL string `json:"url"`
	// Events that it receives; * for all
	Events []string `json:"events"`
	// The secret in the response to the creation; a mask in all others
	Secret string `json:"secret"`
	// room: the events of one session of a room are sent one after the other, by their sequence, and wait while an
	// earlier one is retried; none: they may overtake each other. One of none, room.
	Ordering string `json:"ordering"`
	// Since when nothing is sent to it; null while it is not paused
	PausedAt *string `json:"pausedAt"`
	// When it was registered
	CreatedAt string `json:"createdAt"`
	// Id of the API key that registered it, to whose limit it counts; `root` for the root key
	CreatedBy string `json:"createdBy"`
	// Only events of rooms whose names begin with one of these are sent, because its key is for these rooms
	Rooms []string `json:"rooms,omitempty"`
	// Only in the response to a creation or change, if there is a warning
	Warnings []WebhookWarning `json:"warnings,omitempty"`
}

// WebhookList: Every webhook, or a page of them.
type WebhookList struct {
	// The webhooks, oldest first
	Webhooks []Webhook `json:"webhooks"`
	// The cursor of the next page; null after the last one; absent when the whole list is returned at once
	NextCursor *string `json:"nextCursor,omitempty"`
}

// WebhookCreate: The webhook to register.
type WebhookCreate struct {
	// Delivery endpoint, http or https, without user info, on a public address
	URL string `json:"url"`
	// Event filter; default ["*"]. One of room_created, room_started, room_closing, planned_start_failed, room_finished,
	// participant_joined, participant_left, participant_waiting, participant_admitted, participant_denied,
	// room_join_refused, track_published, track_unpublished, egress_started, egress_ended, broadcast_started,
	// broadcast_url_failed, broadcast_ended, ingress_started, ingress_ended, transcription_completed,
	// transcription_failed, room_closed, recording_started, recording_stopped, ingress_stopped, *.
	Events []string `json:"events,omitempty"`
	// HMAC signing secret: whsec_ and base64, or another text of up to 1024 bytes of UTF-8 on one line, without blanks
	// or quotes around it; generated as whsec_<base64 of 32 bytes> when absent
	Secret *string `json:"secret,omitempty"`
	// room: the events of one session of a room are sent one after the other, by their sequence, and wait while an
	// earlier one is retried; none: they may overtake each other. One of none, room.
	Ordering *string `json:"ordering,omitempty"`
}

// WebhookPatch: What to change.
type WebhookPatch struct {
	// Delivery endpoint, http or https, without user info, on a public address
	URL *string `json:"url,omitempty"`
	// Event filter; default ["*"]. One of room_created, room_started, room_closing, planned_start_failed, room_finished,
	// participant_joined, participant_left, participant_waiting, participant_admitted, participant_denied,
	// room_join_refused, track_published, track_unpublished, egress_started, egress_ended, broadcast_started,
	// broadcast_url_failed, broadcast_ended, ingress_started, ingress_ended, transcription_completed,
	// transcription_failed, room_closed, recording_started, recording_stopped, ingress_stopped, *.
	Events []string `json:"events,omitempty"`
	// room: the events of one session of a room are sent one after the other, by their sequence, and wait while an
	// earlier one is retried; none: they may overtake each other. One of none, room.
	Ordering *string `json:"ordering,omitempty"`
	// true: nothing is sent from now on, and the events of the first three days are kept; false: what was kept is sent
	Paused *bool `json:"paused,omitempty"`
}

// WebhookPut: Changes of the webhook, including the secret.
type WebhookPut struct {
	// Delivery endpoint, http or https, without user info, on a public address
	URL *string `json:"url,omitempty"`
	// Event filter; default ["*"]. One of room_created, room_started, room_closing, planned_start_failed, room_finished,
	// participant_joined, participant_left, participant_waiting, participant_admitted, participant_denied,
	// room_join_refused, track_published, track_unpublished, egress_started, egress_ended, broadcast_started,
	// broadcast_url_failed, broadcast_ended, ingress_started, ingress_ended, transcription_completed,
	// transcription_failed, room_closed, recording_started, recording_stopped, ingress_stopped, *.
	Events []string `json:"events,omitempty"`
	// room: the events of one session of a room are sent one after the other, by their sequence, and wait while an
	// earlier one is retried; none: they may overtake each other. One of none, room.
	Ordering *string `json:"ordering,omitempty"`
	// true: nothing is sent from now on, and the events of the first three days are kept; false: what was kept is sent
	Paused *bool `json:"paused,omitempty"`
	// New signing secret, in the form of the creation; the mask *** keeps the current one
	Secret *string `json:"secret,omitempty"`
	// Ignored, so that you can send a webhook as you read it
	ID any `json:"id,omitempty"`
	// Ignored, so that you can send a webhook as you read it
	PausedAt any `json:"pausedAt,omitempty"`
	// Ignored, so that you can send a webhook as you read it
	CreatedAt any `json:"createdAt,omitempty"`
	// Ignored, so that you can send a webhook as you read it
	CreatedBy any `json:"createdBy,omitempty"`
	// Ignored, so that you can send a webhook as you read it
	Rooms any `json:"rooms,omitempty"`
}

// WebhookTest: The result of the test delivery.
type WebhookTest struct {
	// Whether the receiver responded with 2xx
	Delivered bool `json:"delivered"`
	// The receiver's status; 0 if there was no response
	StatusCode int64 `json:"statusCode"`
	// Why there was no complete response, or where the receiver redirects to
	Error *string `json:"error,omitempty"`
	// What to do about a redirect
	Hint *WebhookTestHint `json:"hint,omitempty"`
}

// WebhookTestHint: What to do about a redirect.
type WebhookTestHint struct {
	// The hint, in lower case and without a full stop
	Text string `json:"text"`
	// The command to run
	Command *string `json:"command,omitempty"`
}

// Delivery: One event for one webhook.
type Delivery struct {
	// Form dlv_<id>
	ID string `json:"id"`
	// Form wh_<id>
	WebhookID string `json:"webhookId"`
	// Id of the event, form evt_<id>
	EventID string `json:"eventId"`
	// Event name, as it is delivered
	Event string `json:"event"`
	// failed: after the last attempt; cancelled: its webhook was deleted before. One of pending, delivered, failed,
	// cancelled.
	Status string `json:"status"`
	// When the event was stored
	CreatedAt string `json:"createdAt"`
	// Null if it is not pending, or if it is waiting
	NextAttemptAt *string `json:"nextAttemptAt"`
	// Whether it waits for an earlier delivery of its room, because its webhook asks for order
	Waiting bool `json:"waiting"`
	// Every attempt, oldest first; the newest 20 after many replays
	Attempts []DeliveryAttemptsItem `json:"attempts"`
}

type DeliveryAttemptsItem struct {
	// Number of the attempt, from 1
	Number int64 `json:"number"`
	// When the request was sent
	StartedAt string `json:"startedAt"`
	// Duration in milliseconds
	DurationMs int64 `json:"durationMs"`
	// Null if there was no response
	StatusCode *int64 `json:"statusCode"`
	// Why the attempt failed
	Error *string `json:"error"`
	// The response of the receiver, at most 4 KiB
	ResponseBody *string `json:"responseBody"`
}

// DeliveryList: A page of deliveries.
type DeliveryList struct {
	// The deliveries
	Deliveries []Delivery `json:"deliveries"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// Replay: The replayed deliveries.
type Replay struct {
	// Deliveries that are pending again
	Replayed int64 `json:"replayed"`
}

// WebhookStats: What became of the deliveries of a webhook.
type WebhookStats struct {
	// Form wh_<id>
	WebhookID string `json:"webhookId"`
	// By the last attempts of the newest 20 deliveries that were tried, whatever the period: working if all were
	// accepted, unsteady if some were, failing if none was, unused if there is none. One of unused, working, unsteady,
	// failing.
	Health string `json:"health"`
	// Start of the period
	Since string `json:"since"`
	// End of the period
	Until string `json:"until"`
	// The receiver accepted them
	Delivered int64 `json:"delivered"`
	// They failed at their last attempt
	Failed int64 `json:"failed"`
	// They are sent, retried or waiting
	Pending int64 `json:"pending"`
	// Whether every delivery of the period was counted; of more than 50,000 in one state only the newest are
	IsComplete bool `json:"isComplete"`
	// Pending deliveries that the receiver did not accept yet, whatever the period
	Retrying int64 `json:"retrying"`
	// Null if none is pending
	OldestPendingAt *string `json:"oldestPendingAt"`
	// The same counts for 48 equal parts of the period, the oldest first
	Periods []WebhookStatsPeriodsItem `json:"periods"`
}

type WebhookStatsPeriodsItem struct {
	// Start of this part
	StartedAt string `json:"startedAt"`
	// The receiver accepted them
	Delivered int64 `json:"delivered"`
	// They failed at their last attempt
	Failed int64 `json:"failed"`
	// They are sent, retried or waiting
	Pending int64 `json:"pending"`
}

// EventRoom: The room of an event.
type EventRoom struct {
	// The media server's id of this session of the room; empty if it is not known
	ID string `json:"id"`
	// Room name
	Name string `json:"name"`
	// When the room was opened
	CreatedAt *string `json:"createdAt,omitempty"`
	// When it was closed; only with room_finished
	EndedAt *string `json:"endedAt,omitempty"`
	// Metadata of the room, empty for none; null when it has more than 16 KiB, which metadataBytes and metadataSha256
	// then identify, or when it is not known
	Metadata *string `json:"metadata"`
	// Length of metadata of more than 16 KiB, in bytes of UTF-8; read it from the room while it is open
	MetadataBytes *int64 `json:"metadataBytes,omitempty"`
	// SHA-256 of metadata of more than 16 KiB, of its UTF-8, in hexadecimal
	MetadataSha256 *string `json:"metadataSha256,omitempty"`
	// Participants in the room after the event, without recorders and agents
	NumParticipants int64 `json:"numParticipants"`
}

// RoomCreatedEvent: A room was opened..
type RoomCreatedEvent struct {
	// Event name. One of room_created.
	Event string    `json:"event"`
	Room  EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool `json:"reconciled,omitempty"`
}

// RoomStartedEvent: The first participant of a room joined..
type RoomStartedEvent struct {
	// Event name. One of room_started.
	Event string    `json:"event"`
	Room  EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool `json:"reconciled,omitempty"`
}

// RoomClosing: When and why the room is closed.
type RoomClosing struct {
	// What closes the room. One of closes_at, max_duration, solo_timeout.
	Reason string `json:"reason"`
	// When it is closed
	ClosesAt string `json:"closesAt"`
	// Seconds until then; 0 right before the end
	SecondsLeft int64 `json:"secondsLeft"`
}

// RoomClosingEvent: A plan is about to close a room: sent with each warning to its participants, and right before its
// end..
type RoomClosingEvent struct {
	// Event name. One of room_closing.
	Event string    `json:"event"`
	Room  EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool       `json:"reconciled,omitempty"`
	Closing    RoomClosing `json:"closing"`
}

// PlannedStart: What a plan could not start.
type PlannedStart struct {
	// What the plan wanted to start. One of recording, transcription.
	Starts string `json:"starts"`
	// Why it was refused
	Error PlannedStartError `json:"error"`
}

// PlannedStartError: Why it was refused.
type PlannedStartError struct {
	// Error code
	Code string `json:"code"`
	// What is wrong, and what to do
	Message string `json:"message"`
}

// PlannedStartFailedEvent: A plan could not start something. It is tried again while the room is open; each reason is
// told once..
type PlannedStartFailedEvent struct {
	// Event name. One of planned_start_failed.
	Event string    `json:"event"`
	Room  EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool        `json:"reconciled,omitempty"`
	Planned    PlannedStart `json:"planned"`
}

// RoomFinishedEvent: A room was closed..
type RoomFinishedEvent struct {
	// Event name; room_closed only for a webhook that is registered under that name. One of room_finished, room_closed.
	Event string    `json:"event"`
	Room  EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool `json:"reconciled,omitempty"`
	// Why a plan closed the room; absent for a room that ended otherwise. One of closes_at, max_duration, solo_timeout.
	CloseReason *string `json:"closeReason,omitempty"`
}

// JoinedParticipant: Who joined.
type JoinedParticipant struct {
	// The media server's id of this connection
	SID string `json:"sid"`
	// Identity of the token (userId)
	Identity string `json:"identity"`
	// Display name
	Name string `json:"name"`
	// When the participant joined
	JoinedAt string `json:"joinedAt"`
	// Metadata of the token, or the changed one
	Metadata *string `json:"metadata,omitempty"`
	// Role of the token; absent for foreign tokens
	Role *string `json:"role,omitempty"`
}

// ParticipantJoinedEvent: A participant joined a room..
type ParticipantJoinedEvent struct {
	// Event name. One of participant_joined.
	Event string    `json:"event"`
	Room  EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool `json:"reconciled,omitempty"`
	// Only with the 30th of a participant in one minute: those that follow before this instant are left out, with their
	// ends
	LimitedUntil *string           `json:"limitedUntil,omitempty"`
	Participant  JoinedParticipant `json:"participant"`
}

// LeftParticipant: Who left, and the reason.
type LeftParticipant struct {
	// The media server's id of this connection
	SID string `json:"sid"`
	// Identity of the token (userId)
	Identity string `json:"identity"`
	// Display name
	Name string `json:"name"`
	// When the participant joined
	JoinedAt *string `json:"joinedAt,omitempty"`
	// Metadata of the token, or the changed one
	Metadata *string `json:"metadata,omitempty"`
	// Role of the token; absent for foreign tokens
	Role *string `json:"role,omitempty"`
	// left: by itself; removed: by the API; lost: its connection broke; duplicate_identity: the same identity joined
	// again. One of left, removed, lost, room_closed, duplicate_identity.
	LeaveReason string `json:"leaveReason"`
}

// ParticipantLeftEvent: A participant left a room..
type ParticipantLeftEvent struct {
	// Event name. One of participant_left.
	Event string    `json:"event"`
	Room  EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled  *bool           `json:"reconciled,omitempty"`
	Participant LeftParticipant `json:"participant"`
}

// WaitingParticipant: Who waits for the room, or did.
type WaitingParticipant struct {
	// The media server's id of this connection
	SID string `json:"sid"`
	// Identity of the token (userId)
	Identity string `json:"identity"`
	// Display name
	Name string `json:"name"`
	// Metadata of the token, or the changed one
	Metadata *string `json:"metadata,omitempty"`
	// Role of the token; absent for foreign tokens
	Role *string `json:"role,omitempty"`
	// Since when the person has been waiting
	WaitingSince string `json:"waitingSince"`
}

// ParticipantWaitingEvent: Somebody waits to be admitted to a room; sent once for each token..
type ParticipantWaitingEvent struct {
	// Event name. One of participant_waiting.
	Event string    `json:"event"`
	Room  EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled  *bool              `json:"reconciled,omitempty"`
	Participant WaitingParticipant `json:"participant"`
}

// ParticipantAdmittedEvent: Somebody who waited was admitted to the room..
type ParticipantAdmittedEvent struct {
	// Event name. One of participant_admitted.
	Event string    `json:"event"`
	Room  EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled  *bool              `json:"reconciled,omitempty"`
	Participant WaitingParticipant `json:"participant"`
}

// ParticipantDeniedEvent: Somebody who waited was denied, and disconnected..
type ParticipantDeniedEvent struct {
	// Event name. One of participant_denied.
	Event string    `json:"event"`
	Room  EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled  *bool              `json:"reconciled,omitempty"`
	Participant WaitingParticipant `json:"participant"`
}

// RefusedParticipant: Who joined with an older token, and was removed.
type RefusedParticipant struct {
	// The media server's id of this connection
	SID string `json:"sid"`
	// Identity of the token (userId)
	Identity string `json:"identity"`
	// Display name
	Name string `json:"name"`
}

// RoomJoinRefusedEvent: Somebody joined a room that is kept closed, and was removed; sent once for each time that a
// room is closed..
type RoomJoinRefusedEvent struct {
	// Event name. One of room_join_refused.
	Event string    `json:"event"`
	Room  EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled  *bool              `json:"reconciled,omitempty"`
	Participant RefusedParticipant `json:"participant"`
	// When the room may be entered again; null: only POST /v1/rooms opens it
	ClosedUntil *string `json:"closedUntil"`
}

// TrackParticipant: The participant who publishes the track.
type TrackParticipant struct {
	// The media server's id of this connection
	SID string `json:"sid"`
	// Identity of the token (userId)
	Identity string `json:"identity"`
	// Display name
	Name string `json:"name"`
}

// EventTrack: LiveKit's TrackInfo.
type EventTrack struct {
	// Id of the track
	SID *string `json:"sid,omitempty"`
	// AUDIO, VIDEO or DATA
	Type *string `json:"type,omitempty"`
	// CAMERA, MICROPHONE, SCREEN_SHARE, SCREEN_SHARE_AUDIO or UNKNOWN
	Source *string `json:"source,omitempty"`
	// Name from the publisher
	Name *string `json:"name,omitempty"`
	// Whether the track is muted
	Muted *bool `json:"muted,omitempty"`
}

// TrackPublishedEvent: A participant published a track: a microphone, a camera or a screen..
type TrackPublishedEvent struct {
	// Event name. One of track_published.
	Event string `json:"event"`
	// The room; null when it is unknown
	Room *EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled  *bool            `json:"reconciled,omitempty"`
	Participant TrackParticipant `json:"participant"`
	Track       EventTrack       `json:"track"`
	// Only with the 30th of a participant in one minute: those that follow before this instant are left out, with their
	// ends
	LimitedUntil *string `json:"limitedUntil,omitempty"`
}

// TrackUnpublishedEvent: A participant stopped publishing a track..
type TrackUnpublishedEvent struct {
	// Event name. One of track_unpublished.
	Event string `json:"event"`
	// The room; null when it is unknown
	Room *EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled  *bool            `json:"reconciled,omitempty"`
	Participant TrackParticipant `json:"participant"`
	Track       EventTrack       `json:"track"`
}

// EventRecording: The recording.
type EventRecording struct {
	// The recording's egress id
	EgressID string `json:"egressId"`
	// recording, stopped, aborted or failed
	Status string `json:"status"`
	// When the recording's media begins; null until known
	MediaStartedAt *string `json:"mediaStartedAt,omitempty"`
	// Valid for 24 h from the attempt; absent if there is no file
	FileURL *string `json:"fileUrl,omitempty"`
	// Length in milliseconds
	DurationMs *int64 `json:"durationMs,omitempty"`
	// Size of the file in bytes
	SizeBytes *int64 `json:"sizeBytes,omitempty"`
	// Why the recording failed or was aborted
	Error *string `json:"error,omitempty"`
	// An earlier egress_ended reported the recording as failed; its file was stored after all
	Corrected *bool `json:"corrected,omitempty"`
}

// EgressStartedEvent: The recording of a room started..
type EgressStartedEvent struct {
	// Event name; recording_started only for a webhook that is registered under that name. One of egress_started,
	// recording_started.
	Event string `json:"event"`
	// The room; null when it is unknown
	Room *EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool          `json:"reconciled,omitempty"`
	Recording  EventRecording `json:"recording"`
}

// EgressEndedEvent: The recording of a room is over; `fileUrl` leads to its file..
type EgressEndedEvent struct {
	// Event name; recording_stopped only for a webhook that is registered under that name. One of egress_ended,
	// recording_stopped.
	Event string `json:"event"`
	// The room; null when it is unknown
	Room *EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool          `json:"reconciled,omitempty"`
	Recording  EventRecording `json:"recording"`
}

// EventBroadcastURL: One receiver of a broadcast.
type EventBroadcastURL struct {
	// Form bu_<id>
	URLID string `json:"urlId"`
	// The URL without its key
	URL string `json:"url"`
	// connecting, active, failed, removed or ended
	State string `json:"state"`
	// Why it failed
	Error *string `json:"error"`
}

// EventBroadcast: The broadcast.
type EventBroadcast struct {
	// Form bc_<id>
	BroadcastID string `json:"broadcastId"`
	// LiveKit's id of the recorder's work
	EgressID string `json:"egressId"`
	// broadcasting, stopped, aborted or failed
	Status string `json:"status"`
	// Null if it never began
	StartedAt *string `json:"startedAt"`
	// Its receivers, as they are now
	Urls      []EventBroadcastURL `json:"urls"`
	FailedURL *EventBroadcastURL  `json:"failedUrl,omitempty"`
	// Where the HLS is; absent without
	Hls *EventBroadcastHls `json:"hls,omitempty"`
	// Length of the HLS in milliseconds
	DurationMs *int64 `json:"durationMs,omitempty"`
	// Size of the HLS in bytes
	SizeBytes *int64 `json:"sizeBytes,omitempty"`
	// Why the broadcast failed or was aborted
	Error *string `json:"error,omitempty"`
	// An earlier broadcast_ended reported the broadcast as failed
	Corrected *bool `json:"corrected,omitempty"`
}

// EventBroadcastHls: Where the HLS is; absent without.
type EventBroadcastHls struct {
	// Length of a segment in seconds
	SegmentSeconds int64 `json:"segmentSeconds"`
	// Null for a local folder
	Bucket *string `json:"bucket"`
	// Prefix of the keys in the bucket, or path of the folder on the recorder's file system
	Folder string `json:"folder"`
	// Name of the playlist of everything
	Playlist string `json:"playlist"`
	// Name of the playlist of the newest segments
	LivePlaylist string `json:"livePlaylist"`
}

// BroadcastStartedEvent: The broadcast of a room started; its receivers may still be connecting..
type BroadcastStartedEvent struct {
	// Event name. One of broadcast_started.
	Event string `json:"event"`
	// The room; null when it is unknown
	Room *EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool          `json:"reconciled,omitempty"`
	Broadcast  EventBroadcast `json:"broadcast"`
}

// BroadcastURLFailedEvent: One receiver of a broadcast refused or closed, `failedUrl`; the others go on..
type BroadcastURLFailedEvent struct {
	// Event name. One of broadcast_url_failed.
	Event string `json:"event"`
	// The room; null when it is unknown
	Room *EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool          `json:"reconciled,omitempty"`
	Broadcast  EventBroadcast `json:"broadcast"`
}

// BroadcastEndedEvent: The broadcast of a room is over..
type BroadcastEndedEvent struct {
	// Event name. One of broadcast_ended.
	Event string `json:"event"`
	// The room; null when it is unknown
	Room *EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool          `json:"reconciled,omitempty"`
	Broadcast  EventBroadcast `json:"broadcast"`
}

// EventIngress: The stream.
type EventIngress struct {
	// Form IN_<id>
	IngressID string `json:"ingressId"`
	// Name of the ingress
	Name *string `json:"name,omitempty"`
	// RTMP_INPUT or WHIP_INPUT
	InputType *string `json:"inputType,omitempty"`
	// Identity of the stream in the room
	ParticipantIdentity *string `json:"participantIdentity,omitempty"`
	// Display name of the stream in the room
	ParticipantName *string `json:"participantName,omitempty"`
	// Why it failed, if it did
	Error *string `json:"error,omitempty"`
}

// IngressStartedEvent: A stream through an ingress started..
type IngressStartedEvent struct {
	// Event name. One of ingress_started.
	Event string `json:"event"`
	// The room; null when it is unknown
	Room *EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool        `json:"reconciled,omitempty"`
	Ingress    EventIngress `json:"ingress"`
}

// IngressEndedEvent: A stream through an ingress ended..
type IngressEndedEvent struct {
	// Event name; ingress_stopped only for a webhook that is registered under that name. One of ingress_ended,
	// ingress_stopped.
	Event string `json:"event"`
	// The room; null when it is unknown
	Room *EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool        `json:"reconciled,omitempty"`
	Ingress    EventIngress `json:"ingress"`
}

// EventTranscription: The transcription; read its text from the API.
type EventTranscription struct {
	// Form tr_<id>
	TranscriptionID string `json:"transcriptionId"`
	// live or post
	Kind *string `json:"kind,omitempty"`
	// Room name
	RoomID *string `json:"roomId,omitempty"`
	// The recording of a post-call transcription
	RecordingID *string `json:"recordingId,omitempty"`
	// stopped, completed or failed
	Status *string `json:"status,omitempty"`
	// BCP 47
	Language *string `json:"language,omitempty"`
	// Live transcriptions only
	StartedAt *string `json:"startedAt,omitempty"`
	// Live transcriptions only
	StoppedAt *string `json:"stoppedAt,omitempty"`
	// Post-call transcriptions only
	QueuedAt *string `json:"queuedAt,omitempty"`
	// Post-call transcriptions only
	CompletedAt *string `json:"completedAt,omitempty"`
	// Length of the audio, of a post-call transcription
	DurationMs *int64 `json:"durationMs,omitempty"`
	// Final segments
	SegmentCount *int64 `json:"segmentCount,omitempty"`
	// Why the transcription failed; only with transcription_failed
	Error *EventTranscriptionError `json:"error,omitempty"`
}

// EventTranscriptionError: Why the transcription failed; only with transcription_failed.
type EventTranscriptionError struct {
	// Error code
	Code string `json:"code"`
	// What is wrong, and what to do
	Message string `json:"message"`
}

// TranscriptionCompletedEvent: A transcription was stopped or completed..
type TranscriptionCompletedEvent struct {
	// Event name. One of transcription_completed.
	Event string `json:"event"`
	// The room; null when it is unknown
	Room *EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled    *bool              `json:"reconciled,omitempty"`
	Transcription EventTranscription `json:"transcription"`
}

// TranscriptionFailedEvent: A transcription failed; `error` has the reason..
type TranscriptionFailedEvent struct {
	// Event name. One of transcription_failed.
	Event string `json:"event"`
	// The room; null when it is unknown
	Room *EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled    *bool              `json:"reconciled,omitempty"`
	Transcription EventTranscription `json:"transcription"`
}

// Event: An event, as webhooks and lists of events have it; `event` is its name.
type Event struct {
	// Event name
	Event string     `json:"event"`
	Room  *EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool         `json:"reconciled,omitempty"`
	Closing    *RoomClosing  `json:"closing,omitempty"`
	Planned    *PlannedStart `json:"planned,omitempty"`
	// Why a plan closed the room; absent for a room that ended otherwise. One of closes_at, max_duration, solo_timeout.
	CloseReason *string `json:"closeReason,omitempty"`
	// Only with the 30th of a participant in one minute: those that follow before this instant are left out, with their
	// ends
	LimitedUntil *string           `json:"limitedUntil,omitempty"`
	Participant  *EventParticipant `json:"participant,omitempty"`
	// When the room may be entered again; null: only POST /v1/rooms opens it
	ClosedUntil   *string             `json:"closedUntil,omitempty"`
	Track         *EventTrack         `json:"track,omitempty"`
	Recording     *EventRecording     `json:"recording,omitempty"`
	Broadcast     *EventBroadcast     `json:"broadcast,omitempty"`
	Ingress       *EventIngress       `json:"ingress,omitempty"`
	Transcription *EventTranscription `json:"transcription,omitempty"`
}

type EventParticipant struct {
	// The media server's id of this connection
	SID string `json:"sid"`
	// Identity of the token (userId)
	Identity string `json:"identity"`
	// Display name
	Name string `json:"name"`
	// When the participant joined
	JoinedAt *string `json:"joinedAt,omitempty"`
	// Metadata of the token, or the changed one
	Metadata *string `json:"metadata,omitempty"`
	// Role of the token; absent for foreign tokens
	Role *string `json:"role,omitempty"`
	// left: by itself; removed: by the API; lost: its connection broke; duplicate_identity: the same identity joined
	// again. One of left, removed, lost, room_closed, duplicate_identity.
	LeaveReason *string `json:"leaveReason,omitempty"`
	// Since when the person has been waiting
	WaitingSince *string `json:"waitingSince,omitempty"`
}

// EventList: A page of events.
type EventList struct {
	// The events, oldest first, or newest first by order=newest
	Events []Event `json:"events"`
	// Where to continue, also after the last event: later events come after it. With order=newest earlier events do, and
	// an empty page is the end
	NextCursor string `json:"nextCursor"`
}

// KeyCreate: The API key to create.
type KeyCreate struct {
	// Purpose of the key, such as the program that uses it. At most 256 bytes of UTF-8, no control characters.
	Name string `json:"name"`
	// Scopes of the key. `read`: read rooms, participants, sessions, recordings, transcripts, webhooks and events, and
	// downloads; no stream keys, no audit log. `tokens`: issue and renew access tokens, and nothing else. `rooms`: open,
	// change and close rooms; tokens, participants, blocks, data; no stream keys. `ingress`: create, list and delete
	// endpoints for streams, with their stream keys. `recordings`: start, stop, read and delete recordings and
	// transcriptions. `webhooks`: register, change and delete webhooks, their deliveries and replays, and thereby all
	// events. `admin`: everything that the others allow, the audit log and the self-check; no API keys. One of read,
	// tokens, rooms, ingress, recordings, webhooks, admin.
	Scopes []string `json:"scopes"`
	// Only rooms whose names begin with one of these: the key sees and changes nothing of others. Without it, all rooms
	Rooms []string `json:"rooms,omitempty"`
	// Limits of this key
	Limits *KeyCreateLimits `json:"limits,omitempty"`
	// Seconds until the key expires; without it, the key is valid until it is revoked
	Ttl *int64 `json:"ttl,omitempty"`
}

// KeyCreateLimits: Limits of this key.
type KeyCreateLimits struct {
	// Webhooks that it may register
	Webhooks *int64 `json:"webhooks,omitempty"`
	// Plans that it may make
	Plans *int64 `json:"plans,omitempty"`
	// Rooms of its own that may be open at once
	Rooms *int64 `json:"rooms,omitempty"`
	// People who may be in its rooms at once
	Participants *int64 `json:"participants,omitempty"`
	// Participant minutes in its rooms in a month, in UTC
	MinutesPerMonth *int64 `json:"minutesPerMonth,omitempty"`
	// Requests in a second to one instance, if RATE_LIMIT_API is not lower
	RequestsPerSecond *int64 `json:"requestsPerSecond,omitempty"`
}

// Key: An API key beside the root key.
type Key struct {
	// Form key_<id>: sent as X-Api-Key
	ID string `json:"id"`
	// Name of the key, such as the program that uses it
	Name string `json:"name"`
	// Scopes of the key. `read`: read rooms, participants, sessions, recordings, transcripts, webhooks and events, and
	// downloads; no stream keys, no audit log. `tokens`: issue and renew access tokens, and nothing else. `rooms`: open,
	// change and close rooms; tokens, participants, blocks, data; no stream keys. `ingress`: create, list and delete
	// endpoints for streams, with their stream keys. `recordings`: start, stop, read and delete recordings and
	// transcriptions. `webhooks`: register, change and delete webhooks, their deliveries and replays, and thereby all
	// events. `admin`: everything that the others allow, the audit log and the self-check; no API keys. One of read,
	// tokens, rooms, ingress, recordings, webhooks, admin.
	Scopes []string `json:"scopes"`
	// The rooms of the key, by the beginnings of their names; null for all rooms
	Rooms []string `json:"rooms"`
	// The limits that the key was made with; null for those of the service alone
	Limits *KeyLimits `json:"limits"`
	// Only an active key is accepted. One of active, expired, revoked.
	Status string `json:"status"`
	// When the key was created
	CreatedAt string `json:"createdAt"`
	// When it expires; null for never
	ExpiresAt *string `json:"expiresAt"`
	// When it was revoked; null if it was not
	RevokedAt *string `json:"revokedAt"`
	// The minute in which it last signed a request, known to all instances a minute later; null if it never did
	LastUsedAt *string `json:"lastUsedAt"`
	// The secret to sign with; only in the response to the creation
	Secret *string `json:"secret,omitempty"`
}

// KeyLimits: The limits that the key was made with; null for those of the service alone.
type KeyLimits struct {
	// Webhooks that it may register
	Webhooks *int64 `json:"webhooks,omitempty"`
	// Plans that it may make
	Plans *int64 `json:"plans,omitempty"`
	// Rooms of its own that may be open at once
	Rooms *int64 `json:"rooms,omitempty"`
	// People who may be in its rooms at once
	Participants *int64 `json:"participants,omitempty"`
	// Participant minutes in its rooms in a month, in UTC
	MinutesPerMonth *int64 `json:"minutesPerMonth,omitempty"`
	// Requests in a second to one instance, if RATE_LIMIT_API is not lower
	RequestsPerSecond *int64 `json:"requestsPerSecond,omitempty"`
}

// KeyList: A page of API keys.
type KeyList struct {
	// The keys, oldest first
	Keys []Key `json:"keys"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// OwnKey: The key that signed the request, with its scopes and limits.
type OwnKey struct {
	// Form key_<id>; `root` for the root key, API_KEY
	ID string `json:"id"`
	// What it is for; `root` for the root key
	Name string `json:"name"`
	// Whether it is the root key, which alone creates and revokes keys
	IsRoot bool `json:"isRoot"`
	// Scopes of the key. `read`: read rooms, participants, sessions, recordings, transcripts, webhooks and events, and
	// downloads; no stream keys, no audit log. `tokens`: issue and renew access tokens, and nothing else. `rooms`: open,
	// change and close rooms; tokens, participants, blocks, data; no stream keys. `ingress`: create, list and delete
	// endpoints for streams, with their stream keys. `recordings`: start, stop, read and delete recordings and
	// transcriptions. `webhooks`: register, change and delete webhooks, their deliveries and replays, and thereby all
	// events. `admin`: everything that the others allow, the audit log and the self-check; no API keys. One of read,
	// tokens, rooms, ingress, recordings, webhooks, admin.
	Scopes []string `json:"scopes"`
	// The rooms of the key, by the beginnings of their names; null for all rooms
	Rooms []string `json:"rooms"`
	// When it expires; null for never
	ExpiresAt *string `json:"expiresAt"`
	// What the key may have only so many of; absent for the root key. Later versions may add kinds
	Limits *OwnKeyLimits `json:"limits,omitempty"`
}

// OwnKeyLimits: What the key may have only so many of; absent for the root key. Later versions may add kinds.
type OwnKeyLimits struct {
	// Webhooks that the key has registered
	Webhooks OwnKeyLimitsWebhooks `json:"webhooks"`
	// Plans that the key has made
	Plans OwnKeyLimitsPlans `json:"plans"`
	// Rooms to which the key gave a vocabulary
	Vocabularies OwnKeyLimitsVocabularies `json:"vocabularies"`
	// Blocks by the key that have not ended
	Blocks OwnKeyLimitsBlocks `json:"blocks"`
	// Rooms of the key that are open
	Rooms *OwnKeyLimitsRooms `json:"rooms,omitempty"`
	// People in the rooms of the key
	Participants *OwnKeyLimitsParticipants `json:"participants,omitempty"`
	// Participant minutes in the rooms of the key in this month, a minute old at most
	MinutesPerMonth *OwnKeyLimitsMinutesPerMonth `json:"minutesPerMonth,omitempty"`
	// Requests in a second to one instance
	RequestsPerSecond *OwnKeyLimitsRequestsPerSecond `json:"requestsPerSecond,omitempty"`
}

// OwnKeyLimitsWebhooks: Webhooks that the key has registered.
type OwnKeyLimitsWebhooks struct {
	// How many there are now
	Used int64 `json:"used"`
	// How many there may be
	Limit int64 `json:"limit"`
}

// OwnKeyLimitsPlans: Plans that the key has made.
type OwnKeyLimitsPlans struct {
	// How many there are now
	Used int64 `json:"used"`
	// How many there may be
	Limit int64 `json:"limit"`
}

// OwnKeyLimitsVocabularies: Rooms to which the key gave a vocabulary.
type OwnKeyLimitsVocabularies struct {
	// How many there are now
	Used int64 `json:"used"`
	// How many there may be
	Limit int64 `json:"limit"`
}

// OwnKeyLimitsBlocks: Blocks by the key that have not ended.
type OwnKeyLimitsBlocks struct {
	// How many there are now
	Used int64 `json:"used"`
	// How many there may be
	Limit int64 `json:"limit"`
}

// OwnKeyLimitsRooms: Rooms of the key that are open.
type OwnKeyLimitsRooms struct {
	// How many there are now
	Used int64 `json:"used"`
	// How many there may be
	Limit int64 `json:"limit"`
}

// OwnKeyLimitsParticipants: People in the rooms of the key.
type OwnKeyLimitsParticipants struct {
	// How many there are now
	Used int64 `json:"used"`
	// How many there may be
	Limit int64 `json:"limit"`
}

// OwnKeyLimitsMinutesPerMonth: Participant minutes in the rooms of the key in this month, a minute old at most.
type OwnKeyLimitsMinutesPerMonth struct {
	// How many there are now
	Used int64 `json:"used"`
	// How many there may be
	Limit int64 `json:"limit"`
}

// OwnKeyLimitsRequestsPerSecond: Requests in a second to one instance.
type OwnKeyLimitsRequestsPerSecond struct {
	// How many there may be
	Limit int64 `json:"limit"`
}

// AuditEntry: A request that changed something or tried to. A search by requestId also finds failed requests of other
// kinds.
type AuditEntry struct {
	// Form aud_<id>
	ID string `json:"id"`
	// When the request was received
	OccurredAt string `json:"occurredAt"`
	// Id of the API key that signed the request; `root` for API_KEY
	KeyID string `json:"keyId"`
	// HTTP method
	Method string `json:"method"`
	// Path with the names of its parameters
	Path string `json:"path"`
	// The parameters of the path, and the id of what was created
	Ids map[string]string `json:"ids"`
	// The caller's network: the address cut to /24, or /48 for IPv6; null if it is not known
	Address *string `json:"address"`
	// X-Request-Id of the response
	RequestID string `json:"requestId"`
	// HTTP status of the response
	Status int64 `json:"status"`
	// Result: done (2xx), refused (4xx) or failed (5xx). One of done, refused, failed.
	Result string `json:"result"`
	// Slug of the problem type; null without a problem
	Problem *string `json:"problem"`
}

// AuditList: A page of the audit log.
type AuditList struct {
	// The entries, newest first
	Entries []AuditEntry `json:"entries"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
}

// Person: The person of the code.
type Person struct {
	// First name or names
	Name string `json:"name"`
	// Last name; for married women the birth name
	Surname string `json:"surname"`
	// F female, M male. One of F, M.
	Gender string `json:"gender"`
	// Day of birth, DD
	Day any `json:"day"`
	// Month of birth, MM
	Month any `json:"month"`
	// Year of birth, YYYY
	Year any `json:"year"`
	// Birth city in Italy, or the country in Italian for births abroad; case, accents and apostrophes are ignored;
	// former and bilingual names and Belfiore codes are accepted
	City string `json:"city"`
	// Former or present abbreviation of the province, EE for births abroad; only needed if the city is ambiguous
	Province *string `json:"province,omitempty"`
	// The person has no surname: `surname` is empty, and the code has XXX
	NoSurname *bool `json:"noSurname,omitempty"`
	// The person has no given name: `name` is empty, and the code has XXX
	NoName *bool `json:"noName,omitempty"`
}

// IstatProvince: The province of a comune of Sardinia as ISTAT has it.
type IstatProvince struct {
	// Two letters
	Abbreviation string `json:"abbreviation"`
	// Name in Italian
	Name string `json:"name"`
	// First day
	From string `json:"from"`
}

// PlacePeriod: A place with its dates.
type PlacePeriod struct {
	// Belfiore code of the place
	Code string `json:"code"`
	// Belfiore code of the comune to which the place belongs today; equal to `code` while the place exists
	BelfioreCode string `json:"belfiore_code"`
	// Province abbreviation, EE for a state
	Province string `json:"province"`
	// Upper case
	Name string `json:"name"`
	// First day of the name in the province; null if no register has it
	From *string `json:"from"`
	// Last day; null while in force, or if no register has it
	To *string `json:"to"`
	// Whether the name is in force today
	Current bool `json:"current"`
	// Only in lists with details=true: the province of ISTAT, where it is not that of ANPR, which `province` has
	IstatProvince *IstatProvince `json:"istatProvince,omitempty"`
}

// GeneratedCodeDetails: With details=true only.
type GeneratedCodeDetails struct {
	Birthplace PlacePeriod `json:"birthplace"`
	// Why this place was chosen: by its Belfiore code; its own name on the date; an alias; its name at another time; it
	// came later; it had ended; its dates are unknown; it is the successor of the given place. One of code, name, alias,
	// other-name, later, ended, undated, successor.
	Why string `json:"why"`
	// Warnings about the data. One of place-not-in-force, place-ended, names-after-comma.
	Warnings []string `json:"warnings"`
	// The fields of the request that are not those of a person, and were ignored
	Ignored []string `json:"ignored"`
}

// GeneratedCode: The code of a person.
type GeneratedCode struct {
	// The fiscal code, 16 characters
	CF      string                `json:"cf"`
	Details *GeneratedCodeDetails `json:"details,omitempty"`
}

// PlaceRecord: A place.
type PlaceRecord struct {
	// Belfiore code of the place
	Code string `json:"code"`
	// Belfiore code of the comune to which the place belongs today; equal to `code` while the place exists
	BelfioreCode string `json:"belfiore_code"`
	// Province abbreviation, EE for a state
	Province string `json:"province"`
	// Upper case
	Name string `json:"name"`
}

// CodeFault: An error in a code.
type CodeFault struct {
	// Kind of the error
	Reason string `json:"reason"`
	// Index of the first wrong character, from 0
	Start int64 `json:"start"`
	// Index after the last one
	End int64 `json:"end"`
	// Error message
	Message string `json:"message"`
	// For a prefix before the code (TINIT-, VATIT-, IT): the code that is meant, not checked
	Meant *string `json:"meant,omitempty"`
}

// FiscalError: Every error under /cf and /it.
type FiscalError struct {
	// Class of the error
	Name string `json:"name"`
	// What is wrong
	Message string `json:"message"`
	// HTTP status
	Code int64 `json:"code"`
	// What is wrong with each invalid field
	Errors map[string]string `json:"errors,omitempty"`
	// For an ambiguous place: the places that it may mean
	Candidates []PlaceRecord `json:"candidates,omitempty"`
	// For an unknown place: suggestions
	Suggestions []PlaceRecord `json:"suggestions,omitempty"`
	// For a code, with details=true: everything that is wrong
	Faults []CodeFault `json:"faults,omitempty"`
}

// CodeAndPerson: A code, and what is known of the person to whom it may belong. At least one field of the person is
// given; day, month and year belong together.
type CodeAndPerson struct {
	// The fiscal code
	CF string `json:"cf"`
	// First name or names
	Name *string `json:"name,omitempty"`
	// Last name; for married women the birth name
	Surname *string `json:"surname,omitempty"`
	// F female, M male. One of F, M.
	Gender *string `json:"gender,omitempty"`
	// Day of birth, DD
	Day any `json:"day,omitempty"`
	// Month of birth, MM
	Month any `json:"month,omitempty"`
	// Year of birth, YYYY
	Year any `json:"year,omitempty"`
	// Birth city in Italy, or the country in Italian for births abroad; case, accents and apostrophes are ignored;
	// former and bilingual names and Belfiore codes are accepted
	City *string `json:"city,omitempty"`
	// Former or present abbreviation of the province, EE for births abroad; only needed if the city is ambiguous
	Province *string `json:"province,omitempty"`
	// The person has no surname: `surname` is empty, and the code has XXX
	NoSurname *bool `json:"noSurname,omitempty"`
	// The person has no given name: `name` is empty, and the code has XXX
	NoName *bool `json:"noName,omitempty"`
}

// MatchPart: A part of the code, compared with the data.
type MatchPart struct {
	// The compared part. One of surname, name, gender, day, month, year, place.
	Part string `json:"part"`
	// Whether it matches
	Matches bool `json:"matches"`
	// Computed from the person's data: three letters of a name, F or M, a number of the date, a Belfiore code
	Expected any `json:"expected"`
	// What the code contains
	Found any `json:"found"`
}

// Match: Whether a code matches what is known of a person, part by part.
type Match struct {
	// Whether all compared parts match
	Matches bool `json:"matches"`
	// The compared parts, in the order of the code
	Parts []MatchPart `json:"parts"`
	// The parts that were not compared, because the request has nothing to compare with. One of surname, name, gender,
	// day, month, year, place.
	Skipped []string `json:"skipped"`
	// How much a match proves: everything was compared; both names and the birth date; both names, whose letters many
	// people share; or less. One of all, names-and-date, names, some.
	Compared string `json:"compared"`
}

// DecodedCodeDetails: With details=true only.
type DecodedCodeDetails struct {
	// The code without omocodia
	BaseCode string `json:"baseCode"`
	// Number of digits that are replaced by letters, 0 to 7
	OmocodiaLevel int64 `json:"omocodiaLevel"`
	// The birth date by the other reading of the two-digit year
	OtherBirthday *string `json:"otherBirthday"`
	// Belfiore code
	BirthplaceCode string `json:"birthplaceCode"`
	// Whether the place existed on the birth date
	BirthplaceWasInForce bool `json:"birthplaceWasInForce"`
	// The place with its current name, or its successor
	BirthplaceToday *PlaceRecord `json:"birthplaceToday"`
	// Warnings about a valid code. One of place-not-in-force, names-not-derivable.
	Warnings []string `json:"warnings"`
}

// DecodedCode: What a code means.
type DecodedCode struct {
	// The three letters of the name
	Name string `json:"name"`
	// The three letters of the surname
	Surname string `json:"surname"`
	// Sex. One of F, M.
	Gender string `json:"gender"`
	// Day of the birth date
	Day int64 `json:"day"`
	// Month of the birth date
	Month int64 `json:"month"`
	// Year of the birth date
	Year int64 `json:"year"`
	// YYYY-MM-DD
	Birthday string `json:"birthday"`
	// Place or country, upper case, by its name on the birth date
	Birthplace string `json:"birthplace"`
	// Province on the birth date, EE abroad
	BirthplaceProvincia string `json:"birthplaceProvincia"`
	// The code, upper case
	CF      string              `json:"cf"`
	Details *DecodedCodeDetails `json:"details,omitempty"`
}

// Validity: Whether a code is valid.
type Validity struct {
	// Whether the code is valid
	Valid bool `json:"valid"`
	// Kind of the code by its own check digit: of a person, provisional, a VAT number (which is also the code of most
	// organisations), of an organisation without VAT number; null when it is none of them. One of person, provisional,
	// vat, organisation.
	Kind *string `json:"kind"`
	// For an invalid code: the most important error. One of length, characters, omocodia, check-character, date, place,
	// place-not-in-force, provisional-code, vat-number, organisation-code.
	Reason *string `json:"reason,omitempty"`
	// With details=true: all errors
	Faults []CodeFault `json:"faults,omitempty"`
	// Warnings about a valid code. One of place-not-in-force, names-not-derivable.
	Warnings []string `json:"warnings,omitempty"`
}

// Province: A province.
type Province struct {
	// Name in Italian
	Name string `json:"name"`
	// Two letters
	Abbreviation string `json:"abbreviation"`
}

// Region: A region with its provinces.
type Region struct {
	// Name in Italian
	Name string `json:"name"`
	// Its provinces
	Provinces []Province `json:"provinces"`
}

// FoundPlace: A place with its history.
type FoundPlace struct {
	// Belfiore code of the place
	Code string `json:"code"`
	// Belfiore code of the comune to which the place belongs today; equal to `code` while the place exists
	BelfioreCode string `json:"belfiore_code"`
	// Province abbreviation, EE for a state
	Province string `json:"province"`
	// Upper case
	Name string `json:"name"`
	// First day of the name in the province; null if no register has it
	From *string `json:"from"`
	// Last day; null while in force, or if no register has it
	To *string `json:"to"`
	// Whether the name is in force today
	Current bool `json:"current"`
	// Only in lists with details=true: the province of ISTAT, where it is not that of ANPR, which `province` has
	IstatProvince *IstatProvince `json:"istatProvince,omitempty"`
	// Its names and provinces over time, oldest first
	History []FoundPlaceHistoryItem `json:"history"`
	// Its successors in turn, or all places among which it was divided
	Successors []FoundPlaceSuccessorsItem `json:"successors"`
	// For a postal code: the frazioni that have it, if the rest of the comune has another one. No frazione is a
	// birthplace
	Frazioni []string `json:"frazioni"`
}

type FoundPlaceHistoryItem struct {
	// Belfiore code of the place
	Code string `json:"code"`
	// Belfiore code of the comune to which the place belongs today; equal to `code` while the place exists
	BelfioreCode string `json:"belfiore_code"`
	// Province abbreviation, EE for a state
	Province string `json:"province"`
	// Upper case
	Name string `json:"name"`
	// First day of the name in the province; null if no register has it
	From *string `json:"from"`
	// Last day; null while in force, or if no register has it
	To *string `json:"to"`
	// Whether the name is in force today
	Current bool `json:"current"`
	// Only in lists with details=true: the province of ISTAT, where it is not that of ANPR, which `province` has
	IstatProvince *IstatProvince `json:"istatProvince,omitempty"`
	// Source of the record. One of ministero-interno, codice-fiscale-js.
	Source string `json:"source"`
}

type FoundPlaceSuccessorsItem struct {
	// Belfiore code
	Code string `json:"code"`
	// Province abbreviation
	Province string `json:"province"`
	// Upper case
	Name string `json:"name"`
	// Source of the succession. One of istat, istat-same-code, istat-seat, istat-divided, by-hand.
	Source string `json:"source"`
}

// DatedCaps: With details=true.
type DatedCaps struct {
	Place PlaceRecord `json:"place"`
	// Five digits each, in order
	Caps []string `json:"caps"`
	// Year and month of the codes
	AsOf string `json:"asOf"`
	// The code that will replace the others of this comune; null for nearly all comuni
	ReplacedBy *string `json:"replacedBy"`
	// The frazioni of codes that only frazioni have, as far as they are known
	Frazioni []DatedCapsFrazioniItem `json:"frazioni"`
}

type DatedCapsFrazioniItem struct {
	// Postal code
	Cap string `json:"cap"`
	// Its frazioni
	Names []string `json:"names"`
}

// FieldError: One invalid field or parameter.
type FieldError struct {
	// JSON pointer into the body, as a URI fragment: #/name
	Pointer *string `json:"pointer,omitempty"`
	// Name of the query or path parameter
	Parameter *string `json:"parameter,omitempty"`
	// What is wrong with it
	Detail string `json:"detail"`
}

// Problem: RFC 9457 problem details.
type Problem struct {
	// URI of the problem kind
	Type string `json:"type"`
	// HTTP reason phrase
	Title string `json:"title"`
	// HTTP status
	Status int64 `json:"status"`
	// What is wrong, and what to do next
	Detail string `json:"detail"`
	// urn:uuid:<request id>
	Instance *string `json:"instance,omitempty"`
	// Every invalid field or parameter, up to 100
	Errors []FieldError `json:"errors,omitempty"`
	// There are more invalid fields than `errors` lists
	ErrorsTruncated *bool `json:"errorsTruncated,omitempty"`
	// What to do next; `detail` says it too
	Hint *ProblemHint `json:"hint,omitempty"`
	// End of the block; null for a permanent one
	BlockedUntil *string `json:"blockedUntil,omitempty"`
	// Scopes, of which the API key needs one; `root` if only the root key may do it
	RequiredScopes []string `json:"requiredScopes,omitempty"`
	// The server's clock, Unix seconds
	ServerTime *int64 `json:"serverTime,omitempty"`
}

// ProblemHint: What to do next; `detail` says it too.
type ProblemHint struct {
	// The hint, in lower case and without a full stop
	Text string `json:"text"`
	// The command to run
	Command *string `json:"command,omitempty"`
}

// WebhookTestEvent: A test event that a caller requested..
type WebhookTestEvent struct {
	// Event name. One of webhook_test.
	Event string `json:"event"`
	// Always null, because a test has no room
	Room *EventRoom `json:"room"`
	// When it happened
	Timestamp string `json:"timestamp"`
	// The same for every retry and replay: handle each id once
	ID string `json:"id"`
	// Number of the event in the session of its room, from 1
	Sequence *int64 `json:"sequence"`
	// The event was missed and found later; the timestamp is when it was found
	Reconciled *bool `json:"reconciled,omitempty"`
}

type GetTranscriptionByIDResponse struct {
	// Form tr_<id>
	TranscriptionID string `json:"transcriptionId"`
	// The recording's egress id
	RecordingID *string `json:"recordingId,omitempty"`
	// Room name
	RoomID string `json:"roomId"`
	// State of the transcription
	Status string `json:"status"`
	// BCP 47
	Language string `json:"language"`
	// Names of speakers
	Participants map[string]string `json:"participants,omitempty"`
	// Share of the audio that has been transcribed, 0 to 1
	Progress *float64 `json:"progress,omitempty"`
	// When it was queued
	QueuedAt *string `json:"queuedAt,omitempty"`
	// When a worker first claimed it; null before
	StartedAt *string `json:"startedAt"`
	// When it was completed or failed; null before
	CompletedAt *string `json:"completedAt,omitempty"`
	// Length of the audio in milliseconds; null until known
	DurationMs *int64 `json:"durationMs,omitempty"`
	// Why it failed, or the error of its last attempt
	Error *GetTranscriptionByIDResponseError `json:"error"`
	// The segments by their start
	Segments []Segment `json:"segments"`
	// The cursor of the next page; null after the last one
	NextCursor *string `json:"nextCursor"`
	// Only if there are doubts about the text
	Warnings []TranscriptionWarning `json:"warnings,omitempty"`
	// When the transcription was stopped, or failed; null while it is active
	StoppedAt *string `json:"stoppedAt,omitempty"`
}

type GetTranscriptionByIDResponseError struct {
	// Error code
	Code string `json:"code"`
	// What is wrong, and what to do
	Message string `json:"message"`
}

type ListCapsResponse = any

// GetHealth: Show that the service runs, and what it can do.
func (c *Client) GetHealth(ctx context.Context) (Health, error) {
	var response Health
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/health", query: nil}, &response)
	return response, err
}

// GetReadiness: Check what the service needs: the media server and the database.
func (c *Client) GetReadiness(ctx context.Context) (Readiness, error) {
	var response Readiness
	err := c.do(ctx, request{method: http.MethodGet, path: "/ready", query: nil}, &response)
	return response, err
}

// CheckSelf: Check the systems behind the service, as rtc doctor does.
func (c *Client) CheckSelf(ctx context.Context) (SelfCheckList, error) {
	var response SelfCheckList
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/self-check", query: nil}, &response)
	return response, err
}

// CreateToken: Issue an access token.
func (c *Client) CreateToken(ctx context.Context, body TokenRequest) (Token, error) {
	var response Token
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/token", query: nil, body: body}, &response)
	return response, err
}

// RefreshToken: Renew an access token before it expires.
func (c *Client) RefreshToken(ctx context.Context, body TokenRequest) (Token, error) {
	var response Token
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/token/refresh", query: nil, body: body}, &response)
	return response, err
}

// ListRoomsParams is the query of ListRooms. What is zero is not sent.
type ListRoomsParams struct {
	// Page size; without it, all rooms, at most 10000
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListRoomsParams) values() url.Values {
	values := url.Values{}
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListRooms: List the open rooms.
func (c *Client) ListRooms(ctx context.Context, params ListRoomsParams) (RoomList, error) {
	var response RoomList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/rooms", query: params.values()}, &response)
	return response, err
}

// AllRooms: List the open rooms, every item of every page. It ends after an error.
func (c *Client) AllRooms(ctx context.Context, params ListRoomsParams) iter.Seq2[Room, error] {
	return pages(func(cursor string) ([]Room, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListRooms(ctx, params)
		return page.Rooms, page.NextCursor, err
	})
}

// CreateRoom: Create a room, or get the existing one.
func (c *Client) CreateRoom(ctx context.Context, body RoomCreate) (Room, error) {
	var response Room
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms", query: nil, body: body}, &response)
	return response, err
}

// ListClosedRoomsParams is the query of ListClosedRooms. What is zero is not sent.
type ListClosedRoomsParams struct {
	// Page size; default 50
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListClosedRoomsParams) values() url.Values {
	values := url.Values{}
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListClosedRooms: List the rooms that are kept closed.
func (c *Client) ListClosedRooms(ctx context.Context, params ListClosedRoomsParams) (ClosedRoomList, error) {
	var response ClosedRoomList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/closed-rooms", query: params.values()}, &response)
	return response, err
}

// AllClosedRooms: List the rooms that are kept closed, every item of every page. It ends after an error.
func (c *Client) AllClosedRooms(ctx context.Context, params ListClosedRoomsParams) iter.Seq2[ClosedRoom, error] {
	return pages(func(cursor string) ([]ClosedRoom, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListClosedRooms(ctx, params)
		return page.ClosedRooms, page.NextCursor, err
	})
}

// GetRoom: Read a room.
func (c *Client) GetRoom(ctx context.Context, roomID string) (Room, error) {
	var response Room
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/rooms/" + url.PathEscape(roomID), query: nil}, &response)
	return response, err
}

// UpdateRoom: Change the metadata of an open room.
func (c *Client) UpdateRoom(ctx context.Context, roomID string, body *RoomPatch) (Room, error) {
	var response Room
	err := c.do(ctx, request{method: http.MethodPatch, path: "/v1/rooms/" + url.PathEscape(roomID), query: nil, body: orNil(body)}, &response)
	return response, err
}

// DeleteRoomParams is the query of DeleteRoom. What is zero is not sent.
type DeleteRoomParams struct {
	// Keeps the room closed until POST /v1/rooms opens it again: nobody gets a token for it, and nobody stays in it
	Reopen string
	// Keeps the room closed until this instant in the future, or until POST /v1/rooms
	Until string
}

func (params DeleteRoomParams) values() url.Values {
	values := url.Values{}
	setString(values, "reopen", params.Reopen)
	setString(values, "until", params.Until)
	return values
}

// DeleteRoom: Close a room and disconnect everyone in it.
func (c *Client) DeleteRoom(ctx context.Context, roomID string, params DeleteRoomParams) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "/v1/rooms/" + url.PathEscape(roomID), query: params.values()}, nil)
}

// SendRoomData: Send data to clients in a room.
func (c *Client) SendRoomData(ctx context.Context, roomID string, body RoomData) (RoomDataSent, error) {
	var response RoomDataSent
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms/" + url.PathEscape(roomID) + "/data", query: nil, body: body}, &response)
	return response, err
}

// GetPlan: Read a plan.
func (c *Client) GetPlan(ctx context.Context, planID string) (Plan, error) {
	var response Plan
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/plans/" + url.PathEscape(planID), query: nil}, &response)
	return response, err
}

// PutPlan: Make or replace a plan.
func (c *Client) PutPlan(ctx context.Context, planID string, body *PlanPut) (Plan, error) {
	var response Plan
	err := c.do(ctx, request{method: http.MethodPut, path: "/v1/plans/" + url.PathEscape(planID), query: nil, body: orNil(body)}, &response)
	return response, err
}

// DeletePlan: Delete a plan.
func (c *Client) DeletePlan(ctx context.Context, planID string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "/v1/plans/" + url.PathEscape(planID), query: nil}, nil)
}

// ListPlansParams is the query of ListPlans. What is zero is not sent.
type ListPlansParams struct {
	// Page size; default 50
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListPlansParams) values() url.Values {
	values := url.Values{}
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListPlans: List the plans.
func (c *Client) ListPlans(ctx context.Context, params ListPlansParams) (PlanList, error) {
	var response PlanList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/plans", query: params.values()}, &response)
	return response, err
}

// AllPlans: List the plans, every item of every page. It ends after an error.
func (c *Client) AllPlans(ctx context.Context, params ListPlansParams) iter.Seq2[Plan, error] {
	return pages(func(cursor string) ([]Plan, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListPlans(ctx, params)
		return page.Plans, page.NextCursor, err
	})
}

// ListParticipantsParams is the query of ListParticipants. What is zero is not sent.
type ListParticipantsParams struct {
	// Page size; without it, everyone, at most 10000
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListParticipantsParams) values() url.Values {
	values := url.Values{}
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListParticipants: List the participants of a room.
func (c *Client) ListParticipants(ctx context.Context, roomID string, params ListParticipantsParams) (ParticipantList, error) {
	var response ParticipantList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/rooms/" + url.PathEscape(roomID) + "/participants", query: params.values()}, &response)
	return response, err
}

// AllParticipants: List the participants of a room, every item of every page. It ends after an error.
func (c *Client) AllParticipants(ctx context.Context, roomID string, params ListParticipantsParams) iter.Seq2[Participant, error] {
	return pages(func(cursor string) ([]Participant, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListParticipants(ctx, roomID, params)
		return page.Participants, page.NextCursor, err
	})
}

// UpdateParticipant: Change a participant's name, metadata, attributes or role.
func (c *Client) UpdateParticipant(ctx context.Context, roomID string, participantID string, body *ParticipantPatch) (Participant, error) {
	var response Participant
	err := c.do(ctx, request{method: http.MethodPatch, path: "/v1/rooms/" + url.PathEscape(roomID) + "/participants/" + url.PathEscape(participantID), query: nil, body: orNil(body)}, &response)
	return response, err
}

// RemoveParticipantParams is the query of RemoveParticipant. What is zero is not sent.
type RemoveParticipantParams struct {
	// Also blocks the identity: for whole seconds from 1 to 999999999, or `forever`
	Block string
}

func (params RemoveParticipantParams) values() url.Values {
	values := url.Values{}
	setString(values, "block", params.Block)
	return values
}

// RemoveParticipant: Disconnect a participant.
func (c *Client) RemoveParticipant(ctx context.Context, roomID string, participantID string, params RemoveParticipantParams) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "/v1/rooms/" + url.PathEscape(roomID) + "/participants/" + url.PathEscape(participantID), query: params.values()}, nil)
}

// MuteParticipant: Mute or unmute a track of a participant.
func (c *Client) MuteParticipant(ctx context.Context, roomID string, participantID string, body Mute) error {
	return c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms/" + url.PathEscape(roomID) + "/participants/" + url.PathEscape(participantID) + "/mute", query: nil, body: body}, nil)
}

// MuteRoom: Mute everybody in a room.
func (c *Client) MuteRoom(ctx context.Context, roomID string, body *RoomMute) (RoomMuted, error) {
	var response RoomMuted
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms/" + url.PathEscape(roomID) + "/mute", query: nil, body: orNil(body)}, &response)
	return response, err
}

// ListWaiting: List the people who wait for a room.
func (c *Client) ListWaiting(ctx context.Context, roomID string) (WaitingList, error) {
	var response WaitingList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/rooms/" + url.PathEscape(roomID) + "/waiting", query: nil}, &response)
	return response, err
}

// AdmitWaiting: Admit somebody who waits.
func (c *Client) AdmitWaiting(ctx context.Context, roomID string, participantID string) (AdmittedPerson, error) {
	var response AdmittedPerson
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms/" + url.PathEscape(roomID) + "/waiting/" + url.PathEscape(participantID) + "/admit", query: nil}, &response)
	return response, err
}

// DenyWaiting: Deny somebody who waits.
func (c *Client) DenyWaiting(ctx context.Context, roomID string, participantID string) error {
	return c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms/" + url.PathEscape(roomID) + "/waiting/" + url.PathEscape(participantID) + "/deny", query: nil}, nil)
}

// AdmitAllWaiting: Admit everybody who waits.
func (c *Client) AdmitAllWaiting(ctx context.Context, roomID string) (AdmittedList, error) {
	var response AdmittedList
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms/" + url.PathEscape(roomID) + "/waiting/admit-all", query: nil}, &response)
	return response, err
}

// ListBlocksParams is the query of ListBlocks. What is zero is not sent.
type ListBlocksParams struct {
	// Page size; default 50
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListBlocksParams) values() url.Values {
	values := url.Values{}
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListBlocks: List the blocked identities of a room.
func (c *Client) ListBlocks(ctx context.Context, roomID string, params ListBlocksParams) (BlockList, error) {
	var response BlockList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/rooms/" + url.PathEscape(roomID) + "/blocks", query: params.values()}, &response)
	return response, err
}

// AllBlocks: List the blocked identities of a room, every item of every page. It ends after an error.
func (c *Client) AllBlocks(ctx context.Context, roomID string, params ListBlocksParams) iter.Seq2[Block, error] {
	return pages(func(cursor string) ([]Block, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListBlocks(ctx, roomID, params)
		return page.Blocks, page.NextCursor, err
	})
}

// ListBlocksOfRoomsParams is the query of ListBlocksOfRooms. What is zero is not sent.
type ListBlocksOfRoomsParams struct {
	// Page size; default 50
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListBlocksOfRoomsParams) values() url.Values {
	values := url.Values{}
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListBlocksOfRooms: List the blocked identities of all rooms.
func (c *Client) ListBlocksOfRooms(ctx context.Context, params ListBlocksOfRoomsParams) (RoomBlockList, error) {
	var response RoomBlockList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/blocks", query: params.values()}, &response)
	return response, err
}

// AllBlocksOfRooms: List the blocked identities of all rooms, every item of every page. It ends after an error.
func (c *Client) AllBlocksOfRooms(ctx context.Context, params ListBlocksOfRoomsParams) iter.Seq2[RoomBlock, error] {
	return pages(func(cursor string) ([]RoomBlock, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListBlocksOfRooms(ctx, params)
		return page.Blocks, page.NextCursor, err
	})
}

// RemoveBlock: Let an identity into the room again.
func (c *Client) RemoveBlock(ctx context.Context, roomID string, participantID string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "/v1/rooms/" + url.PathEscape(roomID) + "/blocks/" + url.PathEscape(participantID), query: nil}, nil)
}

// StartRecording: Record a room to an MP4 file.
func (c *Client) StartRecording(ctx context.Context, roomID string, body *RecordingSettings) (RecordingStart, error) {
	var response RecordingStart
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms/" + url.PathEscape(roomID) + "/recording/start", query: nil, body: orNil(body)}, &response)
	return response, err
}

// StopRecording: Stop the recording of a room.
func (c *Client) StopRecording(ctx context.Context, roomID string) (RecordingStop, error) {
	var response RecordingStop
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms/" + url.PathEscape(roomID) + "/recording/stop", query: nil}, &response)
	return response, err
}

// GetRecordingStatus: Show whether a room is being recorded.
func (c *Client) GetRecordingStatus(ctx context.Context, roomID string) (RecordingStatus, error) {
	var response RecordingStatus
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/rooms/" + url.PathEscape(roomID) + "/recording", query: nil}, &response)
	return response, err
}

// StartBroadcast: Broadcast a room to other servers, as HLS, or both.
func (c *Client) StartBroadcast(ctx context.Context, roomID string, body *BroadcastSettings) (BroadcastStart, error) {
	var response BroadcastStart
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms/" + url.PathEscape(roomID) + "/broadcast/start", query: nil, body: orNil(body)}, &response)
	return response, err
}

// GetBroadcastStatus: Show whether a room is being broadcast, and the state of each URL.
func (c *Client) GetBroadcastStatus(ctx context.Context, roomID string) (BroadcastStatus, error) {
	var response BroadcastStatus
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/rooms/" + url.PathEscape(roomID) + "/broadcast", query: nil}, &response)
	return response, err
}

// ChangeBroadcast: Add URLs to a running broadcast, and remove some.
func (c *Client) ChangeBroadcast(ctx context.Context, roomID string, body *BroadcastChange) (Broadcast, error) {
	var response Broadcast
	err := c.do(ctx, request{method: http.MethodPatch, path: "/v1/rooms/" + url.PathEscape(roomID) + "/broadcast", query: nil, body: orNil(body)}, &response)
	return response, err
}

// StopBroadcast: Stop the broadcast of a room.
func (c *Client) StopBroadcast(ctx context.Context, roomID string) (BroadcastStop, error) {
	var response BroadcastStop
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms/" + url.PathEscape(roomID) + "/broadcast/stop", query: nil}, &response)
	return response, err
}

// ListBroadcastsParams is the query of ListBroadcasts. What is zero is not sent.
type ListBroadcastsParams struct {
	// Only broadcasts of this room. At most 256 bytes of UTF-8, no control characters.
	RoomID string
	// Page size; default 50
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListBroadcastsParams) values() url.Values {
	values := url.Values{}
	setString(values, "roomId", params.RoomID)
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListBroadcasts: List broadcasts, newest first.
func (c *Client) ListBroadcasts(ctx context.Context, params ListBroadcastsParams) (BroadcastList, error) {
	var response BroadcastList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/broadcasts", query: params.values()}, &response)
	return response, err
}

// AllBroadcasts: List broadcasts, newest first, every item of every page. It ends after an error.
func (c *Client) AllBroadcasts(ctx context.Context, params ListBroadcastsParams) iter.Seq2[Broadcast, error] {
	return pages(func(cursor string) ([]Broadcast, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListBroadcasts(ctx, params)
		return page.Broadcasts, page.NextCursor, err
	})
}

// DeleteBroadcast: Delete a broadcast and its HLS.
func (c *Client) DeleteBroadcast(ctx context.Context, broadcastID string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "/v1/broadcasts/" + url.PathEscape(broadcastID), query: nil}, nil)
}

// ListRecordingsParams is the query of ListRecordings. What is zero is not sent.
type ListRecordingsParams struct {
	// Only recordings of this room. At most 256 bytes of UTF-8, no control characters.
	RoomID string
	// Only recordings in this state
	Status string
	// Page size; default 50
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListRecordingsParams) values() url.Values {
	values := url.Values{}
	setString(values, "roomId", params.RoomID)
	setString(values, "status", params.Status)
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListRecordings: List recordings, newest first.
func (c *Client) ListRecordings(ctx context.Context, params ListRecordingsParams) (RecordingList, error) {
	var response RecordingList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/recordings", query: params.values()}, &response)
	return response, err
}

// AllRecordings: List recordings, newest first, every item of every page. It ends after an error.
func (c *Client) AllRecordings(ctx context.Context, params ListRecordingsParams) iter.Seq2[Recording, error] {
	return pages(func(cursor string) ([]Recording, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListRecordings(ctx, params)
		return page.Recordings, page.NextCursor, err
	})
}

// GetRecording: Show one recording.
func (c *Client) GetRecording(ctx context.Context, recordingID string) (Recording, error) {
	var response Recording
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/recordings/" + url.PathEscape(recordingID), query: nil}, &response)
	return response, err
}

// DeleteRecording: Delete a recording and its file.
func (c *Client) DeleteRecording(ctx context.Context, recordingID string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "/v1/recordings/" + url.PathEscape(recordingID), query: nil}, nil)
}

// ListSessionsParams is the query of ListSessions. What is zero is not sent.
type ListSessionsParams struct {
	// Only sessions of this room. At most 256 bytes of UTF-8, no control characters.
	RoomID string
	// Only sessions that are open, or ended
	Status string
	// Only rooms opened since then
	Since string
	// Only rooms opened before then, so that consecutive months have each session once
	Until string
	// Page size; default 50
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListSessionsParams) values() url.Values {
	values := url.Values{}
	setString(values, "roomId", params.RoomID)
	setString(values, "status", params.Status)
	setString(values, "since", params.Since)
	setString(values, "until", params.Until)
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListSessions: List sessions of rooms, newest first.
func (c *Client) ListSessions(ctx context.Context, params ListSessionsParams) (SessionList, error) {
	var response SessionList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/sessions", query: params.values()}, &response)
	return response, err
}

// AllSessions: List sessions of rooms, newest first, every item of every page. It ends after an error.
func (c *Client) AllSessions(ctx context.Context, params ListSessionsParams) iter.Seq2[Session, error] {
	return pages(func(cursor string) ([]Session, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListSessions(ctx, params)
		return page.Sessions, page.NextCursor, err
	})
}

// GetSession: Show a session: its participants, recordings and transcriptions.
func (c *Client) GetSession(ctx context.Context, sessionID string) (SessionDetail, error) {
	var response SessionDetail
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/sessions/" + url.PathEscape(sessionID), query: nil}, &response)
	return response, err
}

// ListSessionParticipantsParams is the query of ListSessionParticipants. What is zero is not sent.
type ListSessionParticipantsParams struct {
	// Page size; default 200
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListSessionParticipantsParams) values() url.Values {
	values := url.Values{}
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListSessionParticipants: List the participants of a session, and when they were there.
func (c *Client) ListSessionParticipants(ctx context.Context, sessionID string, params ListSessionParticipantsParams) (SessionParticipantList, error) {
	var response SessionParticipantList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/sessions/" + url.PathEscape(sessionID) + "/participants", query: params.values()}, &response)
	return response, err
}

// AllSessionParticipants: List the participants of a session, and when they were there, every item of every page. It ends after an error.
func (c *Client) AllSessionParticipants(ctx context.Context, sessionID string, params ListSessionParticipantsParams) iter.Seq2[SessionParticipant, error] {
	return pages(func(cursor string) ([]SessionParticipant, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListSessionParticipants(ctx, sessionID, params)
		return page.Participants, page.NextCursor, err
	})
}

// GetUsageParams is the query of GetUsage. What is zero is not sent.
type GetUsageParams struct {
	// The first day, in UTC; by default the first day of this month
	From string
	// The day after the last one, in UTC, so that consecutive months have each day once; by default tomorrow. At most
	// 400 days after `from`
	To string
	// What each line is: a day or month in UTC, a room, the beginning of room names (up to the first `-`; the whole name
	// without one), or an API key; default `day`
	By string
	// Only this room. At most 256 bytes of UTF-8, no control characters.
	RoomID string
	// Only rooms whose names begin so. At most 256 bytes of UTF-8, no control characters.
	Prefix string
	// Page size; default 400
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params GetUsageParams) values() url.Values {
	values := url.Values{}
	setString(values, "from", params.From)
	setString(values, "to", params.To)
	setString(values, "by", params.By)
	setString(values, "roomId", params.RoomID)
	setString(values, "prefix", params.Prefix)
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// GetUsage: Add up minutes and bytes by day, month, room, prefix or key.
func (c *Client) GetUsage(ctx context.Context, params GetUsageParams) (Usage, error) {
	var response Usage
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/usage", query: params.values()}, &response)
	return response, err
}

// GetUsageText: Add up minutes and bytes by day, month, room, prefix or key, as text, vtt or srt.
func (c *Client) GetUsageText(ctx context.Context, format string) (string, error) {
	return c.text(ctx, request{method: http.MethodGet, path: "/v1/usage", query: url.Values{"format": {format}}})
}

// ListIngressParams is the query of ListIngress. What is zero is not sent.
type ListIngressParams struct {
	// Page size; without it, all, at most 10000
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListIngressParams) values() url.Values {
	values := url.Values{}
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListIngress: List the ingress endpoints of a room.
func (c *Client) ListIngress(ctx context.Context, roomID string, params ListIngressParams) (IngressList, error) {
	var response IngressList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/rooms/" + url.PathEscape(roomID) + "/ingress", query: params.values()}, &response)
	return response, err
}

// AllIngress: List the ingress endpoints of a room, every item of every page. It ends after an error.
func (c *Client) AllIngress(ctx context.Context, roomID string, params ListIngressParams) iter.Seq2[Ingress, error] {
	return pages(func(cursor string) ([]Ingress, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListIngress(ctx, roomID, params)
		return page.Ingress, page.NextCursor, err
	})
}

// CreateIngress: Create an endpoint to which an encoder streams.
func (c *Client) CreateIngress(ctx context.Context, roomID string, body *IngressCreate) (Ingress, error) {
	var response Ingress
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms/" + url.PathEscape(roomID) + "/ingress", query: nil, body: orNil(body)}, &response)
	return response, err
}

// ListIngressOfRoomsParams is the query of ListIngressOfRooms. What is zero is not sent.
type ListIngressOfRoomsParams struct {
	// Page size; without it, all, at most 10000
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListIngressOfRoomsParams) values() url.Values {
	values := url.Values{}
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListIngressOfRooms: List the ingress endpoints of all rooms.
func (c *Client) ListIngressOfRooms(ctx context.Context, params ListIngressOfRoomsParams) (IngressList, error) {
	var response IngressList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/ingress", query: params.values()}, &response)
	return response, err
}

// AllIngressOfRooms: List the ingress endpoints of all rooms, every item of every page. It ends after an error.
func (c *Client) AllIngressOfRooms(ctx context.Context, params ListIngressOfRoomsParams) iter.Seq2[Ingress, error] {
	return pages(func(cursor string) ([]Ingress, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListIngressOfRooms(ctx, params)
		return page.Ingress, page.NextCursor, err
	})
}

// DeleteIngress: Delete an ingress endpoint of a room.
func (c *Client) DeleteIngress(ctx context.Context, roomID string, ingressID string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "/v1/rooms/" + url.PathEscape(roomID) + "/ingress/" + url.PathEscape(ingressID), query: nil}, nil)
}

// StartTranscription: Transcribe a room live.
func (c *Client) StartTranscription(ctx context.Context, roomID string, body *TranscriptionStart) (TranscriptionStarted, error) {
	var response TranscriptionStarted
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms/" + url.PathEscape(roomID) + "/transcription/start", query: nil, body: orNil(body)}, &response)
	return response, err
}

// StopTranscription: Stop transcribing a room.
func (c *Client) StopTranscription(ctx context.Context, roomID string) (TranscriptionStopped, error) {
	var response TranscriptionStopped
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/rooms/" + url.PathEscape(roomID) + "/transcription/stop", query: nil}, &response)
	return response, err
}

// GetTranscriptionParams is the query of GetTranscription. What is zero is not sent.
type GetTranscriptionParams struct {
	// Only segments that end after it
	Since string
	// Page size; without it, at most 10000 segments
	Limit int64
	// nextCursor of the previous page
	Cursor string
	// With cursor: seconds to wait for a new segment, or for the end of the transcription
	Wait int64
}

func (params GetTranscriptionParams) values() url.Values {
	values := url.Values{}
	setString(values, "since", params.Since)
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	setInt(values, "wait", params.Wait)
	return values
}

// GetTranscription: Read the live transcription of a room.
func (c *Client) GetTranscription(ctx context.Context, roomID string, params GetTranscriptionParams) (LiveTranscription, error) {
	var response LiveTranscription
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/rooms/" + url.PathEscape(roomID) + "/transcription", query: params.values()}, &response)
	return response, err
}

// GetTranscriptionText: Read the live transcription of a room, as text, vtt or srt.
func (c *Client) GetTranscriptionText(ctx context.Context, roomID string, format string) (string, error) {
	return c.text(ctx, request{method: http.MethodGet, path: "/v1/rooms/" + url.PathEscape(roomID) + "/transcription", query: url.Values{"format": {format}}})
}

// ListLiveTranscriptionsParams is the query of ListLiveTranscriptions. What is zero is not sent.
type ListLiveTranscriptionsParams struct {
	// Only transcriptions of this room. At most 256 bytes of UTF-8, no control characters.
	RoomID string
	// Only transcriptions in this state
	Status string
	// Page size; default 50
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListLiveTranscriptionsParams) values() url.Values {
	values := url.Values{}
	setString(values, "roomId", params.RoomID)
	setString(values, "status", params.Status)
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListLiveTranscriptions: List the live transcriptions of all rooms.
func (c *Client) ListLiveTranscriptions(ctx context.Context, params ListLiveTranscriptionsParams) (LiveTranscriptionList, error) {
	var response LiveTranscriptionList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/transcriptions/live", query: params.values()}, &response)
	return response, err
}

// AllLiveTranscriptions: List the live transcriptions of all rooms, every item of every page. It ends after an error.
func (c *Client) AllLiveTranscriptions(ctx context.Context, params ListLiveTranscriptionsParams) iter.Seq2[LiveTranscriptionSummary, error] {
	return pages(func(cursor string) ([]LiveTranscriptionSummary, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListLiveTranscriptions(ctx, params)
		return page.Transcriptions, page.NextCursor, err
	})
}

// NameSpeakers: Name the speakers of a room.
func (c *Client) NameSpeakers(ctx context.Context, roomID string, body SpeakerUpdate) error {
	return c.do(ctx, request{method: http.MethodPatch, path: "/v1/rooms/" + url.PathEscape(roomID) + "/transcription/speakers", query: nil, body: body}, nil)
}

// CreateTranscription: Transcribe a recording after the call.
func (c *Client) CreateTranscription(ctx context.Context, recordingID string, body *TranscriptionQueue) (TranscriptionQueued, error) {
	var response TranscriptionQueued
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/recordings/" + url.PathEscape(recordingID) + "/transcribe", query: nil, body: orNil(body)}, &response)
	return response, err
}

// ListTranscriptionsParams is the query of ListTranscriptions. What is zero is not sent.
type ListTranscriptionsParams struct {
	// Only transcriptions of this room. At most 256 bytes of UTF-8, no control characters.
	RoomID string
	// Only transcriptions of this recording (egress id)
	RecordingID string
	// Page size; default 50
	Limit int64
	// nextCursor of the previous page
	Cursor string
	// Only transcriptions in this state
	Status string
}

func (params ListTranscriptionsParams) values() url.Values {
	values := url.Values{}
	setString(values, "roomId", params.RoomID)
	setString(values, "recordingId", params.RecordingID)
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	setString(values, "status", params.Status)
	return values
}

// ListTranscriptions: List the transcriptions of recordings.
func (c *Client) ListTranscriptions(ctx context.Context, params ListTranscriptionsParams) (PostTranscriptionList, error) {
	var response PostTranscriptionList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/transcriptions", query: params.values()}, &response)
	return response, err
}

// AllTranscriptions: List the transcriptions of recordings, every item of every page. It ends after an error.
func (c *Client) AllTranscriptions(ctx context.Context, params ListTranscriptionsParams) iter.Seq2[PostTranscription, error] {
	return pages(func(cursor string) ([]PostTranscription, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListTranscriptions(ctx, params)
		return page.Transcriptions, page.NextCursor, err
	})
}

// SearchTranscriptsParams is the query of SearchTranscripts. What is zero is not sent.
type SearchTranscriptsParams struct {
	// Words to find in transcripts, live and of recordings; a segment must have all of them. Plain text: no character
	// has a special meaning
	Q string
	// Only transcriptions of this room. At most 256 bytes of UTF-8, no control characters.
	RoomID string
	// Only transcriptions of this recording (egress id)
	RecordingID string
	// Page size; default 50
	Limit int64
	// nextCursor of the previous page
	Cursor string
	// Only segments in this language (BCP 47); en includes en-US
	Language string
	// Only segments that begin then or later
	Since string
	// Only segments that begin before then
	Until string
}

func (params SearchTranscriptsParams) values() url.Values {
	values := url.Values{}
	setString(values, "q", params.Q)
	setString(values, "roomId", params.RoomID)
	setString(values, "recordingId", params.RecordingID)
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	setString(values, "language", params.Language)
	setString(values, "since", params.Since)
	setString(values, "until", params.Until)
	return values
}

// SearchTranscripts: Search all transcripts.
func (c *Client) SearchTranscripts(ctx context.Context, params SearchTranscriptsParams) (TranscriptHitList, error) {
	var response TranscriptHitList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/transcriptions/search", query: params.values()}, &response)
	return response, err
}

// SearchAllTranscripts: Search all transcripts, every item of every page. It ends after an error.
func (c *Client) SearchAllTranscripts(ctx context.Context, params SearchTranscriptsParams) iter.Seq2[TranscriptHit, error] {
	return pages(func(cursor string) ([]TranscriptHit, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.SearchTranscripts(ctx, params)
		return page.Hits, page.NextCursor, err
	})
}

// GetTranscriptionByIdParams is the query of GetTranscriptionById. What is zero is not sent.
type GetTranscriptionByIdParams struct {
	// Page size; without it, at most 10000 segments
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params GetTranscriptionByIdParams) values() url.Values {
	values := url.Values{}
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// GetTranscriptionByID: Read a transcription with its segments.
func (c *Client) GetTranscriptionByID(ctx context.Context, transcriptionID string, params GetTranscriptionByIdParams) (GetTranscriptionByIDResponse, error) {
	var response GetTranscriptionByIDResponse
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/transcriptions/" + url.PathEscape(transcriptionID), query: params.values()}, &response)
	return response, err
}

// GetTranscriptionByIDText: Read a transcription with its segments, as text, vtt or srt.
func (c *Client) GetTranscriptionByIDText(ctx context.Context, transcriptionID string, format string) (string, error) {
	return c.text(ctx, request{method: http.MethodGet, path: "/v1/transcriptions/" + url.PathEscape(transcriptionID), query: url.Values{"format": {format}}})
}

// DeleteTranscription: Delete a transcription with all its segments.
func (c *Client) DeleteTranscription(ctx context.Context, transcriptionID string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "/v1/transcriptions/" + url.PathEscape(transcriptionID), query: nil}, nil)
}

// NameSpeakersByID: Name the speakers of a transcription.
func (c *Client) NameSpeakersByID(ctx context.Context, transcriptionID string, body SpeakerUpdate) error {
	return c.do(ctx, request{method: http.MethodPatch, path: "/v1/transcriptions/" + url.PathEscape(transcriptionID) + "/speakers", query: nil, body: body}, nil)
}

// ForgetWordsParams is the query of ForgetWords. What is zero is not sent.
type ForgetWordsParams struct {
	// true: the participant's words in every room; default false
	AllRooms bool
	// true: also identity, name and metadata in events, deliveries, sessions, blocks, the audit log and maps of
	// speakers, which needs the scope admin; default false
	Everything bool
}

func (params ForgetWordsParams) values() url.Values {
	values := url.Values{}
	setBool(values, "allRooms", params.AllRooms)
	setBool(values, "everything", params.Everything)
	return values
}

// ForgetWords: Delete a participant's words.
func (c *Client) ForgetWords(ctx context.Context, roomID string, participantID string, params ForgetWordsParams) (ForgottenWords, error) {
	var response ForgottenWords
	err := c.do(ctx, request{method: http.MethodDelete, path: "/v1/rooms/" + url.PathEscape(roomID) + "/participants/" + url.PathEscape(participantID) + "/words", query: params.values()}, &response)
	return response, err
}

// GetVocabulary: Read the vocabulary of a room.
func (c *Client) GetVocabulary(ctx context.Context, roomID string) (Vocabulary, error) {
	var response Vocabulary
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/rooms/" + url.PathEscape(roomID) + "/vocabulary", query: nil}, &response)
	return response, err
}

// SetVocabulary: Replace the vocabulary of a room.
func (c *Client) SetVocabulary(ctx context.Context, roomID string, body Vocabulary) (Vocabulary, error) {
	var response Vocabulary
	err := c.do(ctx, request{method: http.MethodPut, path: "/v1/rooms/" + url.PathEscape(roomID) + "/vocabulary", query: nil, body: body}, &response)
	return response, err
}

// DeleteVocabulary: Delete the vocabulary of a room.
func (c *Client) DeleteVocabulary(ctx context.Context, roomID string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "/v1/rooms/" + url.PathEscape(roomID) + "/vocabulary", query: nil}, nil)
}

// ListWebhooksParams is the query of ListWebhooks. What is zero is not sent.
type ListWebhooksParams struct {
	// Page size; without it, all webhooks
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListWebhooksParams) values() url.Values {
	values := url.Values{}
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListWebhooks: List the webhooks.
func (c *Client) ListWebhooks(ctx context.Context, params ListWebhooksParams) (WebhookList, error) {
	var response WebhookList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/webhooks", query: params.values()}, &response)
	return response, err
}

// AllWebhooks: List the webhooks, every item of every page. It ends after an error.
func (c *Client) AllWebhooks(ctx context.Context, params ListWebhooksParams) iter.Seq2[Webhook, error] {
	return pages(func(cursor string) ([]Webhook, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListWebhooks(ctx, params)
		return page.Webhooks, page.NextCursor, err
	})
}

// CreateWebhook: Register a webhook.
func (c *Client) CreateWebhook(ctx context.Context, body WebhookCreate) (Webhook, error) {
	var response Webhook
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/webhooks", query: nil, body: body}, &response)
	return response, err
}

// GetWebhook: Read a webhook.
func (c *Client) GetWebhook(ctx context.Context, webhookID string) (Webhook, error) {
	var response Webhook
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/webhooks/" + url.PathEscape(webhookID), query: nil}, &response)
	return response, err
}

// PutWebhook: Change the URL, the events, the order or the secret of a webhook, or pause it.
func (c *Client) PutWebhook(ctx context.Context, webhookID string, body *WebhookPut) (Webhook, error) {
	var response Webhook
	err := c.do(ctx, request{method: http.MethodPut, path: "/v1/webhooks/" + url.PathEscape(webhookID), query: nil, body: orNil(body)}, &response)
	return response, err
}

// PatchWebhook: Change the URL, the events or the order of a webhook, or pause it.
func (c *Client) PatchWebhook(ctx context.Context, webhookID string, body *WebhookPatch) (Webhook, error) {
	var response Webhook
	err := c.do(ctx, request{method: http.MethodPatch, path: "/v1/webhooks/" + url.PathEscape(webhookID), query: nil, body: orNil(body)}, &response)
	return response, err
}

// DeleteWebhook: Delete a webhook with its log.
func (c *Client) DeleteWebhook(ctx context.Context, webhookID string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "/v1/webhooks/" + url.PathEscape(webhookID), query: nil}, nil)
}

// TestWebhook: Send a test delivery.
func (c *Client) TestWebhook(ctx context.Context, webhookID string) (WebhookTest, error) {
	var response WebhookTest
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/webhooks/" + url.PathEscape(webhookID) + "/test", query: nil}, &response)
	return response, err
}

// ListDeliveriesParams is the query of ListDeliveries. What is zero is not sent.
type ListDeliveriesParams struct {
	// Only deliveries in this state
	Status string
	// Only the delivery of this event, while the event is stored
	EventID string
	// Page size; default 50
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListDeliveriesParams) values() url.Values {
	values := url.Values{}
	setString(values, "status", params.Status)
	setString(values, "eventId", params.EventID)
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListDeliveries: List the deliveries of a webhook with every attempt, newest first.
func (c *Client) ListDeliveries(ctx context.Context, webhookID string, params ListDeliveriesParams) (DeliveryList, error) {
	var response DeliveryList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/webhooks/" + url.PathEscape(webhookID) + "/deliveries", query: params.values()}, &response)
	return response, err
}

// AllDeliveries: List the deliveries of a webhook with every attempt, newest first, every item of every page. It ends after an error.
func (c *Client) AllDeliveries(ctx context.Context, webhookID string, params ListDeliveriesParams) iter.Seq2[Delivery, error] {
	return pages(func(cursor string) ([]Delivery, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListDeliveries(ctx, webhookID, params)
		return page.Deliveries, page.NextCursor, err
	})
}

// GetDeliveryParams is the query of GetDelivery. What is zero is not sent.
type GetDeliveryParams struct {
	// Seconds to wait for the end of a pending delivery
	Wait int64
}

func (params GetDeliveryParams) values() url.Values {
	values := url.Values{}
	setInt(values, "wait", params.Wait)
	return values
}

// GetDelivery: Read a delivery with every attempt.
func (c *Client) GetDelivery(ctx context.Context, webhookID string, deliveryID string, params GetDeliveryParams) (Delivery, error) {
	var response Delivery
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/webhooks/" + url.PathEscape(webhookID) + "/deliveries/" + url.PathEscape(deliveryID), query: params.values()}, &response)
	return response, err
}

// ReplayDelivery: Replay a finished delivery.
func (c *Client) ReplayDelivery(ctx context.Context, webhookID string, deliveryID string) (Replay, error) {
	var response Replay
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/webhooks/" + url.PathEscape(webhookID) + "/deliveries/" + url.PathEscape(deliveryID) + "/replay", query: nil}, &response)
	return response, err
}

// ReplayFailedDeliveriesParams is the query of ReplayFailedDeliveries. What is zero is not sent.
type ReplayFailedDeliveriesParams struct {
	// Only failed deliveries that were created since then
	Since string
}

func (params ReplayFailedDeliveriesParams) values() url.Values {
	values := url.Values{}
	setString(values, "since", params.Since)
	return values
}

// ReplayFailedDeliveries: Replay all failed deliveries of a webhook.
func (c *Client) ReplayFailedDeliveries(ctx context.Context, webhookID string, params ReplayFailedDeliveriesParams) (Replay, error) {
	var response Replay
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/webhooks/" + url.PathEscape(webhookID) + "/replay", query: params.values()}, &response)
	return response, err
}

// GetWebhookStatsParams is the query of GetWebhookStats. What is zero is not sent.
type GetWebhookStatsParams struct {
	// Only deliveries created since then; default 24 hours before until
	Since string
	// Only deliveries created before then; default now
	Until string
}

func (params GetWebhookStatsParams) values() url.Values {
	values := url.Values{}
	setString(values, "since", params.Since)
	setString(values, "until", params.Until)
	return values
}

// GetWebhookStats: Count the deliveries of a webhook by what became of them.
func (c *Client) GetWebhookStats(ctx context.Context, webhookID string, params GetWebhookStatsParams) (WebhookStats, error) {
	var response WebhookStats
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/webhooks/" + url.PathEscape(webhookID) + "/stats", query: params.values()}, &response)
	return response, err
}

// ListEventsParams is the query of ListEvents. What is zero is not sent.
type ListEventsParams struct {
	// nextCursor of the previous page, or latest to get later events only
	Cursor string
	// Only events stored at this instant or later
	Since string
	// Only events of this room
	RoomID string
	// The earlier name of roomId
	Room string
	// Only these event names, separated by commas
	Types string
	// Page size; default 100
	Limit int64
	// Which events come first; default oldest, or as in the page that the cursor is of
	Order string
	// Seconds to wait for an event when there is none; not with order=newest
	Wait int64
}

func (params ListEventsParams) values() url.Values {
	values := url.Values{}
	setString(values, "cursor", params.Cursor)
	setString(values, "since", params.Since)
	setString(values, "roomId", params.RoomID)
	setString(values, "room", params.Room)
	setString(values, "types", params.Types)
	setInt(values, "limit", params.Limit)
	setString(values, "order", params.Order)
	setInt(values, "wait", params.Wait)
	return values
}

// ListEvents: List the stored events in order.
func (c *Client) ListEvents(ctx context.Context, params ListEventsParams) (EventList, error) {
	var response EventList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/events", query: params.values()}, &response)
	return response, err
}

// ListKeysParams is the query of ListKeys. What is zero is not sent.
type ListKeysParams struct {
	// Page size; default 50
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListKeysParams) values() url.Values {
	values := url.Values{}
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListKeys: List the API keys.
func (c *Client) ListKeys(ctx context.Context, params ListKeysParams) (KeyList, error) {
	var response KeyList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/keys", query: params.values()}, &response)
	return response, err
}

// AllKeys: List the API keys, every item of every page. It ends after an error.
func (c *Client) AllKeys(ctx context.Context, params ListKeysParams) iter.Seq2[Key, error] {
	return pages(func(cursor string) ([]Key, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListKeys(ctx, params)
		return page.Keys, page.NextCursor, err
	})
}

// CreateKey: Create an API key.
func (c *Client) CreateKey(ctx context.Context, body KeyCreate) (Key, error) {
	var response Key
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/keys", query: nil, body: body}, &response)
	return response, err
}

// GetOwnKey: Show the key that signed this request, and what it may do.
func (c *Client) GetOwnKey(ctx context.Context) (OwnKey, error) {
	var response OwnKey
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/keys/self", query: nil}, &response)
	return response, err
}

// GetKey: Read one API key.
func (c *Client) GetKey(ctx context.Context, keyID string) (Key, error) {
	var response Key
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/keys/" + url.PathEscape(keyID), query: nil}, &response)
	return response, err
}

// RevokeKey: Revoke an API key.
func (c *Client) RevokeKey(ctx context.Context, keyID string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "/v1/keys/" + url.PathEscape(keyID), query: nil}, nil)
}

// ListAuditParams is the query of ListAudit. What is zero is not sent.
type ListAuditParams struct {
	// Only requests of this API key: key_<id>, or root
	KeyID string
	// The earlier name of keyId
	Key string
	// Only requests about this room. At most 256 bytes of UTF-8, no control characters.
	RoomID string
	// The earlier name of roomId. At most 256 bytes of UTF-8, no control characters.
	Room string
	// Only requests from this instant on
	Since string
	// Only before then
	Until string
	// Only requests with this result
	Result string
	// Only the request with this X-Request-Id; also a read or a token that failed within the last hour
	RequestID string
	// Page size; default 50
	Limit int64
	// nextCursor of the previous page
	Cursor string
}

func (params ListAuditParams) values() url.Values {
	values := url.Values{}
	setString(values, "keyId", params.KeyID)
	setString(values, "key", params.Key)
	setString(values, "roomId", params.RoomID)
	setString(values, "room", params.Room)
	setString(values, "since", params.Since)
	setString(values, "until", params.Until)
	setString(values, "result", params.Result)
	setString(values, "requestId", params.RequestID)
	setInt(values, "limit", params.Limit)
	setString(values, "cursor", params.Cursor)
	return values
}

// ListAudit: List who changed what.
func (c *Client) ListAudit(ctx context.Context, params ListAuditParams) (AuditList, error) {
	var response AuditList
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/audit", query: params.values()}, &response)
	return response, err
}

// AllAudit: List who changed what, every item of every page. It ends after an error.
func (c *Client) AllAudit(ctx context.Context, params ListAuditParams) iter.Seq2[AuditEntry, error] {
	return pages(func(cursor string) ([]AuditEntry, *string, error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		page, err := c.ListAudit(ctx, params)
		return page.Entries, page.NextCursor, err
	})
}

// GenerateFiscalCodeParams is the query of GenerateFiscalCode. What is zero is not sent.
type GenerateFiscalCodeParams struct {
	// Return all known facts, in addition to the fields of the specification
	Details bool
	// Reject a place that did not exist on the birth date
	Strict bool
	// The day as of which a code is read, instead of today in Italy: YYYY-MM-DD
	AsOf string
}

func (params GenerateFiscalCodeParams) values() url.Values {
	values := url.Values{}
	setBool(values, "details", params.Details)
	setBool(values, "strict", params.Strict)
	setString(values, "asOf", params.AsOf)
	return values
}

// GenerateFiscalCode: Generate the fiscal code of a person's data.
func (c *Client) GenerateFiscalCode(ctx context.Context, body Person, params GenerateFiscalCodeParams) (GeneratedCode, error) {
	var response GeneratedCode
	err := c.do(ctx, request{method: http.MethodPost, path: "/cf", query: params.values(), body: body}, &response)
	return response, err
}

// MatchFiscalCodeParams is the query of MatchFiscalCode. What is zero is not sent.
type MatchFiscalCodeParams struct {
	// The century of the two-digit year; by default the latest possible one
	Century string
	// The day as of which a code is read, instead of today in Italy: YYYY-MM-DD
	AsOf string
}

func (params MatchFiscalCodeParams) values() url.Values {
	values := url.Values{}
	setString(values, "century", params.Century)
	setString(values, "asOf", params.AsOf)
	return values
}

// MatchFiscalCode: Check whether a fiscal code belongs to a person.
func (c *Client) MatchFiscalCode(ctx context.Context, body CodeAndPerson, params MatchFiscalCodeParams) (Match, error) {
	var response Match
	err := c.do(ctx, request{method: http.MethodPost, path: "/cf/match", query: params.values(), body: body}, &response)
	return response, err
}

// DecodeFiscalCodeParams is the query of DecodeFiscalCode. What is zero is not sent.
type DecodeFiscalCodeParams struct {
	// Return all known facts, in addition to the fields of the specification
	Details bool
	// Reject a place that did not exist on the birth date
	Strict bool
	// The century of the two-digit year; by default the latest possible one
	Century string
	// The day as of which a code is read, instead of today in Italy: YYYY-MM-DD
	AsOf string
}

func (params DecodeFiscalCodeParams) values() url.Values {
	values := url.Values{}
	setBool(values, "details", params.Details)
	setBool(values, "strict", params.Strict)
	setString(values, "century", params.Century)
	setString(values, "asOf", params.AsOf)
	return values
}

// DecodeFiscalCode: Decode a fiscal code.
func (c *Client) DecodeFiscalCode(ctx context.Context, fiscalCode string, params DecodeFiscalCodeParams) (DecodedCode, error) {
	var response DecodedCode
	err := c.do(ctx, request{method: http.MethodGet, path: "/cf/" + url.PathEscape(fiscalCode), query: params.values()}, &response)
	return response, err
}

// ListOmocodieParams is the query of ListOmocodie. What is zero is not sent.
type ListOmocodieParams struct {
	// Return all known facts, in addition to the fields of the specification
	Details bool
	// Reject a place that did not exist on the birth date
	Strict bool
	// The century of the two-digit year; by default the latest possible one
	Century string
	// The day as of which a code is read, instead of today in Italy: YYYY-MM-DD
	AsOf string
}

func (params ListOmocodieParams) values() url.Values {
	values := url.Values{}
	setBool(values, "details", params.Details)
	setBool(values, "strict", params.Strict)
	setString(values, "century", params.Century)
	setString(values, "asOf", params.AsOf)
	return values
}

// ListOmocodie: List the other 127 forms of a fiscal code (omocodia).
func (c *Client) ListOmocodie(ctx context.Context, fiscalCode string, params ListOmocodieParams) ([]string, error) {
	var response []string
	err := c.do(ctx, request{method: http.MethodGet, path: "/cf/omocodie/" + url.PathEscape(fiscalCode), query: params.values()}, &response)
	return response, err
}

// CheckFiscalCodeParams is the query of CheckFiscalCode. What is zero is not sent.
type CheckFiscalCodeParams struct {
	// Reject a place that did not exist on the birth date
	Strict bool
	// Kinds of valid codes: those of persons (default), or any Italian tax code
	Accept string
	// Return all known facts, in addition to the fields of the specification
	Details bool
	// The century of the two-digit year; by default the latest possible one
	Century string
	// The day as of which a code is read, instead of today in Italy: YYYY-MM-DD
	AsOf string
}

func (params CheckFiscalCodeParams) values() url.Values {
	values := url.Values{}
	setBool(values, "strict", params.Strict)
	setString(values, "accept", params.Accept)
	setBool(values, "details", params.Details)
	setString(values, "century", params.Century)
	setString(values, "asOf", params.AsOf)
	return values
}

// CheckFiscalCode: Check a fiscal code.
func (c *Client) CheckFiscalCode(ctx context.Context, fiscalCode string, params CheckFiscalCodeParams) (Validity, error) {
	var response Validity
	err := c.do(ctx, request{method: http.MethodGet, path: "/cf/check/" + url.PathEscape(fiscalCode), query: params.values()}, &response)
	return response, err
}

// ListRegions: List the regions with their provinces.
func (c *Client) ListRegions(ctx context.Context) ([]Region, error) {
	var response []Region
	err := c.do(ctx, request{method: http.MethodGet, path: "/it/regions", query: nil}, &response)
	return response, err
}

// ListProvinces: List the provinces by their capitals.
func (c *Client) ListProvinces(ctx context.Context) ([]PlacePeriod, error) {
	var response []PlacePeriod
	err := c.do(ctx, request{method: http.MethodGet, path: "/it/provinces", query: nil}, &response)
	return response, err
}

// ListCitiesParams is the query of ListCities. What is zero is not sent.
type ListCitiesParams struct {
	// Return the province of ISTAT too, where it differs
	Details bool
	// Only names that are in force today (true), or former ones (false)
	Current bool
	// Only places in force on this day, YYYY-MM-DD
	Date string
	// Only places with a name, in any language, that begins with this; case and accents are ignored
	Q string
	// Maximum number of records; the header Link has the address of the next ones
	Limit string
	// Number of records to skip
	Offset string
}

func (params ListCitiesParams) values() url.Values {
	values := url.Values{}
	setBool(values, "details", params.Details)
	setBool(values, "current", params.Current)
	setString(values, "date", params.Date)
	setString(values, "q", params.Q)
	setString(values, "limit", params.Limit)
	setString(values, "offset", params.Offset)
	return values
}

// ListCities: List the places of a province.
func (c *Client) ListCities(ctx context.Context, provinceAbbreviation string, params ListCitiesParams) ([]PlacePeriod, error) {
	var response []PlacePeriod
	err := c.do(ctx, request{method: http.MethodGet, path: "/it/cities/" + url.PathEscape(provinceAbbreviation), query: params.values()}, &response)
	return response, err
}

// SearchPlacesParams is the query of SearchPlaces. What is zero is not sent.
type SearchPlacesParams struct {
	// Part of a name, a Belfiore code, or a present or recent postal code
	Q string
	// Two letters, of a current or former province, or one of ISTAT; EE for states
	Province string
	// Only places in force on this day, YYYY-MM-DD
	Date string
	// Return the province of ISTAT too, where it differs
	Details bool
	// Maximum number of places, at most 100 (default 10)
	Limit string
}

func (params SearchPlacesParams) values() url.Values {
	values := url.Values{}
	setString(values, "q", params.Q)
	setString(values, "province", params.Province)
	setString(values, "date", params.Date)
	setBool(values, "details", params.Details)
	setString(values, "limit", params.Limit)
	return values
}

// SearchPlaces: Search for places while typing, with their history.
func (c *Client) SearchPlaces(ctx context.Context, params SearchPlacesParams) ([]FoundPlace, error) {
	var response []FoundPlace
	err := c.do(ctx, request{method: http.MethodGet, path: "/it/places", query: params.values()}, &response)
	return response, err
}

// ListCapsParams is the query of ListCaps. What is zero is not sent.
type ListCapsParams struct {
	// Return an object with the place, its codes as text, their month and their replacement
	Details bool
}

func (params ListCapsParams) values() url.Values {
	values := url.Values{}
	setBool(values, "details", params.Details)
	return values
}

// ListCaps: List the postal codes of a city.
func (c *Client) ListCaps(ctx context.Context, provinceAbbreviation string, cityName string, params ListCapsParams) (ListCapsResponse, error) {
	var response ListCapsResponse
	err := c.do(ctx, request{method: http.MethodGet, path: "/it/caps/" + url.PathEscape(provinceAbbreviation) + "/" + url.PathEscape(cityName), query: params.values()}, &response)
	return response, err
}
