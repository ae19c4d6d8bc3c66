"""The endpoints and schemas of rtc-service, generated from its OpenAPI document. Do not edit."""

from __future__ import annotations

from typing import Any, Iterator, Literal, Mapping, Optional, TypedDict, Union

Query = Mapping[str, Union[str, int, bool, None]]


class Health(TypedDict):
    """The service runs, with these capabilities"""

    # Always ok; a service that does not run does not respond
    status: Literal["ok"]
    # Version of the service
    version: str
    # What the running add-ons can do
    capabilities: HealthCapabilities


class _HealthCapabilitiesRequired(TypedDict):
    # Whether a stt-live worker is running
    transcriptionLive: bool
    # Whether a stt-post worker is running
    transcriptionPost: bool


class HealthCapabilities(_HealthCapabilitiesRequired, total=False):
    """What the running add-ons can do"""

    # BCP 47 tags that the living workers transcribe
    languages: HealthCapabilitiesLanguages
    # Languages for which a living worker has a model that does not work; rtc doctor has the reason
    failedLanguages: HealthCapabilitiesFailedLanguages


class HealthCapabilitiesLanguages(TypedDict):
    """BCP 47 tags that the living workers transcribe"""

    # Languages of live transcription
    live: list[str]
    # Languages of the transcription of recordings
    post: list[str]


class HealthCapabilitiesFailedLanguages(TypedDict):
    """Languages for which a living worker has a model that does not work; rtc doctor has the reason"""

    # Languages of live transcription
    live: list[str]
    # Languages of the transcription of recordings
    post: list[str]


class _ReadinessRequired(TypedDict):
    # Whether everything that is needed responds
    ready: bool
    # The dependencies, one by one
    checks: ReadinessChecks


class Readiness(_ReadinessRequired, total=False):
    """Whether the service can do its work; 503 when it cannot"""

    # Since when this instance has rejected the media server's events because it could not store them; absent when no
    # event is missing
    eventsRefusedSince: str
    # Since when this instance deletes nothing whose retention has ended, because the clock may be wrong; absent
    # otherwise
    purgeRefusedSince: str
    # Why: `pause`: the last deletion, or the newest event before it, is more than a day ago (correct the clock, or
    # confirm it: rtc admin confirm-clock); `database-clock`, `media-server-clock`: that clock differs from the
    # service’s by more than five minutes (set the wrong one; a confirmation does not help)
    purgeRefusedBecause: Literal["pause", "database-clock", "media-server-clock"]


class ReadinessChecks(TypedDict):
    """The dependencies, one by one"""

    # The media server responds and accepts our key
    mediaServer: bool
    # The database responds
    database: bool


class SelfCheck(TypedDict):
    """One check"""

    # Name of the check
    check: str
    # note: something optional is missing, and nothing is wrong; unknown: the service cannot find out, and `next` may
    # describe how to
    status: Literal["ok", "note", "warning", "fault", "unknown"]
    # What was found
    detail: str
    # What to do; empty when nothing is needed
    next: str


class SelfCheckList(TypedDict):
    """Results of the service's checks of itself"""

    # Every check
    checks: list[SelfCheck]


class _TokenRequestRequired(TypedDict):
    # Target room name. At most 256 bytes of UTF-8, no control characters.
    roomId: str
    # Unique participant identity. At most 256 bytes of UTF-8, no control characters.
    userId: str
    # Display name. At most 256 bytes of UTF-8, no control characters.
    name: str
    # Grants of the token: a host may do everything, also in LiveKit; a moderator and a participant publish and
    # subscribe; a viewer only subscribes. Hosts and moderators may mute others through your back end.
    role: Literal["host", "moderator", "participant", "viewer"]


class TokenRequest(_TokenRequestRequired, total=False):
    """The person, the room and the role"""

    # Attached to the participant as JSON text, at most 512 KiB
    metadata: dict[str, Any]
    # Seconds until the token expires, at most MAX_TOKEN_TTL of the service (a day by default); default TOKEN_TTL (an
    # hour by default)
    ttl: int
    # Limits a role that may publish to tracks of these sources; default: every source
    canPublishSources: list[Literal["microphone", "camera", "screen_share", "screen_share_audio"]]


class _TokenRequired(TypedDict):
    # LiveKit access token (JWT), signed with the media server's key
    token: str
    # WebSocket URL of the media server
    url: str
    # The JWT's own exp
    expiresAt: str


class Token(_TokenRequired, total=False):
    """What a participant needs to join a room"""

    # True for a token that leads into the waiting room of a room with a lobby
    waiting: bool


class PlannedRecording(TypedDict, total=False):
    """Record each session of the room, with the fields of recording/start"""

    # When it starts: at the first join, when the first track is published, or when somebody with the role host is
    # there; default firstJoin
    at: Literal["firstJoin", "firstPublish", "role:host"]
    # Arrangement of the people: everyone in a grid, the speaker beside the others, or the speaker alone; default grid
    layout: Literal["grid", "speaker", "single-speaker"]
    # Record sound only, also into an MP4 file; default false
    audioOnly: bool
    # Also keep each participant's speech, encrypted, until the recording is transcribed or for 7 days, so that the
    # transcript has everybody when people speak at once; needs a stt-live worker; default false
    recordTracks: bool
    # Resolution and frames per second of the picture; default H264_720P_30
    preset: Literal["H264_720P_30", "H264_720P_60", "H264_1080P_30", "H264_1080P_60", "PORTRAIT_H264_720P_30", "PORTRAIT_H264_720P_60", "PORTRAIT_H264_1080P_30", "PORTRAIT_H264_1080P_60"]


class PlannedTranscription(TypedDict, total=False):
    """Transcribe each session of the room live, with the fields of transcription/start"""

    # When it starts: at the first join, when the first track is published, or when somebody with the role host is
    # there; default firstJoin
    at: Literal["firstJoin", "firstPublish", "role:host"]
    # BCP 47, or auto when a model detects the spoken language; default en-US
    language: str
    # Track id or identity to speaker name
    participants: dict[str, str]
    # How to transcribe
    options: PlannedTranscriptionOptions


class PlannedTranscriptionOptions(TypedDict, total=False):
    """How to transcribe"""

    # Interim results in captions, and at the end of the returned segments; default false
    partialResults: bool
    # Send captions to everyone in the room (text streams on lk.transcription); default true
    captions: bool
    # Punctuation and capitals; default true
    punctuation: bool
    # Mask profanity with asterisks; default false
    profanityFilter: bool


class _RoomCreateRequired(TypedDict):
    # Room name, which is also its id. At most 256 bytes of UTF-8, no control characters.
    name: str


class RoomCreate(_RoomCreateRequired, total=False):
    """The room to open"""

    # Hard cap on participants
    maxParticipants: int
    # Seconds before an empty room is closed: sets both LiveKit's empty timeout (before the first join) and its
    # departure timeout (after the last leave)
    emptyTimeout: int
    # Arbitrary string stored on the room, at most 512 KiB of UTF-8
    metadata: str
    # Before this instant nobody gets a token, except for earlyJoin
    opensAt: str
    # The room is closed at this instant. No token is valid for longer
    closesAt: str
    # Seconds after the first join at which the room is closed
    maxDuration: int
    # Seconds that one participant may be alone before the room is closed
    soloTimeout: int
    # Seconds before opensAt from which on people may join; default 0
    earlyJoin: int
    # Seconds before closesAt or the end of maxDuration at which everyone in the room gets data on the topic
    # rtc.closing; default 300 and 60, and none for an empty list
    closingWarnings: list[int]
    # Whether other roles than `roles` wait until they are admitted
    lobby: bool
    # With a lobby, the roles that enter without waiting; default host and moderator
    roles: list[Literal["host", "moderator", "participant", "viewer"]]
    record: PlannedRecording
    transcribe: PlannedTranscription
    # Names and terms for transcriptions of rooms without a vocabulary
    vocabulary: list[str]
    # Language of live transcriptions that are started without one: BCP 47, or auto
    language: str


class Room(TypedDict):
    """LiveKit's Room object"""

    # The media server's id of this session of the room
    sid: str
    # Room name, which is also its id
    name: str
    # Seconds before a room that nobody has joined is closed
    emptyTimeout: int
    # Seconds before a room is closed after the last participant left
    departureTimeout: int
    # Maximum number of participants at a time; 0: no limit
    maxParticipants: int
    # When the room was opened: Unix seconds, int64 as a string
    creationTime: str
    # When the room was opened: Unix milliseconds, int64 as a string
    creationTimeMs: str
    # Metadata of the room's creation or last update; empty for none
    metadata: str
    # Participants in the room, without recorders and agents
    numParticipants: int
    # Participants who publish a track
    numPublishers: int
    # Whether a recorder of the media server is in the room, other than for a broadcast
    activeRecording: bool
    # Whether the room is broadcast
    activeBroadcast: bool


class _RoomListRequired(TypedDict):
    # The rooms
    rooms: list[Room]


class RoomList(_RoomListRequired, total=False):
    """Open rooms"""

    # The cursor of the next page; null after the last one; absent when the whole list is returned at once
    nextCursor: Optional[str]


class ClosedRoom(TypedDict):
    """A room that is kept closed"""

    # Room name
    name: str
    # When it was closed
    closedAt: str
    # When it may be entered again; null for never, until POST /v1/rooms
    closedUntil: Optional[str]


class ClosedRoomList(TypedDict):
    """The rooms that are kept closed, ordered by name"""

    # The rooms
    closedRooms: list[ClosedRoom]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class RoomPatch(TypedDict, total=False):
    """Changes of the room"""

    # Replaces the metadata of the room; at most 512 KiB of UTF-8, and empty for none. Everyone in the room is
    # notified
    metadata: str


class _RoomDataRequired(TypedDict):
    # What to send: text, or bytes as base64. At most 15360 bytes, and 1300 when lossy
    data: str


class RoomData(_RoomDataRequired, total=False):
    """A message to clients in a room"""

    # Encoding of `data`: `text` is sent as UTF-8, `base64` (RFC 4648, section 4) as its bytes; default text
    encoding: Literal["text", "base64"]
    # Distinguishes kinds of messages in clients. At most 256 bytes of UTF-8, no control characters.
    topic: str
    # reliable: in order, with retransmissions; lossy: at once or not at all; default reliable
    kind: Literal["reliable", "lossy"]
    # Receivers; without it, everyone in the room
    destinationIdentities: list[str]


class RoomDataSent(TypedDict):
    """The receivers of a message"""

    # Identities in the room to which the message was sent. LiveKit does not report who has received it
    sentTo: list[str]


class PlanPut(TypedDict, total=False):
    """The plan: exactly one of `room` and `prefix`, and what it sets"""

    # The room that the plan is for. At most 256 bytes of UTF-8, no control characters.
    room: str
    # The plan is for all rooms whose names begin so; the longest prefix wins. At most 256 bytes of UTF-8, no control
    # characters.
    prefix: str
    # Before this instant nobody gets a token, except for earlyJoin
    opensAt: str
    # The room is closed at this instant. No token is valid for longer
    closesAt: str
    # Seconds after the first join at which the room is closed
    maxDuration: int
    # Seconds that one participant may be alone before the room is closed
    soloTimeout: int
    # Seconds before opensAt from which on people may join; default 0
    earlyJoin: int
    # Seconds before closesAt or the end of maxDuration at which everyone in the room gets data on the topic
    # rtc.closing; default 300 and 60, and none for an empty list
    closingWarnings: list[int]
    # Whether other roles than `roles` wait until they are admitted
    lobby: bool
    # With a lobby, the roles that enter without waiting; default host and moderator
    roles: list[Literal["host", "moderator", "participant", "viewer"]]
    record: PlannedRecording
    transcribe: PlannedTranscription
    # Names and terms for transcriptions of rooms without a vocabulary
    vocabulary: list[str]
    # Language of live transcriptions that are started without one: BCP 47, or auto
    language: str
    # Hard cap on participants
    maxParticipants: int
    # Seconds before an empty room is closed, unless POST /v1/rooms says otherwise
    emptyTimeout: int
    # Metadata of rooms that are opened without any; at most 2 KiB
    metadata: str


class _PlanRequired(TypedDict):
    # Id of the plan
    planId: str
    # When the plan was made
    createdAt: str
    # When it was changed last
    updatedAt: str


class Plan(_PlanRequired, total=False):
    """Settings for a room, or for all rooms with a prefix"""

    # The room that the plan is for. At most 256 bytes of UTF-8, no control characters.
    room: str
    # The plan is for all rooms whose names begin so; the longest prefix wins. At most 256 bytes of UTF-8, no control
    # characters.
    prefix: str
    # Before this instant nobody gets a token, except for earlyJoin
    opensAt: str
    # The room is closed at this instant. No token is valid for longer
    closesAt: str
    # Seconds after the first join at which the room is closed
    maxDuration: int
    # Seconds that one participant may be alone before the room is closed
    soloTimeout: int
    # Seconds before opensAt from which on people may join; default 0
    earlyJoin: int
    # Seconds before closesAt or the end of maxDuration at which everyone in the room gets data on the topic
    # rtc.closing; default 300 and 60, and none for an empty list
    closingWarnings: list[int]
    # Whether other roles than `roles` wait until they are admitted
    lobby: bool
    # With a lobby, the roles that enter without waiting; default host and moderator
    roles: list[Literal["host", "moderator", "participant", "viewer"]]
    record: PlannedRecording
    transcribe: PlannedTranscription
    # Names and terms for transcriptions of rooms without a vocabulary
    vocabulary: list[str]
    # Language of live transcriptions that are started without one: BCP 47, or auto
    language: str
    # Hard cap on participants
    maxParticipants: int
    # Seconds before an empty room is closed, unless POST /v1/rooms says otherwise
    emptyTimeout: int
    # Metadata of rooms that are opened without any; at most 2 KiB
    metadata: str


class PlanList(TypedDict):
    """Plans, ordered by id"""

    # The plans
    plans: list[Plan]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class _ParticipantRequired(TypedDict):
    # The media server's id of this connection
    sid: str
    # Identity of the token (userId)
    identity: str
    # Display name
    name: str
    # JOINING, JOINED, ACTIVE or DISCONNECTED
    state: str
    # STANDARD for people, INGRESS for streams, SIP for telephones
    kind: str
    # JSON text of the token; empty without metadata
    metadata: str
    # When the participant joined: Unix seconds, int64 as a string
    joinedAt: str
    # Whether the participant publishes a track
    isPublisher: bool
    # Signed attributes of the token: rtc.role, rtc.canMuteOthers, and rtc.key with the id of an API key other than
    # the root key
    attributes: dict[str, str]
    # Tracks that the participant publishes
    tracks: list[ParticipantTracksItem]


class Participant(_ParticipantRequired, total=False):
    """LiveKit's ParticipantInfo object"""

    # Permissions of the token
    permission: ParticipantPermission


class ParticipantPermission(TypedDict):
    """Permissions of the token"""

    # May publish tracks
    canPublish: bool
    # Whether the participant may receive the tracks of others
    canSubscribe: bool
    # Whether the participant is invisible to others
    hidden: bool


class ParticipantTracksItem(TypedDict):
    # Id of the track, for muting
    sid: str
    # AUDIO, VIDEO or DATA
    type: str
    # Name from the publisher
    name: str
    # Whether the track is muted
    muted: bool
    # CAMERA, MICROPHONE, SCREEN_SHARE, SCREEN_SHARE_AUDIO or UNKNOWN
    source: str


class _ParticipantListRequired(TypedDict):
    # The participants, by identity
    participants: list[Participant]


class ParticipantList(_ParticipantListRequired, total=False):
    """The participants of a room"""

    # The cursor of the next page; null after the last one; absent when the whole list is returned at once
    nextCursor: Optional[str]


class ParticipantPatch(TypedDict, total=False):
    """Changes of the participant"""

    # New display name. At most 256 bytes of UTF-8, no control characters.
    name: str
    # Replaces the metadata; kept as JSON text, at most 512 KiB
    metadata: dict[str, Any]
    # Merged into the attributes, at most 64 KiB in LiveKit; null or an empty text removes one. Those that begin with
    # `rtc.` belong to the role
    attributes: dict[str, Optional[str]]
    # Grants of the token: a host may do everything, also in LiveKit; a moderator and a participant publish and
    # subscribe; a viewer only subscribes. Hosts and moderators may mute others through your back end.
    role: Literal["host", "moderator", "participant", "viewer"]


class _MuteRequired(TypedDict):
    # Track to mute
    trackSid: str


class Mute(_MuteRequired, total=False):
    """What to mute"""

    # False unmutes it, if the media server allows that (`room.enable_remote_unmute` of LiveKit); default true
    muted: bool


# Which tracks to mute in a room
RoomMute = TypedDict(
    "RoomMute",
    {
        "except": "list[str]",
        "sources": "list[Literal[\"microphone\", \"camera\", \"screen_share\", \"screen_share_audio\"]]",
    },
    total=False,
)


class MutedTrack(TypedDict):
    """A track that was muted"""

    # The participant who publishes the track
    identity: str
    # Track that was muted
    trackSid: str


class _RoomMutedRequired(TypedDict):
    # The tracks that this request muted
    muted: list[MutedTrack]


class RoomMuted(_RoomMutedRequired, total=False):
    """What was muted in a room"""

    # True when there are more tracks to mute than the 1000 of one request: repeat it
    mutedTruncated: bool


class WaitingPerson(TypedDict):
    """Somebody who waits to be admitted"""

    # Identity of the token (userId)
    identity: str
    # Display name
    name: str
    # Grants of the token: a host may do everything, also in LiveKit; a moderator and a participant publish and
    # subscribe; a viewer only subscribes. Hosts and moderators may mute others through your back end.
    role: Literal["host", "moderator", "participant", "viewer"]
    # Since when the person has been waiting
    waitingSince: str


class WaitingList(TypedDict):
    """The people who wait for a room"""

    # Whether the room has a lobby now
    lobby: bool
    # Who waits, the longest first; at most 500 can wait
    waiting: list[WaitingPerson]


class AdmittedPerson(TypedDict):
    """Somebody who was admitted, with the token of the room"""

    # Identity of the token (userId)
    identity: str
    # Display name
    name: str
    # Grants of the token: a host may do everything, also in LiveKit; a moderator and a participant publish and
    # subscribe; a viewer only subscribes. Hosts and moderators may mute others through your back end.
    role: Literal["host", "moderator", "participant", "viewer"]
    # LiveKit access token (JWT), signed with the media server's key
    token: str
    # WebSocket URL of the media server
    url: str
    # The JWT's own exp
    expiresAt: str


class _AdmittedListRequired(TypedDict):
    # Whom this request has admitted
    admitted: list[AdmittedPerson]


class AdmittedList(_AdmittedListRequired, total=False):
    """The people who were admitted"""

    # True when more people wait than the 100 of one request: repeat it
    admittedTruncated: bool


class Block(TypedDict):
    """A blocked identity"""

    # Blocked identity (userId)
    identity: str
    # When it was blocked
    blockedAt: str
    # When the block ends; null for never
    blockedUntil: Optional[str]


class BlockList(TypedDict):
    """The blocked identities of a room, ordered by identity"""

    # The blocks
    blocks: list[Block]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class RoomBlock(TypedDict):
    """An identity that is blocked in a room"""

    # Room name
    roomId: str
    # Blocked identity (userId)
    identity: str
    # When it was blocked
    blockedAt: str
    # When the block ends; null for never
    blockedUntil: Optional[str]


class RoomBlockList(TypedDict):
    """The blocked identities of all rooms, ordered by room and identity"""

    # The blocks
    blocks: list[RoomBlock]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class RecordingSettings(TypedDict, total=False):
    """How to record"""

    # Arrangement of the people: everyone in a grid, the speaker beside the others, or the speaker alone; default grid
    layout: Literal["grid", "speaker", "single-speaker"]
    # Record sound only, also into an MP4 file; default false
    audioOnly: bool
    # Also keep each participant's speech, encrypted, until the recording is transcribed or for 7 days, so that the
    # transcript has everybody when people speak at once; needs a stt-live worker; default false
    recordTracks: bool
    # Resolution and frames per second of the picture; default H264_720P_30
    preset: Literal["H264_720P_30", "H264_720P_60", "H264_1080P_30", "H264_1080P_60", "PORTRAIT_H264_720P_30", "PORTRAIT_H264_720P_60", "PORTRAIT_H264_1080P_30", "PORTRAIT_H264_1080P_60"]


class RecordingStart(TypedDict):
    """The running recording"""

    # Form EG_<id>
    egressId: str
    # Room name
    roomId: str
    # already_recording: another request started it
    status: Literal["recording", "already_recording"]
    # When the recording was started
    startedAt: str


class RecordingStop(TypedDict):
    """The recording that was stopped"""

    # Form EG_<id>
    egressId: str
    # Room name
    roomId: str
    # Always stopped
    status: Literal["stopped"]
    # When the recording was stopped
    stoppedAt: str


class RecordingStatus(TypedDict):
    """Whether a room is being recorded"""

    # Whether a recording is running
    isRecording: bool
    # Form EG_<id>; null while none is running
    egressId: Optional[str]
    # When the recording was started; null while none is running
    startedAt: Optional[str]
    # When the recording's media begins, some seconds after startedAt: times in the file count from it; null until
    # known
    mediaStartedAt: Optional[str]


class HlsSettings(TypedDict, total=False):
    """Also write the broadcast as HLS, beside the recordings"""

    # Length of a segment in seconds; default 4
    segmentSeconds: int
    # Name of the playlist of everything; default index.m3u8
    playlist: str
    # Name of the playlist of the newest segments; default live.m3u8
    livePlaylist: str


class BroadcastSettings(TypedDict, total=False):
    """Where a room is broadcast to, and how; urls or hls is required"""

    # Where to send the stream: either all with srt, or none; may be left out with hls
    urls: list[str]
    hls: HlsSettings
    # Arrangement of the people, as of a recording; default grid
    layout: Literal["grid", "speaker", "single-speaker"]
    # Resolution and frames per second of the picture; default H264_720P_30
    preset: Literal["H264_720P_30", "H264_720P_60", "H264_1080P_30", "H264_1080P_60", "PORTRAIT_H264_720P_30", "PORTRAIT_H264_720P_60", "PORTRAIT_H264_1080P_30", "PORTRAIT_H264_1080P_60"]


class BroadcastUrl(TypedDict):
    """One receiver of a broadcast"""

    # Form bu_<id>
    urlId: str
    # The URL without its key
    url: str
    state: BroadcastUrlState
    # When it came into this state
    since: str
    # Why it failed, as the recorder tells it; else null
    error: Optional[str]
    # How often the recorder has connected again
    retries: int


class BroadcastHls(TypedDict):
    """Where the HLS of a broadcast is"""

    # Length of a segment in seconds
    segmentSeconds: int
    # Null for a local folder
    bucket: Optional[str]
    # Prefix of the keys in the bucket, or path of the folder on the recorder's file system
    folder: str
    # Name of the playlist of everything
    playlist: str
    # Name of the playlist of the newest segments
    livePlaylist: str


class BroadcastStart(TypedDict):
    """The running broadcast"""

    # Form bc_<id>
    broadcastId: str
    # Room name
    roomId: str
    # LiveKit's id of the recorder's work; null if it never began
    egressId: Optional[str]
    # When it was started; null if it never began
    startedAt: Optional[str]
    # Null while it is running
    stoppedAt: Optional[str]
    # When everything had ended; null before
    endedAt: Optional[str]
    # Length of the HLS in milliseconds; null until known
    durationMs: Optional[int]
    # Size of the HLS in bytes; null until known
    sizeBytes: Optional[int]
    # Why the broadcast failed or was aborted
    error: Optional[str]
    # Its receivers, in the order in which they were added
    urls: list[BroadcastUrl]
    # Null without HLS
    hls: Optional[BroadcastHls]
    # already_broadcasting: another request started it, and its own options apply
    status: Literal["broadcasting", "already_broadcasting"]


class BroadcastChange(TypedDict, total=False):
    """URLs to add to a running broadcast, and to remove from it"""

    # URLs to which the stream goes too
    add: list[str]
    # The urlId, or the whole URL, of those to which it goes no longer
    remove: list[str]


class Broadcast(TypedDict):
    """A broadcast of a room, until it is deleted"""

    # Form bc_<id>
    broadcastId: str
    # Room name
    roomId: str
    # LiveKit's id of the recorder's work; null if it never began
    egressId: Optional[str]
    # When it was started; null if it never began
    startedAt: Optional[str]
    # Null while it is running
    stoppedAt: Optional[str]
    # When everything had ended; null before
    endedAt: Optional[str]
    # Length of the HLS in milliseconds; null until known
    durationMs: Optional[int]
    # Size of the HLS in bytes; null until known
    sizeBytes: Optional[int]
    # Why the broadcast failed or was aborted
    error: Optional[str]
    # Its receivers, in the order in which they were added
    urls: list[BroadcastUrl]
    # Null without HLS
    hls: Optional[BroadcastHls]
    status: BroadcastState


class BroadcastStop(TypedDict):
    """The broadcast that was stopped"""

    # Form bc_<id>
    broadcastId: str
    # Form EG_<id>
    egressId: str
    # Room name
    roomId: str
    # Always stopped
    status: Literal["stopped"]
    # When the broadcast was stopped
    stoppedAt: str


class BroadcastStatus(TypedDict):
    """Whether a room is being broadcast, and where to"""

    # Whether a broadcast is running
    isBroadcasting: bool
    # The running broadcast, or the one that ran last; null if there was none
    broadcast: Optional[Broadcast]


class BroadcastList(TypedDict):
    """A page of broadcasts"""

    # The broadcasts
    broadcasts: list[Broadcast]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class Recording(TypedDict):
    """A recording, until it is deleted"""

    # The recording's egress id; of the form rec_<id> if there never was an egress
    recordingId: str
    # Room name
    roomId: str
    status: RecordingState
    # Null when it never started
    startedAt: Optional[str]
    # When the recording's media begins, some seconds after startedAt: times in the file count from it; null until
    # known
    mediaStartedAt: Optional[str]
    # Null while the recording is running
    stoppedAt: Optional[str]
    # When the file was complete, or when it was known that there will be none; null before
    endedAt: Optional[str]
    # Length of the file in milliseconds; null until known
    durationMs: Optional[int]
    # Size of the file in bytes; null until known
    sizeBytes: Optional[int]
    # Why the recording failed, was aborted, or was ended by its recorder
    error: Optional[str]
    # Null without a file
    file: Optional[RecordingFile]


class RecordingFile(TypedDict):
    """Null without a file"""

    # Null for a local file
    bucket: Optional[str]
    # Key in the bucket, or path on the recorder's file system
    path: str


class RecordingList(TypedDict):
    """A page of recordings"""

    # The recordings
    recordings: list[Recording]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class _SessionRequired(TypedDict):
    # The media server's id of the session, as `room.id` of events
    sessionId: str
    # Room name
    roomId: str
    # Whether the room is open
    status: Literal["open", "ended"]
    # When the room was opened
    createdAt: str
    # When the first participant joined; null if none has
    startedAt: Optional[str]
    # When the room was closed; null while it is open
    endedAt: Optional[str]
    # Metadata of the room, empty for none; null when it has more than 16 KiB, which metadataBytes and metadataSha256
    # then identify, or when it is not known
    metadata: Optional[str]
    # From startedAt to endedAt, in milliseconds; until now while the room is open; 0 if nobody joined
    durationMs: int
    # Number of identities that were there, without streams into the room; somebody who joined several times counts
    # once
    totalParticipants: int
    # Maximum number of these identities at the same time
    peakParticipants: int
    # Minutes of all participants together, with two decimals; until now for those who are still there. Time in which
    # an identity was connected twice counts once
    participantMinutes: float


class Session(_SessionRequired, total=False):
    """A room from its opening to its end, without recorders and agents"""

    # Length of metadata of more than 16 KiB, in bytes of UTF-8; read it from the room while it is open
    metadataBytes: int
    # SHA-256 of metadata of more than 16 KiB, of its UTF-8, in hexadecimal
    metadataSha256: str


class SessionList(TypedDict):
    """A page of sessions"""

    # The sessions, newest first
    sessions: list[Session]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class SessionTranscription(TypedDict):
    """A transcription of the room, or of one of its recordings"""

    # Form tr_<id>
    transcriptionId: str
    # live: of the room; post: of a recording
    kind: Literal["live", "post"]
    # The recording of a post-call transcription; null for a live one
    recordingId: Optional[str]
    # State; active or stopped for a live transcription
    status: Literal["active", "stopped", "queued", "processing", "completed", "failed"]
    # BCP 47
    language: str
    # When it was started; when it was queued, for a recording
    startedAt: str
    # Null until it is stopped, completed or failed
    endedAt: Optional[str]


class SessionParticipant(TypedDict):
    """A connection of a participant to the room, from joining to leaving"""

    # The media server's id of this connection; somebody who joins again has a new one
    sid: str
    # Identity of the token (userId)
    identity: str
    # Display name
    name: str
    # Role of the token; `ingress` for a stream; null for tokens that another program issued
    role: Optional[str]
    # When the participant joined
    joinedAt: str
    # Null while the participant is present
    leftAt: Optional[str]
    # From joinedAt to leftAt, in milliseconds; until now while the participant is present
    durationMs: int


class _SessionDetailRequired(TypedDict):
    # The media server's id of the session, as `room.id` of events
    sessionId: str
    # Room name
    roomId: str
    # Whether the room is open
    status: Literal["open", "ended"]
    # When the room was opened
    createdAt: str
    # When the first participant joined; null if none has
    startedAt: Optional[str]
    # When the room was closed; null while it is open
    endedAt: Optional[str]
    # Metadata of the room, empty for none; null when it has more than 16 KiB, which metadataBytes and metadataSha256
    # then identify, or when it is not known
    metadata: Optional[str]
    # From startedAt to endedAt, in milliseconds; until now while the room is open; 0 if nobody joined
    durationMs: int
    # Number of identities that were there, without streams into the room; somebody who joined several times counts
    # once
    totalParticipants: int
    # Maximum number of these identities at the same time
    peakParticipants: int
    # Minutes of all participants together, with two decimals; until now for those who are still there. Time in which
    # an identity was connected twice counts once
    participantMinutes: float
    # Recordings that were started in it, oldest first; at most the first 1000
    recordings: list[Recording]
    # Transcriptions of the room and of these recordings, oldest first; at most the first 1000
    transcriptions: list[SessionTranscription]
    # Presence of the participants, in the order in which they joined; at most the first 1000
    participants: list[SessionParticipant]


class SessionDetail(_SessionDetailRequired, total=False):
    """A session with its participants, recordings and transcriptions"""

    # Length of metadata of more than 16 KiB, in bytes of UTF-8; read it from the room while it is open
    metadataBytes: int
    # SHA-256 of metadata of more than 16 KiB, of its UTF-8, in hexadecimal
    metadataSha256: str
    # True if there are more participants; their own list has all of them
    participantsTruncated: bool
    # True if there are more recordings; their own list has all of them
    recordingsTruncated: bool
    # True if there are more transcriptions
    transcriptionsTruncated: bool


class SessionParticipantList(TypedDict):
    """A page of the participants of a session"""

    # Their connections, in the order in which they joined
    participants: list[SessionParticipant]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class UsageFigures(TypedDict):
    """Exact times, added up in milliseconds and rounded once"""

    # Minutes of all people together; time in which an identity was connected twice counts once, with two decimals
    participantMinutes: float
    # The same minutes by the role of the token
    participantMinutesByRole: UsageFiguresParticipantMinutesByRole
    # Minutes of rooms, each from its first participant to its end, with two decimals
    roomMinutes: float
    # Minutes of finished recordings, with two decimals
    recordedMinutes: float
    # Minutes of finished transcriptions, of rooms and of recordings, with two decimals
    transcribedMinutes: float
    # Minutes of finished broadcasts, with two decimals
    broadcastMinutes: float
    # Minutes of streams into rooms, with two decimals
    ingressMinutes: float
    # Maximum number of people at the same time in one room, the largest; people of several rooms are not added up
    peakParticipants: int
    # Bytes of recordings, on the day on which they ended
    recordingBytes: int
    # False while a day is not over, or a room is open whose minutes of that time are included
    isFinal: bool


class UsageFiguresParticipantMinutesByRole(TypedDict):
    """The same minutes by the role of the token"""

    # Of hosts, with two decimals
    host: float
    # Of moderators, with two decimals
    moderator: float
    # Of participants, with two decimals
    participant: float
    # Of viewers, with two decimals
    viewer: float
    # Of people with a token of another program, with two decimals
    other: float


class UsageLine(TypedDict):
    """The usage of one group"""

    # The day (2026-11-01), month (2026-11), room, beginning of names or id of the API key, after `by`
    group: str
    # Minutes of all people together; time in which an identity was connected twice counts once, with two decimals
    participantMinutes: float
    # The same minutes by the role of the token
    participantMinutesByRole: UsageLineParticipantMinutesByRole
    # Minutes of rooms, each from its first participant to its end, with two decimals
    roomMinutes: float
    # Minutes of finished recordings, with two decimals
    recordedMinutes: float
    # Minutes of finished transcriptions, of rooms and of recordings, with two decimals
    transcribedMinutes: float
    # Minutes of finished broadcasts, with two decimals
    broadcastMinutes: float
    # Minutes of streams into rooms, with two decimals
    ingressMinutes: float
    # Maximum number of people at the same time in one room, the largest; people of several rooms are not added up
    peakParticipants: int
    # Bytes of recordings, on the day on which they ended
    recordingBytes: int
    # False while a day is not over, or a room is open whose minutes of that time are included
    isFinal: bool


class UsageLineParticipantMinutesByRole(TypedDict):
    """The same minutes by the role of the token"""

    # Of hosts, with two decimals
    host: float
    # Of moderators, with two decimals
    moderator: float
    # Of participants, with two decimals
    participant: float
    # Of viewers, with two decimals
    viewer: float
    # Of people with a token of another program, with two decimals
    other: float


# A page of usage, with the total of all pages
Usage = TypedDict(
    "Usage",
    {
        "from": "str",
        "to": "str",
        "by": "Literal[\"day\", \"month\", \"room\", \"prefix\", \"key\"]",
        "asOf": "str",
        "total": "UsageFigures",
        "usage": "list[UsageLine]",
        "nextCursor": "Optional[str]",
    },
)


class IngressCreate(TypedDict, total=False):
    """The ingress to create"""

    # Protocol; default rtmp
    type: Literal["rtmp", "whip"]
    # Display name in the room; default "Ingress Stream". At most 256 bytes of UTF-8, no control characters.
    participantName: str
    # Unique identity; generated as ingress_<id> when absent. At most 256 bytes of UTF-8, no control characters.
    participantIdentity: str


class Ingress(TypedDict):
    """LiveKit's IngressInfo object"""

    # Form IN_<id>
    ingressId: str
    # Name of the ingress
    name: str
    # Key for the streaming program; its holder can publish a stream
    streamKey: str
    # Address for the stream
    url: str
    # RTMP_INPUT or WHIP_INPUT
    inputType: str
    # The room in which the stream is published
    roomName: str
    # Identity of the stream in the room
    participantIdentity: str
    # Display name of the stream in the room
    participantName: str
    # Whether the ingress can be used again after a stream has ended
    reusable: bool


class _IngressListRequired(TypedDict):
    # The ingress endpoints, by id
    ingress: list[Ingress]


class IngressList(_IngressListRequired, total=False):
    """Ingress endpoints"""

    # The cursor of the next page; null after the last one; absent when the whole list is returned at once
    nextCursor: Optional[str]


class TranscriptionStart(TypedDict, total=False):
    """How to transcribe a room"""

    # BCP 47, or auto when a model detects the spoken language; default en-US
    language: str
    # Track id or identity to speaker name
    participants: dict[str, str]
    # How to transcribe
    options: TranscriptionStartOptions


class TranscriptionStartOptions(TypedDict, total=False):
    """How to transcribe"""

    # Interim results in captions, and at the end of the returned segments; default false
    partialResults: bool
    # Send captions to everyone in the room (text streams on lk.transcription); default true
    captions: bool
    # Punctuation and capitals; default true
    punctuation: bool
    # Mask profanity with asterisks; default false
    profanityFilter: bool


class TranscriptionStarted(TypedDict):
    """The active transcription"""

    # Form tr_<id>
    transcriptionId: str
    # Room name
    roomId: str
    # Always active
    status: Literal["active"]
    # BCP 47
    language: str
    # When the transcription was started
    startedAt: str


class TranscriptionStopped(TypedDict):
    """The stopped transcription"""

    # Form tr_<id>
    transcriptionId: str
    # Always stopped
    status: Literal["stopped"]
    # When the transcription was stopped
    stoppedAt: str
    # Final segments
    segmentCount: int


class Word(TypedDict):
    """A word with its times"""

    # The word, with its punctuation
    text: str
    # Seconds from the transcription's start
    start: float
    # Seconds from the transcription's start
    end: float
    # 0 to 1; null if the model gives none
    confidence: Optional[float]


class _SegmentRequired(TypedDict):
    # Form seg_<id>
    id: str
    # Form tr_<id>
    transcriptionId: str
    # The track of the speech; null in the transcription of a recording if no worker listened to the tracks, or none
    # of them had speech
    trackId: Optional[str]
    # Identity of the speaker; null if trackId is null
    participantIdentity: Optional[str]
    # Name of the speaker at the time of this request; null if it is not known
    speaker: Optional[str]
    # What was said
    text: str
    # BCP 47; und in a transcription in auto if the model did not detect it
    language: str
    # Seconds from the transcription's start
    start: float
    # Seconds from the transcription's start
    end: float
    # When the segment began
    startedAt: str
    # Time of the speech
    endedAt: str
    # False for an interim result, which keeps its id when it becomes final
    final: bool
    # 0 to 1; null if the model gives none. At most 0.1 for a text that repeats itself or is too long for its sound
    confidence: Optional[float]


class Segment(_SegmentRequired, total=False):
    """A piece of speech of one speaker"""

    # The words of the text; only if the model says when each was spoken
    words: list[Word]
    # Somebody else spoke at the same time; only in transcriptions of recordings
    overlap: bool


class TranscriptionWarning(TypedDict):
    """A doubt about the text of a transcription"""

    # language-doubtful: the speech is probably in another language than the transcription
    code: Literal["language-doubtful"]
    # Identity of the speaker; null if it is not known, as in a recording to which no worker listened
    participantIdentity: Optional[str]
    # Description of the problem
    detail: str


class _LiveTranscriptionRequired(TypedDict):
    # Form tr_<id>
    transcriptionId: str
    # Room name
    roomId: str
    # Whether the transcription is still active
    status: Literal["active", "stopped", "failed"]
    # BCP 47
    language: str
    # When the transcription was started
    startedAt: str
    # When the transcription was stopped, or failed; null while it is active
    stoppedAt: Optional[str]
    # Why it failed
    error: Optional[LiveTranscriptionError]
    # The segments by their start; the first ones that were stored, if there are more than the response has
    segments: list[Segment]
    # Position after these segments, for `cursor` of the next read; there is one after the last too
    nextCursor: str


class LiveTranscription(_LiveTranscriptionRequired, total=False):
    """The live transcription of a room"""

    # Only if there are doubts about the text
    warnings: list[TranscriptionWarning]


class LiveTranscriptionError(TypedDict):
    """Why it failed"""

    # Error code
    code: str
    # What is wrong, and what to do
    message: str


class LiveTranscriptionSummary(TypedDict):
    """The live transcription of a room, without its segments"""

    # Form tr_<id>
    transcriptionId: str
    # Room name
    roomId: str
    # Whether the transcription is still active
    status: Literal["active", "stopped", "failed"]
    # BCP 47
    language: str
    # When the transcription was started
    startedAt: str
    # When the transcription was stopped, or failed; null while it is active
    stoppedAt: Optional[str]
    # Why it failed
    error: Optional[LiveTranscriptionSummaryError]


class LiveTranscriptionSummaryError(TypedDict):
    """Why it failed"""

    # Error code
    code: str
    # What is wrong, and what to do
    message: str


class LiveTranscriptionList(TypedDict):
    """A page of live transcriptions"""

    # The transcriptions
    transcriptions: list[LiveTranscriptionSummary]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class SpeakerUpdate(TypedDict):
    """Names to set or to remove"""

    # Merged into the map; null removes a name
    participants: dict[str, Optional[str]]


class TranscriptionQueue(TypedDict, total=False):
    """How to transcribe a recording"""

    # BCP 47, or auto when a model detects the spoken language; default en-US
    language: str
    # Track id or identity to speaker name
    participants: dict[str, str]


class TranscriptionQueued(TypedDict):
    """The queued transcription"""

    # Form tr_<id>
    transcriptionId: str
    # The recording's egress id
    recordingId: str
    # State of the transcription
    status: Literal["queued", "processing", "completed"]
    # When it was queued
    queuedAt: str


class PostTranscription(TypedDict):
    """The transcription of a recording"""

    # Form tr_<id>
    transcriptionId: str
    # The recording's egress id
    recordingId: str
    # Room name
    roomId: str
    # State of the transcription
    status: Literal["queued", "processing", "completed", "failed"]
    # BCP 47
    language: str
    # Names of speakers
    participants: dict[str, str]
    # Share of the audio that has been transcribed, 0 to 1
    progress: float
    # When it was queued
    queuedAt: str
    # When a worker first claimed it; null before
    startedAt: Optional[str]
    # When it was completed or failed; null before
    completedAt: Optional[str]
    # Length of the audio in milliseconds; null until known
    durationMs: Optional[int]
    # Why it failed, or the error of its last attempt
    error: Optional[PostTranscriptionError]


class PostTranscriptionError(TypedDict):
    """Why it failed, or the error of its last attempt"""

    # Error code
    code: str
    # What is wrong, and what to do
    message: str


class PostTranscriptionList(TypedDict):
    """A page of transcriptions"""

    # The transcriptions
    transcriptions: list[PostTranscription]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class TextPiece(TypedDict):
    """A piece of the text of a match"""

    # A part of the text
    text: str
    # Whether this piece was searched for
    match: bool


class TranscriptHit(TypedDict):
    """A segment that matches"""

    # post: the transcription of a recording
    kind: Literal["live", "post"]
    # Room name
    roomId: str
    # The recording's egress id; null for a live transcription
    recordingId: Optional[str]
    segment: Segment
    # The text of the segment in pieces, which together are the whole text
    highlighted: list[TextPiece]


class TranscriptHitList(TypedDict):
    """A page of matches in transcripts"""

    # The found segments, newest first. May be empty although nextCursor is not null
    hits: list[TranscriptHit]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class _PostTranscriptionDetailRequired(TypedDict):
    # Form tr_<id>
    transcriptionId: str
    # The recording's egress id
    recordingId: str
    # Room name
    roomId: str
    # State of the transcription
    status: Literal["queued", "processing", "completed", "failed"]
    # BCP 47
    language: str
    # Names of speakers
    participants: dict[str, str]
    # Share of the audio that has been transcribed, 0 to 1
    progress: float
    # When it was queued
    queuedAt: str
    # When a worker first claimed it; null before
    startedAt: Optional[str]
    # When it was completed or failed; null before
    completedAt: Optional[str]
    # Length of the audio in milliseconds; null until known
    durationMs: Optional[int]
    # Why it failed, or the error of its last attempt
    error: Optional[PostTranscriptionDetailError]
    # The segments by their start
    segments: list[Segment]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class PostTranscriptionDetail(_PostTranscriptionDetailRequired, total=False):
    """The transcription of a recording with its segments"""

    # Only if there are doubts about the text
    warnings: list[TranscriptionWarning]


class PostTranscriptionDetailError(TypedDict):
    """Why it failed, or the error of its last attempt"""

    # Error code
    code: str
    # What is wrong, and what to do
    message: str


class ErasedTraces(TypedDict):
    """Only with `everything`"""

    # Events, and with them payloads of deliveries, that have a pseudonym now
    events: int
    # Connections in sessions that have a pseudonym now
    connections: int
    # Names that were deleted from maps of speakers
    speakers: int
    # Blocks that were ended
    blocks: int
    # Until when the database has the identity in ended blocks, from which other instances learn of the end; null if
    # there are none
    blocksUntil: Optional[str]
    # Audit entries that do not have the identity any more
    auditEntries: int
    # Until when the last of them, and the entry of this request, are kept
    auditEntriesUntil: str
    # Sessions that were left out because the participant is there: repeat it afterwards
    presentIn: int


class _ForgottenWordsRequired(TypedDict):
    # Final segments that were deleted
    segments: int
    # Transcriptions that contained them
    transcriptions: int
    # Running transcriptions of the room, which go on storing what the participant says
    running: int
    # Recordings with speech of the participant: their audio stays until they are deleted
    recordings: int


class ForgottenWords(_ForgottenWordsRequired, total=False):
    """What was deleted of a participant's words, and what remains"""

    traces: ErasedTraces


class Vocabulary(TypedDict):
    """Names and terms that are likely to be said in a room"""

    # Names and terms. The first ones count most, since a speech server takes some hundred characters
    terms: list[str]


class WebhookWarning(TypedDict):
    """A warning about a webhook"""

    # private-address: the service does not deliver to the address of the URL
    code: Literal["private-address"]
    # What is wrong, and what to do
    detail: str


class _WebhookRequired(TypedDict):
    # Form wh_<id>
    id: str
    # Where deliveries go
    url: str
    # Events that it receives; * for all
    events: list[str]
    # The secret in the response to the creation; a mask in all others
    secret: str
    # room: the events of one session of a room are sent one after the other, by their sequence, and wait while an
    # earlier one is retried; none: they may overtake each other
    ordering: Literal["none", "room"]
    # Since when nothing is sent to it; null while it is not paused
    pausedAt: Optional[str]
    # When it was registered
    createdAt: str
    # Id of the API key that registered it, to whose limit it counts; `root` for the root key
    createdBy: str


class Webhook(_WebhookRequired, total=False):
    """A URL that receives events"""

    # Only events of rooms whose names begin with one of these are sent, because its key is for these rooms
    rooms: list[str]
    # Only in the response to a creation or change, if there is a warning
    warnings: list[WebhookWarning]


class _WebhookListRequired(TypedDict):
    # The webhooks, oldest first
    webhooks: list[Webhook]


class WebhookList(_WebhookListRequired, total=False):
    """Every webhook, or a page of them"""

    # The cursor of the next page; null after the last one; absent when the whole list is returned at once
    nextCursor: Optional[str]


class _WebhookCreateRequired(TypedDict):
    # Delivery endpoint, http or https, without user info, on a public address
    url: str


class WebhookCreate(_WebhookCreateRequired, total=False):
    """The webhook to register"""

    # Event filter; default ["*"]
    events: list[Literal["room_created", "room_started", "room_closing", "planned_start_failed", "room_finished", "participant_joined", "participant_left", "participant_waiting", "participant_admitted", "participant_denied", "room_join_refused", "track_published", "track_unpublished", "egress_started", "egress_ended", "broadcast_started", "broadcast_url_failed", "broadcast_ended", "ingress_started", "ingress_ended", "transcription_completed", "transcription_failed", "room_closed", "recording_started", "recording_stopped", "ingress_stopped", "*"]]
    # HMAC signing secret: whsec_ and base64, or another text of up to 1024 bytes of UTF-8 on one line, without blanks
    # or quotes around it; generated as whsec_<base64 of 32 bytes> when absent
    secret: str
    # room: the events of one session of a room are sent one after the other, by their sequence, and wait while an
    # earlier one is retried; none: they may overtake each other
    ordering: Literal["none", "room"]


class WebhookPatch(TypedDict, total=False):
    """What to change"""

    # Delivery endpoint, http or https, without user info, on a public address
    url: str
    # Event filter; default ["*"]
    events: list[Literal["room_created", "room_started", "room_closing", "planned_start_failed", "room_finished", "participant_joined", "participant_left", "participant_waiting", "participant_admitted", "participant_denied", "room_join_refused", "track_published", "track_unpublished", "egress_started", "egress_ended", "broadcast_started", "broadcast_url_failed", "broadcast_ended", "ingress_started", "ingress_ended", "transcription_completed", "transcription_failed", "room_closed", "recording_started", "recording_stopped", "ingress_stopped", "*"]]
    # room: the events of one session of a room are sent one after the other, by their sequence, and wait while an
    # earlier one is retried; none: they may overtake each other
    ordering: Literal["none", "room"]
    # true: nothing is sent from now on, and the events of the first three days are kept; false: what was kept is sent
    paused: bool


class WebhookPut(TypedDict, total=False):
    """Changes of the webhook, including the secret"""

    # Delivery endpoint, http or https, without user info, on a public address
    url: str
    # Event filter; default ["*"]
    events: list[Literal["room_created", "room_started", "room_closing", "planned_start_failed", "room_finished", "participant_joined", "participant_left", "participant_waiting", "participant_admitted", "participant_denied", "room_join_refused", "track_published", "track_unpublished", "egress_started", "egress_ended", "broadcast_started", "broadcast_url_failed", "broadcast_ended", "ingress_started", "ingress_ended", "transcription_completed", "transcription_failed", "room_closed", "recording_started", "recording_stopped", "ingress_stopped", "*"]]
    # room: the events of one session of a room are sent one after the other, by their sequence, and wait while an
    # earlier one is retried; none: they may overtake each other
    ordering: Literal["none", "room"]
    # true: nothing is sent from now on, and the events of the first three days are kept; false: what was kept is sent
    paused: bool
    # New signing secret, in the form of the creation; the mask *** keeps the current one
    secret: str
    # Ignored, so that you can send a webhook as you read it
    id: Any
    # Ignored, so that you can send a webhook as you read it
    pausedAt: Any
    # Ignored, so that you can send a webhook as you read it
    createdAt: Any
    # Ignored, so that you can send a webhook as you read it
    createdBy: Any
    # Ignored, so that you can send a webhook as you read it
    rooms: Any


class _WebhookTestRequired(TypedDict):
    # Whether the receiver responded with 2xx
    delivered: bool
    # The receiver's status; 0 if there was no response
    statusCode: int


class WebhookTest(_WebhookTestRequired, total=False):
    """The result of the test delivery"""

    # Why there was no complete response, or where the receiver redirects to
    error: str
    # What to do about a redirect
    hint: WebhookTestHint


class _WebhookTestHintRequired(TypedDict):
    # The hint, in lower case and without a full stop
    text: str


class WebhookTestHint(_WebhookTestHintRequired, total=False):
    """What to do about a redirect"""

    # The command to run
    command: str


class Delivery(TypedDict):
    """One event for one webhook"""

    # Form dlv_<id>
    id: str
    # Form wh_<id>
    webhookId: str
    # Id of the event, form evt_<id>
    eventId: str
    # Event name, as it is delivered
    event: str
    # failed: after the last attempt; cancelled: its webhook was deleted before
    status: Literal["pending", "delivered", "failed", "cancelled"]
    # When the event was stored
    createdAt: str
    # Null if it is not pending, or if it is waiting
    nextAttemptAt: Optional[str]
    # Whether it waits for an earlier delivery of its room, because its webhook asks for order
    waiting: bool
    # Every attempt, oldest first; the newest 20 after many replays
    attempts: list[DeliveryAttemptsItem]


class DeliveryAttemptsItem(TypedDict):
    # Number of the attempt, from 1
    number: int
    # When the request was sent
    startedAt: str
    # Duration in milliseconds
    durationMs: int
    # Null if there was no response
    statusCode: Optional[int]
    # Why the attempt failed
    error: Optional[str]
    # The response of the receiver, at most 4 KiB
    responseBody: Optional[str]


class DeliveryList(TypedDict):
    """A page of deliveries"""

    # The deliveries
    deliveries: list[Delivery]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class Replay(TypedDict):
    """The replayed deliveries"""

    # Deliveries that are pending again
    replayed: int


class WebhookStats(TypedDict):
    """What became of the deliveries of a webhook"""

    # Form wh_<id>
    webhookId: str
    # By the last attempts of the newest 20 deliveries that were tried, whatever the period: working if all were
    # accepted, unsteady if some were, failing if none was, unused if there is none
    health: Literal["unused", "working", "unsteady", "failing"]
    # Start of the period
    since: str
    # End of the period
    until: str
    # The receiver accepted them
    delivered: int
    # They failed at their last attempt
    failed: int
    # They are sent, retried or waiting
    pending: int
    # Whether every delivery of the period was counted; of more than 50,000 in one state only the newest are
    isComplete: bool
    # Pending deliveries that the receiver did not accept yet, whatever the period
    retrying: int
    # Null if none is pending
    oldestPendingAt: Optional[str]
    # The same counts for 48 equal parts of the period, the oldest first
    periods: list[WebhookStatsPeriodsItem]


class WebhookStatsPeriodsItem(TypedDict):
    # Start of this part
    startedAt: str
    # The receiver accepted them
    delivered: int
    # They failed at their last attempt
    failed: int
    # They are sent, retried or waiting
    pending: int


class _EventRoomRequired(TypedDict):
    # The media server's id of this session of the room; empty if it is not known
    id: str
    # Room name
    name: str
    # Metadata of the room, empty for none; null when it has more than 16 KiB, which metadataBytes and metadataSha256
    # then identify, or when it is not known
    metadata: Optional[str]
    # Participants in the room after the event, without recorders and agents
    numParticipants: int


class EventRoom(_EventRoomRequired, total=False):
    """The room of an event"""

    # When the room was opened
    createdAt: str
    # When it was closed; only with room_finished
    endedAt: str
    # Length of metadata of more than 16 KiB, in bytes of UTF-8; read it from the room while it is open
    metadataBytes: int
    # SHA-256 of metadata of more than 16 KiB, of its UTF-8, in hexadecimal
    metadataSha256: str


class _RoomCreatedEventRequired(TypedDict):
    # Event name
    event: Literal["room_created"]
    room: EventRoom
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]


class RoomCreatedEvent(_RoomCreatedEventRequired, total=False):
    """A room was opened."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class _RoomStartedEventRequired(TypedDict):
    # Event name
    event: Literal["room_started"]
    room: EventRoom
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]


class RoomStartedEvent(_RoomStartedEventRequired, total=False):
    """The first participant of a room joined."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class RoomClosing(TypedDict):
    """When and why the room is closed"""

    # What closes the room
    reason: Literal["closes_at", "max_duration", "solo_timeout"]
    # When it is closed
    closesAt: str
    # Seconds until then; 0 right before the end
    secondsLeft: int


class _RoomClosingEventRequired(TypedDict):
    # Event name
    event: Literal["room_closing"]
    room: EventRoom
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    closing: RoomClosing


class RoomClosingEvent(_RoomClosingEventRequired, total=False):
    """A plan is about to close a room: sent with each warning to its participants, and right before its end."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class PlannedStart(TypedDict):
    """What a plan could not start"""

    # What the plan wanted to start
    starts: Literal["recording", "transcription"]
    # Why it was refused
    error: PlannedStartError


class PlannedStartError(TypedDict):
    """Why it was refused"""

    # Error code
    code: str
    # What is wrong, and what to do
    message: str


class _PlannedStartFailedEventRequired(TypedDict):
    # Event name
    event: Literal["planned_start_failed"]
    room: EventRoom
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    planned: PlannedStart


class PlannedStartFailedEvent(_PlannedStartFailedEventRequired, total=False):
    """A plan could not start something. It is tried again while the room is open; each reason is told once."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class _RoomFinishedEventRequired(TypedDict):
    # Event name; room_closed only for a webhook that is registered under that name
    event: Literal["room_finished", "room_closed"]
    room: EventRoom
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]


class RoomFinishedEvent(_RoomFinishedEventRequired, total=False):
    """A room was closed."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool
    # Why a plan closed the room; absent for a room that ended otherwise
    closeReason: Literal["closes_at", "max_duration", "solo_timeout"]


class _JoinedParticipantRequired(TypedDict):
    # The media server's id of this connection
    sid: str
    # Identity of the token (userId)
    identity: str
    # Display name
    name: str
    # When the participant joined
    joinedAt: str


class JoinedParticipant(_JoinedParticipantRequired, total=False):
    """Who joined"""

    # Metadata of the token, or the changed one
    metadata: str
    # Role of the token; absent for foreign tokens
    role: str


class _ParticipantJoinedEventRequired(TypedDict):
    # Event name
    event: Literal["participant_joined"]
    room: EventRoom
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    participant: JoinedParticipant


class ParticipantJoinedEvent(_ParticipantJoinedEventRequired, total=False):
    """A participant joined a room."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool
    # Only with the 30th of a participant in one minute: those that follow before this instant are left out, with
    # their ends
    limitedUntil: str


class _LeftParticipantRequired(TypedDict):
    # The media server's id of this connection
    sid: str
    # Identity of the token (userId)
    identity: str
    # Display name
    name: str
    # left: by itself; removed: by the API; lost: its connection broke; duplicate_identity: the same identity joined
    # again
    leaveReason: Literal["left", "removed", "lost", "room_closed", "duplicate_identity"]


class LeftParticipant(_LeftParticipantRequired, total=False):
    """Who left, and the reason"""

    # When the participant joined
    joinedAt: str
    # Metadata of the token, or the changed one
    metadata: str
    # Role of the token; absent for foreign tokens
    role: str


class _ParticipantLeftEventRequired(TypedDict):
    # Event name
    event: Literal["participant_left"]
    room: EventRoom
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    participant: LeftParticipant


class ParticipantLeftEvent(_ParticipantLeftEventRequired, total=False):
    """A participant left a room."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class _WaitingParticipantRequired(TypedDict):
    # The media server's id of this connection
    sid: str
    # Identity of the token (userId)
    identity: str
    # Display name
    name: str
    # Since when the person has been waiting
    waitingSince: str


class WaitingParticipant(_WaitingParticipantRequired, total=False):
    """Who waits for the room, or did"""

    # Metadata of the token, or the changed one
    metadata: str
    # Role of the token; absent for foreign tokens
    role: str


class _ParticipantWaitingEventRequired(TypedDict):
    # Event name
    event: Literal["participant_waiting"]
    room: EventRoom
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    participant: WaitingParticipant


class ParticipantWaitingEvent(_ParticipantWaitingEventRequired, total=False):
    """Somebody waits to be admitted to a room; sent once for each token."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class _ParticipantAdmittedEventRequired(TypedDict):
    # Event name
    event: Literal["participant_admitted"]
    room: EventRoom
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    participant: WaitingParticipant


class ParticipantAdmittedEvent(_ParticipantAdmittedEventRequired, total=False):
    """Somebody who waited was admitted to the room."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class _ParticipantDeniedEventRequired(TypedDict):
    # Event name
    event: Literal["participant_denied"]
    room: EventRoom
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    participant: WaitingParticipant


class ParticipantDeniedEvent(_ParticipantDeniedEventRequired, total=False):
    """Somebody who waited was denied, and disconnected."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class RefusedParticipant(TypedDict):
    """Who joined with an older token, and was removed"""

    # The media server's id of this connection
    sid: str
    # Identity of the token (userId)
    identity: str
    # Display name
    name: str


class _RoomJoinRefusedEventRequired(TypedDict):
    # Event name
    event: Literal["room_join_refused"]
    room: EventRoom
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    participant: RefusedParticipant
    # When the room may be entered again; null: only POST /v1/rooms opens it
    closedUntil: Optional[str]


class RoomJoinRefusedEvent(_RoomJoinRefusedEventRequired, total=False):
    """Somebody joined a room that is kept closed, and was removed; sent once for each time that a room is closed."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class TrackParticipant(TypedDict):
    """The participant who publishes the track"""

    # The media server's id of this connection
    sid: str
    # Identity of the token (userId)
    identity: str
    # Display name
    name: str


class EventTrack(TypedDict, total=False):
    """LiveKit's TrackInfo"""

    # Id of the track
    sid: str
    # AUDIO, VIDEO or DATA
    type: str
    # CAMERA, MICROPHONE, SCREEN_SHARE, SCREEN_SHARE_AUDIO or UNKNOWN
    source: str
    # Name from the publisher
    name: str
    # Whether the track is muted
    muted: bool


class _TrackPublishedEventRequired(TypedDict):
    # Event name
    event: Literal["track_published"]
    # The room; null when it is unknown
    room: Optional[EventRoom]
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    participant: TrackParticipant
    track: EventTrack


class TrackPublishedEvent(_TrackPublishedEventRequired, total=False):
    """A participant published a track: a microphone, a camera or a screen."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool
    # Only with the 30th of a participant in one minute: those that follow before this instant are left out, with
    # their ends
    limitedUntil: str


class _TrackUnpublishedEventRequired(TypedDict):
    # Event name
    event: Literal["track_unpublished"]
    # The room; null when it is unknown
    room: Optional[EventRoom]
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    participant: TrackParticipant
    track: EventTrack


class TrackUnpublishedEvent(_TrackUnpublishedEventRequired, total=False):
    """A participant stopped publishing a track."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class _EventRecordingRequired(TypedDict):
    # The recording's egress id
    egressId: str
    # recording, stopped, aborted or failed
    status: str


class EventRecording(_EventRecordingRequired, total=False):
    """The recording"""

    # When the recording's media begins; null until known
    mediaStartedAt: Optional[str]
    # Valid for 24 h from the attempt; absent if there is no file
    fileUrl: str
    # Length in milliseconds
    durationMs: int
    # Size of the file in bytes
    sizeBytes: int
    # Why the recording failed or was aborted
    error: str
    # An earlier egress_ended reported the recording as failed; its file was stored after all
    corrected: bool


class _EgressStartedEventRequired(TypedDict):
    # Event name; recording_started only for a webhook that is registered under that name
    event: Literal["egress_started", "recording_started"]
    # The room; null when it is unknown
    room: Optional[EventRoom]
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    recording: EventRecording


class EgressStartedEvent(_EgressStartedEventRequired, total=False):
    """The recording of a room started."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class _EgressEndedEventRequired(TypedDict):
    # Event name; recording_stopped only for a webhook that is registered under that name
    event: Literal["egress_ended", "recording_stopped"]
    # The room; null when it is unknown
    room: Optional[EventRoom]
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    recording: EventRecording


class EgressEndedEvent(_EgressEndedEventRequired, total=False):
    """The recording of a room is over; `fileUrl` leads to its file."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class EventBroadcastUrl(TypedDict):
    """One receiver of a broadcast"""

    # Form bu_<id>
    urlId: str
    # The URL without its key
    url: str
    # connecting, active, failed, removed or ended
    state: str
    # Why it failed
    error: Optional[str]


class _EventBroadcastRequired(TypedDict):
    # Form bc_<id>
    broadcastId: str
    # LiveKit's id of the recorder's work
    egressId: str
    # broadcasting, stopped, aborted or failed
    status: str
    # Null if it never began
    startedAt: Optional[str]
    # Its receivers, as they are now
    urls: list[EventBroadcastUrl]


class EventBroadcast(_EventBroadcastRequired, total=False):
    """The broadcast"""

    failedUrl: EventBroadcastUrl
    # Where the HLS is; absent without
    hls: EventBroadcastHls
    # Length of the HLS in milliseconds
    durationMs: int
    # Size of the HLS in bytes
    sizeBytes: int
    # Why the broadcast failed or was aborted
    error: str
    # An earlier broadcast_ended reported the broadcast as failed
    corrected: bool


class EventBroadcastHls(TypedDict):
    """Where the HLS is; absent without"""

    # Length of a segment in seconds
    segmentSeconds: int
    # Null for a local folder
    bucket: Optional[str]
    # Prefix of the keys in the bucket, or path of the folder on the recorder's file system
    folder: str
    # Name of the playlist of everything
    playlist: str
    # Name of the playlist of the newest segments
    livePlaylist: str


class _BroadcastStartedEventRequired(TypedDict):
    # Event name
    event: Literal["broadcast_started"]
    # The room; null when it is unknown
    room: Optional[EventRoom]
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    broadcast: EventBroadcast


class BroadcastStartedEvent(_BroadcastStartedEventRequired, total=False):
    """The broadcast of a room started; its receivers may still be connecting."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class _BroadcastUrlFailedEventRequired(TypedDict):
    # Event name
    event: Literal["broadcast_url_failed"]
    # The room; null when it is unknown
    room: Optional[EventRoom]
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    broadcast: EventBroadcast


class BroadcastUrlFailedEvent(_BroadcastUrlFailedEventRequired, total=False):
    """One receiver of a broadcast refused or closed, `failedUrl`; the others go on."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class _BroadcastEndedEventRequired(TypedDict):
    # Event name
    event: Literal["broadcast_ended"]
    # The room; null when it is unknown
    room: Optional[EventRoom]
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    broadcast: EventBroadcast


class BroadcastEndedEvent(_BroadcastEndedEventRequired, total=False):
    """The broadcast of a room is over."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class _EventIngressRequired(TypedDict):
    # Form IN_<id>
    ingressId: str


class EventIngress(_EventIngressRequired, total=False):
    """The stream"""

    # Name of the ingress
    name: str
    # RTMP_INPUT or WHIP_INPUT
    inputType: str
    # Identity of the stream in the room
    participantIdentity: str
    # Display name of the stream in the room
    participantName: str
    # Why it failed, if it did
    error: str


class _IngressStartedEventRequired(TypedDict):
    # Event name
    event: Literal["ingress_started"]
    # The room; null when it is unknown
    room: Optional[EventRoom]
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    ingress: EventIngress


class IngressStartedEvent(_IngressStartedEventRequired, total=False):
    """A stream through an ingress started."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class _IngressEndedEventRequired(TypedDict):
    # Event name; ingress_stopped only for a webhook that is registered under that name
    event: Literal["ingress_ended", "ingress_stopped"]
    # The room; null when it is unknown
    room: Optional[EventRoom]
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    ingress: EventIngress


class IngressEndedEvent(_IngressEndedEventRequired, total=False):
    """A stream through an ingress ended."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class _EventTranscriptionRequired(TypedDict):
    # Form tr_<id>
    transcriptionId: str


class EventTranscription(_EventTranscriptionRequired, total=False):
    """The transcription; read its text from the API"""

    # live or post
    kind: str
    # Room name
    roomId: str
    # The recording of a post-call transcription
    recordingId: str
    # stopped, completed or failed
    status: str
    # BCP 47
    language: str
    # Live transcriptions only
    startedAt: Optional[str]
    # Live transcriptions only
    stoppedAt: Optional[str]
    # Post-call transcriptions only
    queuedAt: Optional[str]
    # Post-call transcriptions only
    completedAt: Optional[str]
    # Length of the audio, of a post-call transcription
    durationMs: Optional[int]
    # Final segments
    segmentCount: int
    # Why the transcription failed; only with transcription_failed
    error: EventTranscriptionError


class EventTranscriptionError(TypedDict):
    """Why the transcription failed; only with transcription_failed"""

    # Error code
    code: str
    # What is wrong, and what to do
    message: str


class _TranscriptionCompletedEventRequired(TypedDict):
    # Event name
    event: Literal["transcription_completed"]
    # The room; null when it is unknown
    room: Optional[EventRoom]
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    transcription: EventTranscription


class TranscriptionCompletedEvent(_TranscriptionCompletedEventRequired, total=False):
    """A transcription was stopped or completed."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class _TranscriptionFailedEventRequired(TypedDict):
    # Event name
    event: Literal["transcription_failed"]
    # The room; null when it is unknown
    room: Optional[EventRoom]
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]
    transcription: EventTranscription


class TranscriptionFailedEvent(_TranscriptionFailedEventRequired, total=False):
    """A transcription failed; `error` has the reason."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


class EventList(TypedDict):
    """A page of events"""

    # The events, oldest first, or newest first by order=newest
    events: list[Event]
    # Where to continue, also after the last event: later events come after it. With order=newest earlier events do,
    # and an empty page is the end
    nextCursor: str


class _KeyCreateRequired(TypedDict):
    # Purpose of the key, such as the program that uses it. At most 256 bytes of UTF-8, no control characters.
    name: str
    # Scopes of the key. `read`: read rooms, participants, sessions, recordings, transcripts, webhooks and events, and
    # downloads; no stream keys, no audit log. `tokens`: issue and renew access tokens, and nothing else. `rooms`:
    # open, change and close rooms; tokens, participants, blocks, data; no stream keys. `ingress`: create, list and
    # delete endpoints for streams, with their stream keys. `recordings`: start, stop, read and delete recordings and
    # transcriptions. `webhooks`: register, change and delete webhooks, their deliveries and replays, and thereby all
    # events. `admin`: everything that the others allow, the audit log and the self-check; no API keys.
    scopes: list[Literal["read", "tokens", "rooms", "ingress", "recordings", "webhooks", "admin"]]


class KeyCreate(_KeyCreateRequired, total=False):
    """The API key to create"""

    # Only rooms whose names begin with one of these: the key sees and changes nothing of others. Without it, all
    # rooms
    rooms: list[str]
    # Limits of this key
    limits: KeyCreateLimits
    # Seconds until the key expires; without it, the key is valid until it is revoked
    ttl: int


class KeyCreateLimits(TypedDict, total=False):
    """Limits of this key"""

    # Webhooks that it may register
    webhooks: int
    # Plans that it may make
    plans: int
    # Rooms of its own that may be open at once
    rooms: int
    # People who may be in its rooms at once
    participants: int
    # Participant minutes in its rooms in a month, in UTC
    minutesPerMonth: int
    # Requests in a second to one instance, if RATE_LIMIT_API is not lower
    requestsPerSecond: int


class _KeyRequired(TypedDict):
    # Form key_<id>: sent as X-Api-Key
    id: str
    # Name of the key, such as the program that uses it
    name: str
    # Scopes of the key. `read`: read rooms, participants, sessions, recordings, transcripts, webhooks and events, and
    # downloads; no stream keys, no audit log. `tokens`: issue and renew access tokens, and nothing else. `rooms`:
    # open, change and close rooms; tokens, participants, blocks, data; no stream keys. `ingress`: create, list and
    # delete endpoints for streams, with their stream keys. `recordings`: start, stop, read and delete recordings and
    # transcriptions. `webhooks`: register, change and delete webhooks, their deliveries and replays, and thereby all
    # events. `admin`: everything that the others allow, the audit log and the self-check; no API keys.
    scopes: list[Literal["read", "tokens", "rooms", "ingress", "recordings", "webhooks", "admin"]]
    # The rooms of the key, by the beginnings of their names; null for all rooms
    rooms: Optional[list[str]]
    # The limits that the key was made with; null for those of the service alone
    limits: Optional[KeyLimits]
    # Only an active key is accepted
    status: Literal["active", "expired", "revoked"]
    # When the key was created
    createdAt: str
    # When it expires; null for never
    expiresAt: Optional[str]
    # When it was revoked; null if it was not
    revokedAt: Optional[str]
    # The minute in which it last signed a request, known to all instances a minute later; null if it never did
    lastUsedAt: Optional[str]


class Key(_KeyRequired, total=False):
    """An API key beside the root key"""

    # The secret to sign with; only in the response to the creation
    secret: str


class KeyLimits(TypedDict, total=False):
    """The limits that the key was made with; null for those of the service alone"""

    # Webhooks that it may register
    webhooks: int
    # Plans that it may make
    plans: int
    # Rooms of its own that may be open at once
    rooms: int
    # People who may be in its rooms at once
    participants: int
    # Participant minutes in its rooms in a month, in UTC
    minutesPerMonth: int
    # Requests in a second to one instance, if RATE_LIMIT_API is not lower
    requestsPerSecond: int


class KeyList(TypedDict):
    """A page of API keys"""

    # The keys, oldest first
    keys: list[Key]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class _OwnKeyRequired(TypedDict):
    # Form key_<id>; `root` for the root key, API_KEY
    id: str
    # What it is for; `root` for the root key
    name: str
    # Whether it is the root key, which alone creates and revokes keys
    isRoot: bool
    # Scopes of the key. `read`: read rooms, participants, sessions, recordings, transcripts, webhooks and events, and
    # downloads; no stream keys, no audit log. `tokens`: issue and renew access tokens, and nothing else. `rooms`:
    # open, change and close rooms; tokens, participants, blocks, data; no stream keys. `ingress`: create, list and
    # delete endpoints for streams, with their stream keys. `recordings`: start, stop, read and delete recordings and
    # transcriptions. `webhooks`: register, change and delete webhooks, their deliveries and replays, and thereby all
    # events. `admin`: everything that the others allow, the audit log and the self-check; no API keys.
    scopes: list[Literal["read", "tokens", "rooms", "ingress", "recordings", "webhooks", "admin"]]
    # The rooms of the key, by the beginnings of their names; null for all rooms
    rooms: Optional[list[str]]
    # When it expires; null for never
    expiresAt: Optional[str]


class OwnKey(_OwnKeyRequired, total=False):
    """The key that signed the request, with its scopes and limits"""

    # What the key may have only so many of; absent for the root key. Later versions may add kinds
    limits: OwnKeyLimits


class _OwnKeyLimitsRequired(TypedDict):
    # Webhooks that the key has registered
    webhooks: OwnKeyLimitsWebhooks
    # Plans that the key has made
    plans: OwnKeyLimitsPlans
    # Rooms to which the key gave a vocabulary
    vocabularies: OwnKeyLimitsVocabularies
    # Blocks by the key that have not ended
    blocks: OwnKeyLimitsBlocks


class OwnKeyLimits(_OwnKeyLimitsRequired, total=False):
    """What the key may have only so many of; absent for the root key. Later versions may add kinds"""

    # Rooms of the key that are open
    rooms: OwnKeyLimitsRooms
    # People in the rooms of the key
    participants: OwnKeyLimitsParticipants
    # Participant minutes in the rooms of the key in this month, a minute old at most
    minutesPerMonth: OwnKeyLimitsMinutesPerMonth
    # Requests in a second to one instance
    requestsPerSecond: OwnKeyLimitsRequestsPerSecond


class OwnKeyLimitsWebhooks(TypedDict):
    """Webhooks that the key has registered"""

    # How many there are now
    used: int
    # How many there may be
    limit: int


class OwnKeyLimitsPlans(TypedDict):
    """Plans that the key has made"""

    # How many there are now
    used: int
    # How many there may be
    limit: int


class OwnKeyLimitsVocabularies(TypedDict):
    """Rooms to which the key gave a vocabulary"""

    # How many there are now
    used: int
    # How many there may be
    limit: int


class OwnKeyLimitsBlocks(TypedDict):
    """Blocks by the key that have not ended"""

    # How many there are now
    used: int
    # How many there may be
    limit: int


class OwnKeyLimitsRooms(TypedDict):
    """Rooms of the key that are open"""

    # How many there are now
    used: int
    # How many there may be
    limit: int


class OwnKeyLimitsParticipants(TypedDict):
    """People in the rooms of the key"""

    # How many there are now
    used: int
    # How many there may be
    limit: int


class OwnKeyLimitsMinutesPerMonth(TypedDict):
    """Participant minutes in the rooms of the key in this month, a minute old at most"""

    # How many there are now
    used: int
    # How many there may be
    limit: int


class OwnKeyLimitsRequestsPerSecond(TypedDict):
    """Requests in a second to one instance"""

    # How many there may be
    limit: int


class AuditEntry(TypedDict):
    """A request that changed something or tried to. A search by requestId also finds failed requests of other kinds"""

    # Form aud_<id>
    id: str
    # When the request was received
    occurredAt: str
    # Id of the API key that signed the request; `root` for API_KEY
    keyId: str
    # HTTP method
    method: str
    # Path with the names of its parameters
    path: str
    # The parameters of the path, and the id of what was created
    ids: dict[str, str]
    # The caller's network: the address cut to /24, or /48 for IPv6; null if it is not known
    address: Optional[str]
    # X-Request-Id of the response
    requestId: str
    # HTTP status of the response
    status: int
    # Result: done (2xx), refused (4xx) or failed (5xx)
    result: Literal["done", "refused", "failed"]
    # Slug of the problem type; null without a problem
    problem: Optional[str]


class AuditList(TypedDict):
    """A page of the audit log"""

    # The entries, newest first
    entries: list[AuditEntry]
    # The cursor of the next page; null after the last one
    nextCursor: Optional[str]


class _PersonRequired(TypedDict):
    # First name or names
    name: str
    # Last name; for married women the birth name
    surname: str
    # F female, M male
    gender: Literal["F", "M"]
    # Day of birth, DD
    day: Union[int, str]
    # Month of birth, MM
    month: Union[int, str]
    # Year of birth, YYYY
    year: Union[int, str]
    # Birth city in Italy, or the country in Italian for births abroad; case, accents and apostrophes are ignored;
    # former and bilingual names and Belfiore codes are accepted
    city: str


class Person(_PersonRequired, total=False):
    """The person of the code"""

    # Former or present abbreviation of the province, EE for births abroad; only needed if the city is ambiguous
    province: str
    # The person has no surname: `surname` is empty, and the code has XXX
    noSurname: bool
    # The person has no given name: `name` is empty, and the code has XXX
    noName: bool


# The province of a comune of Sardinia as ISTAT has it
IstatProvince = TypedDict(
    "IstatProvince",
    {
        "abbreviation": "str",
        "name": "str",
        "from": "str",
    },
)


_PlacePeriodRequired = TypedDict(
    "_PlacePeriodRequired",
    {
        "code": "str",
        "belfiore_code": "str",
        "province": "str",
        "name": "str",
        "from": "Optional[str]",
        "to": "Optional[str]",
        "current": "bool",
    },
)


class PlacePeriod(_PlacePeriodRequired, total=False):
    """A place with its dates"""

    # Only in lists with details=true: the province of ISTAT, where it is not that of ANPR, which `province` has
    istatProvince: Optional[IstatProvince]


class GeneratedCodeDetails(TypedDict):
    """With details=true only"""

    birthplace: PlacePeriod
    # Why this place was chosen: by its Belfiore code; its own name on the date; an alias; its name at another time;
    # it came later; it had ended; its dates are unknown; it is the successor of the given place
    why: Literal["code", "name", "alias", "other-name", "later", "ended", "undated", "successor"]
    # Warnings about the data
    warnings: list[Literal["place-not-in-force", "place-ended", "names-after-comma"]]
    # The fields of the request that are not those of a person, and were ignored
    ignored: list[str]


class _GeneratedCodeRequired(TypedDict):
    # The fiscal code, 16 characters
    cf: str


class GeneratedCode(_GeneratedCodeRequired, total=False):
    """The code of a person"""

    details: GeneratedCodeDetails


class PlaceRecord(TypedDict):
    """A place"""

    # Belfiore code of the place
    code: str
    # Belfiore code of the comune to which the place belongs today; equal to `code` while the place exists
    belfiore_code: str
    # Province abbreviation, EE for a state
    province: str
    # Upper case
    name: str


class _CodeFaultRequired(TypedDict):
    # Kind of the error
    reason: str
    # Index of the first wrong character, from 0
    start: int
    # Index after the last one
    end: int
    # Error message
    message: str


class CodeFault(_CodeFaultRequired, total=False):
    """An error in a code"""

    # For a prefix before the code (TINIT-, VATIT-, IT): the code that is meant, not checked
    meant: str


class _FiscalErrorRequired(TypedDict):
    # Class of the error
    name: str
    # What is wrong
    message: str
    # HTTP status
    code: int


class FiscalError(_FiscalErrorRequired, total=False):
    """Every error under /cf and /it"""

    # What is wrong with each invalid field
    errors: dict[str, str]
    # For an ambiguous place: the places that it may mean
    candidates: list[PlaceRecord]
    # For an unknown place: suggestions
    suggestions: list[PlaceRecord]
    # For a code, with details=true: everything that is wrong
    faults: list[CodeFault]


class _CodeAndPersonRequired(TypedDict):
    # The fiscal code
    cf: str


class CodeAndPerson(_CodeAndPersonRequired, total=False):
    """A code, and what is known of the person to whom it may belong. At least one field of the person is given; day,
    month and year belong together
    """

    # First name or names
    name: str
    # Last name; for married women the birth name
    surname: str
    # F female, M male
    gender: Literal["F", "M"]
    # Day of birth, DD
    day: Union[int, str]
    # Month of birth, MM
    month: Union[int, str]
    # Year of birth, YYYY
    year: Union[int, str]
    # Birth city in Italy, or the country in Italian for births abroad; case, accents and apostrophes are ignored;
    # former and bilingual names and Belfiore codes are accepted
    city: str
    # Former or present abbreviation of the province, EE for births abroad; only needed if the city is ambiguous
    province: str
    # The person has no surname: `surname` is empty, and the code has XXX
    noSurname: bool
    # The person has no given name: `name` is empty, and the code has XXX
    noName: bool


class MatchPart(TypedDict):
    """A part of the code, compared with the data"""

    # The compared part
    part: Literal["surname", "name", "gender", "day", "month", "year", "place"]
    # Whether it matches
    matches: bool
    # Computed from the person's data: three letters of a name, F or M, a number of the date, a Belfiore code
    expected: Union[str, int]
    # What the code contains
    found: Union[str, int]


class Match(TypedDict):
    """Whether a code matches what is known of a person, part by part"""

    # Whether all compared parts match
    matches: bool
    # The compared parts, in the order of the code
    parts: list[MatchPart]
    # The parts that were not compared, because the request has nothing to compare with
    skipped: list[Literal["surname", "name", "gender", "day", "month", "year", "place"]]
    # How much a match proves: everything was compared; both names and the birth date; both names, whose letters many
    # people share; or less
    compared: Literal["all", "names-and-date", "names", "some"]


class DecodedCodeDetails(TypedDict):
    """With details=true only"""

    # The code without omocodia
    baseCode: str
    # Number of digits that are replaced by letters, 0 to 7
    omocodiaLevel: int
    # The birth date by the other reading of the two-digit year
    otherBirthday: Optional[str]
    # Belfiore code
    birthplaceCode: str
    # Whether the place existed on the birth date
    birthplaceWasInForce: bool
    # The place with its current name, or its successor
    birthplaceToday: Optional[PlaceRecord]
    # Warnings about a valid code
    warnings: list[Literal["place-not-in-force", "names-not-derivable"]]


class _DecodedCodeRequired(TypedDict):
    # The three letters of the name
    name: str
    # The three letters of the surname
    surname: str
    # Sex
    gender: Literal["F", "M"]
    # Day of the birth date
    day: int
    # Month of the birth date
    month: int
    # Year of the birth date
    year: int
    # YYYY-MM-DD
    birthday: str
    # Place or country, upper case, by its name on the birth date
    birthplace: str
    # Province on the birth date, EE abroad
    birthplaceProvincia: str
    # The code, upper case
    cf: str


class DecodedCode(_DecodedCodeRequired, total=False):
    """What a code means"""

    details: DecodedCodeDetails


class _ValidityRequired(TypedDict):
    # Whether the code is valid
    valid: bool
    # Kind of the code by its own check digit: of a person, provisional, a VAT number (which is also the code of most
    # organisations), of an organisation without VAT number; null when it is none of them
    kind: Optional[Literal["person", "provisional", "vat", "organisation"]]


class Validity(_ValidityRequired, total=False):
    """Whether a code is valid"""

    # For an invalid code: the most important error
    reason: Literal["length", "characters", "omocodia", "check-character", "date", "place", "place-not-in-force", "provisional-code", "vat-number", "organisation-code"]
    # With details=true: all errors
    faults: list[CodeFault]
    # Warnings about a valid code
    warnings: list[Literal["place-not-in-force", "names-not-derivable"]]


class Province(TypedDict):
    """A province"""

    # Name in Italian
    name: str
    # Two letters
    abbreviation: str


class Region(TypedDict):
    """A region with its provinces"""

    # Name in Italian
    name: str
    # Its provinces
    provinces: list[Province]


_FoundPlaceRequired = TypedDict(
    "_FoundPlaceRequired",
    {
        "code": "str",
        "belfiore_code": "str",
        "province": "str",
        "name": "str",
        "from": "Optional[str]",
        "to": "Optional[str]",
        "current": "bool",
        "history": "list[FoundPlaceHistoryItem]",
        "successors": "list[FoundPlaceSuccessorsItem]",
        "frazioni": "list[str]",
    },
)


class FoundPlace(_FoundPlaceRequired, total=False):
    """A place with its history"""

    # Only in lists with details=true: the province of ISTAT, where it is not that of ANPR, which `province` has
    istatProvince: Optional[IstatProvince]


_FoundPlaceHistoryItemRequired = TypedDict(
    "_FoundPlaceHistoryItemRequired",
    {
        "code": "str",
        "belfiore_code": "str",
        "province": "str",
        "name": "str",
        "from": "Optional[str]",
        "to": "Optional[str]",
        "current": "bool",
        "source": "Literal[\"ministero-interno\", \"codice-fiscale-js\"]",
    },
)


class FoundPlaceHistoryItem(_FoundPlaceHistoryItemRequired, total=False):
    # Only in lists with details=true: the province of ISTAT, where it is not that of ANPR, which `province` has
    istatProvince: Optional[IstatProvince]


class FoundPlaceSuccessorsItem(TypedDict):
    # Belfiore code
    code: str
    # Province abbreviation
    province: str
    # Upper case
    name: str
    # Source of the succession
    source: Literal["istat", "istat-same-code", "istat-seat", "istat-divided", "by-hand"]


class DatedCaps(TypedDict):
    """With details=true"""

    place: PlaceRecord
    # Five digits each, in order
    caps: list[str]
    # Year and month of the codes
    asOf: str
    # The code that will replace the others of this comune; null for nearly all comuni
    replacedBy: Optional[str]
    # The frazioni of codes that only frazioni have, as far as they are known
    frazioni: list[DatedCapsFrazioniItem]


class DatedCapsFrazioniItem(TypedDict):
    # Postal code
    cap: str
    # Its frazioni
    names: list[str]


class _FieldErrorRequired(TypedDict):
    # What is wrong with it
    detail: str


class FieldError(_FieldErrorRequired, total=False):
    """One invalid field or parameter"""

    # JSON pointer into the body, as a URI fragment: #/name
    pointer: str
    # Name of the query or path parameter
    parameter: str


class _ProblemRequired(TypedDict):
    # URI of the problem kind
    type: str
    # HTTP reason phrase
    title: str
    # HTTP status
    status: int
    # What is wrong, and what to do next
    detail: str


class Problem(_ProblemRequired, total=False):
    """RFC 9457 problem details"""

    # urn:uuid:<request id>
    instance: str
    # Every invalid field or parameter, up to 100
    errors: list[FieldError]
    # There are more invalid fields than `errors` lists
    errorsTruncated: bool
    # What to do next; `detail` says it too
    hint: ProblemHint
    # End of the block; null for a permanent one
    blockedUntil: Optional[str]
    # Scopes, of which the API key needs one; `root` if only the root key may do it
    requiredScopes: list[str]
    # The server's clock, Unix seconds
    serverTime: int


class _ProblemHintRequired(TypedDict):
    # The hint, in lower case and without a full stop
    text: str


class ProblemHint(_ProblemHintRequired, total=False):
    """What to do next; `detail` says it too"""

    # The command to run
    command: str


class _WebhookTestEventRequired(TypedDict):
    # Event name
    event: Literal["webhook_test"]
    # Always null, because a test has no room
    room: Optional[EventRoom]
    # When it happened
    timestamp: str
    # The same for every retry and replay: handle each id once
    id: str
    # Number of the event in the session of its room, from 1
    sequence: Optional[int]


class WebhookTestEvent(_WebhookTestEventRequired, total=False):
    """A test event that a caller requested."""

    # The event was missed and found later; the timestamp is when it was found
    reconciled: bool


BroadcastUrlState = Literal["connecting", "active", "failed", "removed", "ended"]


BroadcastState = Literal["broadcasting", "stopped", "aborted", "failed"]


RecordingState = Literal["recording", "stopped", "aborted", "failed"]


Event = Union[RoomCreatedEvent, RoomStartedEvent, RoomClosingEvent, PlannedStartFailedEvent, RoomFinishedEvent, ParticipantJoinedEvent, ParticipantLeftEvent, ParticipantWaitingEvent, ParticipantAdmittedEvent, ParticipantDeniedEvent, RoomJoinRefusedEvent, TrackPublishedEvent, TrackUnpublishedEvent, EgressStartedEvent, EgressEndedEvent, BroadcastStartedEvent, BroadcastUrlFailedEvent, BroadcastEndedEvent, IngressStartedEvent, IngressEndedEvent, TranscriptionCompletedEvent, TranscriptionFailedEvent]


GetTranscriptionByIdResponse = Union[PostTranscriptionDetail, LiveTranscription]


ListCapsResponse = Union[list[int], DatedCaps]


class Operations:
    """One method for each endpoint. They raise RtcError, as Client says."""

    def _call(
        self, method: str, path: str, query: Query, body: Optional[object], idempotency_key: Optional[str] = None
    ) -> Any:
        raise NotImplementedError

    def _text(self, path: str, query: Query) -> str:
        raise NotImplementedError

    @staticmethod
    def _path(template: str, *values: str) -> str:
        raise NotImplementedError

    def get_health(self) -> Health:
        """Show that the service runs, and what it can do."""
        response: Health = self._call("GET", "/v1/health", {}, None)
        return response

    def get_readiness(self) -> Readiness:
        """Check what the service needs: the media server and the database."""
        response: Readiness = self._call("GET", "/ready", {}, None)
        return response

    def check_self(self, *, idempotency_key: Optional[str] = None) -> SelfCheckList:
        """Check the systems behind the service, as rtc doctor does."""
        response: SelfCheckList = self._call("POST", "/v1/self-check", {}, None, idempotency_key)
        return response

    def create_token(self, body: TokenRequest) -> Token:
        """Issue an access token."""
        response: Token = self._call("POST", "/v1/token", {}, body)
        return response

    def refresh_token(self, body: TokenRequest) -> Token:
        """Renew an access token before it expires."""
        response: Token = self._call("POST", "/v1/token/refresh", {}, body)
        return response

    def list_rooms(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> RoomList:
        """List the open rooms."""
        response: RoomList = self._call("GET", "/v1/rooms", {"limit": limit, "cursor": cursor}, None)
        return response

    def iterate_rooms(self, *, limit: Optional[int] = None) -> Iterator[Room]:
        """List the open rooms: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_rooms(limit=limit, cursor=cursor)
            yield from page["rooms"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def create_room(self, body: RoomCreate, *, idempotency_key: Optional[str] = None) -> Room:
        """Create a room, or get the existing one."""
        response: Room = self._call("POST", "/v1/rooms", {}, body, idempotency_key)
        return response

    def list_closed_rooms(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> ClosedRoomList:
        """List the rooms that are kept closed."""
        response: ClosedRoomList = self._call("GET", "/v1/closed-rooms", {"limit": limit, "cursor": cursor}, None)
        return response

    def iterate_closed_rooms(self, *, limit: Optional[int] = None) -> Iterator[ClosedRoom]:
        """List the rooms that are kept closed: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_closed_rooms(limit=limit, cursor=cursor)
            yield from page["closedRooms"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def get_room(self, room_id: str) -> Room:
        """Read a room."""
        response: Room = self._call("GET", self._path("/v1/rooms/{}", room_id), {}, None)
        return response

    def update_room(self, room_id: str, body: Optional[RoomPatch] = None) -> Room:
        """Change the metadata of an open room."""
        response: Room = self._call("PATCH", self._path("/v1/rooms/{}", room_id), {}, body)
        return response

    def delete_room(
        self,
        room_id: str,
        *,
        reopen: Optional[Literal["never"]] = None,
        until: Optional[str] = None,
    ) -> None:
        """Close a room and disconnect everyone in it."""
        self._call(
            "DELETE",
            self._path("/v1/rooms/{}", room_id),
            {"reopen": reopen, "until": until},
            None,
        )

    def send_room_data(self, room_id: str, body: RoomData, *, idempotency_key: Optional[str] = None) -> RoomDataSent:
        """Send data to clients in a room."""
        response: RoomDataSent = self._call(
            "POST",
            self._path("/v1/rooms/{}/data", room_id),
            {},
            body,
            idempotency_key,
        )
        return response

    def get_plan(self, plan_id: str) -> Plan:
        """Read a plan."""
        response: Plan = self._call("GET", self._path("/v1/plans/{}", plan_id), {}, None)
        return response

    def put_plan(self, plan_id: str, body: Optional[PlanPut] = None) -> Plan:
        """Make or replace a plan."""
        response: Plan = self._call("PUT", self._path("/v1/plans/{}", plan_id), {}, body)
        return response

    def delete_plan(self, plan_id: str) -> None:
        """Delete a plan."""
        self._call("DELETE", self._path("/v1/plans/{}", plan_id), {}, None)

    def list_plans(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> PlanList:
        """List the plans."""
        response: PlanList = self._call("GET", "/v1/plans", {"limit": limit, "cursor": cursor}, None)
        return response

    def iterate_plans(self, *, limit: Optional[int] = None) -> Iterator[Plan]:
        """List the plans: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_plans(limit=limit, cursor=cursor)
            yield from page["plans"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def list_participants(
        self,
        room_id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> ParticipantList:
        """List the participants of a room."""
        response: ParticipantList = self._call(
            "GET",
            self._path("/v1/rooms/{}/participants", room_id),
            {"limit": limit, "cursor": cursor},
            None,
        )
        return response

    def iterate_participants(self, room_id: str, *, limit: Optional[int] = None) -> Iterator[Participant]:
        """List the participants of a room: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_participants(room_id, limit=limit, cursor=cursor)
            yield from page["participants"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def update_participant(
        self,
        room_id: str,
        participant_id: str,
        body: Optional[ParticipantPatch] = None,
    ) -> Participant:
        """Change a participant's name, metadata, attributes or role."""
        response: Participant = self._call(
            "PATCH",
            self._path("/v1/rooms/{}/participants/{}", room_id, participant_id),
            {},
            body,
        )
        return response

    def remove_participant(self, room_id: str, participant_id: str, *, block: Optional[str] = None) -> None:
        """Disconnect a participant."""
        self._call(
            "DELETE",
            self._path("/v1/rooms/{}/participants/{}", room_id, participant_id),
            {"block": block},
            None,
        )

    def mute_participant(
        self,
        room_id: str,
        participant_id: str,
        body: Mute,
        *,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Mute or unmute a track of a participant."""
        self._call(
            "POST",
            self._path("/v1/rooms/{}/participants/{}/mute", room_id, participant_id),
            {},
            body,
            idempotency_key,
        )

    def mute_room(
        self,
        room_id: str,
        body: Optional[RoomMute] = None,
        *,
        idempotency_key: Optional[str] = None,
    ) -> RoomMuted:
        """Mute everybody in a room."""
        response: RoomMuted = self._call(
            "POST",
            self._path("/v1/rooms/{}/mute", room_id),
            {},
            body,
            idempotency_key,
        )
        return response

    def list_waiting(self, room_id: str) -> WaitingList:
        """List the people who wait for a room."""
        response: WaitingList = self._call("GET", self._path("/v1/rooms/{}/waiting", room_id), {}, None)
        return response

    def admit_waiting(
        self,
        room_id: str,
        participant_id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> AdmittedPerson:
        """Admit somebody who waits."""
        response: AdmittedPerson = self._call(
            "POST",
            self._path("/v1/rooms/{}/waiting/{}/admit", room_id, participant_id),
            {},
            None,
            idempotency_key,
        )
        return response

    def deny_waiting(self, room_id: str, participant_id: str, *, idempotency_key: Optional[str] = None) -> None:
        """Deny somebody who waits."""
        self._call(
            "POST",
            self._path("/v1/rooms/{}/waiting/{}/deny", room_id, participant_id),
            {},
            None,
            idempotency_key,
        )

    def admit_all_waiting(self, room_id: str, *, idempotency_key: Optional[str] = None) -> AdmittedList:
        """Admit everybody who waits."""
        response: AdmittedList = self._call(
            "POST",
            self._path("/v1/rooms/{}/waiting/admit-all", room_id),
            {},
            None,
            idempotency_key,
        )
        return response

    def list_blocks(self, room_id: str, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> BlockList:
        """List the blocked identities of a room."""
        response: BlockList = self._call(
            "GET",
            self._path("/v1/rooms/{}/blocks", room_id),
            {"limit": limit, "cursor": cursor},
            None,
        )
        return response

    def iterate_blocks(self, room_id: str, *, limit: Optional[int] = None) -> Iterator[Block]:
        """List the blocked identities of a room: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_blocks(room_id, limit=limit, cursor=cursor)
            yield from page["blocks"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def list_blocks_of_rooms(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> RoomBlockList:
        """List the blocked identities of all rooms."""
        response: RoomBlockList = self._call("GET", "/v1/blocks", {"limit": limit, "cursor": cursor}, None)
        return response

    def iterate_blocks_of_rooms(self, *, limit: Optional[int] = None) -> Iterator[RoomBlock]:
        """List the blocked identities of all rooms: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_blocks_of_rooms(limit=limit, cursor=cursor)
            yield from page["blocks"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def remove_block(self, room_id: str, participant_id: str) -> None:
        """Let an identity into the room again."""
        self._call(
            "DELETE",
            self._path("/v1/rooms/{}/blocks/{}", room_id, participant_id),
            {},
            None,
        )

    def start_recording(
        self,
        room_id: str,
        body: Optional[RecordingSettings] = None,
        *,
        idempotency_key: Optional[str] = None,
    ) -> RecordingStart:
        """Record a room to an MP4 file."""
        response: RecordingStart = self._call(
            "POST",
            self._path("/v1/rooms/{}/recording/start", room_id),
            {},
            body,
            idempotency_key,
        )
        return response

    def stop_recording(self, room_id: str, *, idempotency_key: Optional[str] = None) -> RecordingStop:
        """Stop the recording of a room."""
        response: RecordingStop = self._call(
            "POST",
            self._path("/v1/rooms/{}/recording/stop", room_id),
            {},
            None,
            idempotency_key,
        )
        return response

    def get_recording_status(self, room_id: str) -> RecordingStatus:
        """Show whether a room is being recorded."""
        response: RecordingStatus = self._call("GET", self._path("/v1/rooms/{}/recording", room_id), {}, None)
        return response

    def start_broadcast(
        self,
        room_id: str,
        body: Optional[BroadcastSettings] = None,
        *,
        idempotency_key: Optional[str] = None,
    ) -> BroadcastStart:
        """Broadcast a room to other servers, as HLS, or both."""
        response: BroadcastStart = self._call(
            "POST",
            self._path("/v1/rooms/{}/broadcast/start", room_id),
            {},
            body,
            idempotency_key,
        )
        return response

    def get_broadcast_status(self, room_id: str) -> BroadcastStatus:
        """Show whether a room is being broadcast, and the state of each URL."""
        response: BroadcastStatus = self._call("GET", self._path("/v1/rooms/{}/broadcast", room_id), {}, None)
        return response

    def change_broadcast(self, room_id: str, body: Optional[BroadcastChange] = None) -> Broadcast:
        """Add URLs to a running broadcast, and remove some."""
        response: Broadcast = self._call("PATCH", self._path("/v1/rooms/{}/broadcast", room_id), {}, body)
        return response

    def stop_broadcast(self, room_id: str, *, idempotency_key: Optional[str] = None) -> BroadcastStop:
        """Stop the broadcast of a room."""
        response: BroadcastStop = self._call(
            "POST",
            self._path("/v1/rooms/{}/broadcast/stop", room_id),
            {},
            None,
            idempotency_key,
        )
        return response

    def list_broadcasts(
        self,
        *,
        room_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> BroadcastList:
        """List broadcasts, newest first."""
        response: BroadcastList = self._call(
            "GET",
            "/v1/broadcasts",
            {"roomId": room_id, "limit": limit, "cursor": cursor},
            None,
        )
        return response

    def iterate_broadcasts(self, *, room_id: Optional[str] = None, limit: Optional[int] = None) -> Iterator[Broadcast]:
        """List broadcasts, newest first: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_broadcasts(room_id=room_id, limit=limit, cursor=cursor)
            yield from page["broadcasts"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def delete_broadcast(self, broadcast_id: str) -> None:
        """Delete a broadcast and its HLS."""
        self._call("DELETE", self._path("/v1/broadcasts/{}", broadcast_id), {}, None)

    def list_recordings(
        self,
        *,
        room_id: Optional[str] = None,
        status: Optional[Literal["recording", "stopped", "aborted", "failed"]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> RecordingList:
        """List recordings, newest first."""
        response: RecordingList = self._call(
            "GET",
            "/v1/recordings",
            {"roomId": room_id, "status": status, "limit": limit, "cursor": cursor},
            None,
        )
        return response

    def iterate_recordings(
        self,
        *,
        room_id: Optional[str] = None,
        status: Optional[Literal["recording", "stopped", "aborted", "failed"]] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Recording]:
        """List recordings, newest first: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_recordings(room_id=room_id, status=status, limit=limit, cursor=cursor)
            yield from page["recordings"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def get_recording(self, recording_id: str) -> Recording:
        """Show one recording."""
        response: Recording = self._call("GET", self._path("/v1/recordings/{}", recording_id), {}, None)
        return response

    def delete_recording(self, recording_id: str) -> None:
        """Delete a recording and its file."""
        self._call("DELETE", self._path("/v1/recordings/{}", recording_id), {}, None)

    def list_sessions(
        self,
        *,
        room_id: Optional[str] = None,
        status: Optional[Literal["open", "ended"]] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> SessionList:
        """List sessions of rooms, newest first."""
        response: SessionList = self._call(
            "GET",
            "/v1/sessions",
            {"roomId": room_id, "status": status, "since": since, "until": until, "limit": limit, "cursor": cursor},
            None,
        )
        return response

    def iterate_sessions(
        self,
        *,
        room_id: Optional[str] = None,
        status: Optional[Literal["open", "ended"]] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Session]:
        """List sessions of rooms, newest first: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_sessions(room_id=room_id, status=status, since=since, until=until, limit=limit, cursor=cursor)
            yield from page["sessions"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def get_session(self, session_id: str) -> SessionDetail:
        """Show a session: its participants, recordings and transcriptions."""
        response: SessionDetail = self._call("GET", self._path("/v1/sessions/{}", session_id), {}, None)
        return response

    def list_session_participants(
        self,
        session_id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> SessionParticipantList:
        """List the participants of a session, and when they were there."""
        response: SessionParticipantList = self._call(
            "GET",
            self._path("/v1/sessions/{}/participants", session_id),
            {"limit": limit, "cursor": cursor},
            None,
        )
        return response

    def iterate_session_participants(
        self,
        session_id: str,
        *,
        limit: Optional[int] = None,
    ) -> Iterator[SessionParticipant]:
        """List the participants of a session, and when they were there: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_session_participants(session_id, limit=limit, cursor=cursor)
            yield from page["participants"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def get_usage(
        self,
        *,
        from_: Optional[str] = None,
        to: Optional[str] = None,
        by: Optional[Literal["day", "month", "room", "prefix", "key"]] = None,
        room_id: Optional[str] = None,
        prefix: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Usage:
        """Add up minutes and bytes by day, month, room, prefix or key."""
        response: Usage = self._call(
            "GET",
            "/v1/usage",
            {"from": from_, "to": to, "by": by, "roomId": room_id, "prefix": prefix, "limit": limit, "cursor": cursor},
            None,
        )
        return response

    def get_usage_text(self, format: Literal["text", "vtt", "srt"]) -> str:
        """Add up minutes and bytes by day, month, room, prefix or key, as text or captions."""
        return self._text("/v1/usage", {"format": format})

    def list_ingress(self, room_id: str, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> IngressList:
        """List the ingress endpoints of a room."""
        response: IngressList = self._call(
            "GET",
            self._path("/v1/rooms/{}/ingress", room_id),
            {"limit": limit, "cursor": cursor},
            None,
        )
        return response

    def iterate_ingress(self, room_id: str, *, limit: Optional[int] = None) -> Iterator[Ingress]:
        """List the ingress endpoints of a room: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_ingress(room_id, limit=limit, cursor=cursor)
            yield from page["ingress"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def create_ingress(
        self,
        room_id: str,
        body: Optional[IngressCreate] = None,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Ingress:
        """Create an endpoint to which an encoder streams."""
        response: Ingress = self._call(
            "POST",
            self._path("/v1/rooms/{}/ingress", room_id),
            {},
            body,
            idempotency_key,
        )
        return response

    def list_ingress_of_rooms(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> IngressList:
        """List the ingress endpoints of all rooms."""
        response: IngressList = self._call("GET", "/v1/ingress", {"limit": limit, "cursor": cursor}, None)
        return response

    def iterate_ingress_of_rooms(self, *, limit: Optional[int] = None) -> Iterator[Ingress]:
        """List the ingress endpoints of all rooms: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_ingress_of_rooms(limit=limit, cursor=cursor)
            yield from page["ingress"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def delete_ingress(self, room_id: str, ingress_id: str) -> None:
        """Delete an ingress endpoint of a room."""
        self._call("DELETE", self._path("/v1/rooms/{}/ingress/{}", room_id, ingress_id), {}, None)

    def start_transcription(
        self,
        room_id: str,
        body: Optional[TranscriptionStart] = None,
        *,
        idempotency_key: Optional[str] = None,
    ) -> TranscriptionStarted:
        """Transcribe a room live."""
        response: TranscriptionStarted = self._call(
            "POST",
            self._path("/v1/rooms/{}/transcription/start", room_id),
            {},
            body,
            idempotency_key,
        )
        return response

    def stop_transcription(self, room_id: str, *, idempotency_key: Optional[str] = None) -> TranscriptionStopped:
        """Stop transcribing a room."""
        response: TranscriptionStopped = self._call(
            "POST",
            self._path("/v1/rooms/{}/transcription/stop", room_id),
            {},
            None,
            idempotency_key,
        )
        return response

    def get_transcription(
        self,
        room_id: str,
        *,
        since: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        wait: Optional[int] = None,
    ) -> LiveTranscription:
        """Read the live transcription of a room."""
        response: LiveTranscription = self._call(
            "GET",
            self._path("/v1/rooms/{}/transcription", room_id),
            {"since": since, "limit": limit, "cursor": cursor, "wait": wait},
            None,
        )
        return response

    def get_transcription_text(self, room_id: str, format: Literal["text", "vtt", "srt"]) -> str:
        """Read the live transcription of a room, as text or captions."""
        return self._text(self._path("/v1/rooms/{}/transcription", room_id), {"format": format})

    def list_live_transcriptions(
        self,
        *,
        room_id: Optional[str] = None,
        status: Optional[Literal["active", "stopped", "failed"]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> LiveTranscriptionList:
        """List the live transcriptions of all rooms."""
        response: LiveTranscriptionList = self._call(
            "GET",
            "/v1/transcriptions/live",
            {"roomId": room_id, "status": status, "limit": limit, "cursor": cursor},
            None,
        )
        return response

    def iterate_live_transcriptions(
        self,
        *,
        room_id: Optional[str] = None,
        status: Optional[Literal["active", "stopped", "failed"]] = None,
        limit: Optional[int] = None,
    ) -> Iterator[LiveTranscriptionSummary]:
        """List the live transcriptions of all rooms: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_live_transcriptions(room_id=room_id, status=status, limit=limit, cursor=cursor)
            yield from page["transcriptions"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def name_speakers(self, room_id: str, body: SpeakerUpdate) -> None:
        """Name the speakers of a room."""
        self._call("PATCH", self._path("/v1/rooms/{}/transcription/speakers", room_id), {}, body)

    def create_transcription(
        self,
        recording_id: str,
        body: Optional[TranscriptionQueue] = None,
        *,
        idempotency_key: Optional[str] = None,
    ) -> TranscriptionQueued:
        """Transcribe a recording after the call."""
        response: TranscriptionQueued = self._call(
            "POST",
            self._path("/v1/recordings/{}/transcribe", recording_id),
            {},
            body,
            idempotency_key,
        )
        return response

    def list_transcriptions(
        self,
        *,
        room_id: Optional[str] = None,
        recording_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        status: Optional[Literal["queued", "processing", "completed", "failed"]] = None,
    ) -> PostTranscriptionList:
        """List the transcriptions of recordings."""
        response: PostTranscriptionList = self._call(
            "GET",
            "/v1/transcriptions",
            {"roomId": room_id, "recordingId": recording_id, "limit": limit, "cursor": cursor, "status": status},
            None,
        )
        return response

    def iterate_transcriptions(
        self,
        *,
        room_id: Optional[str] = None,
        recording_id: Optional[str] = None,
        limit: Optional[int] = None,
        status: Optional[Literal["queued", "processing", "completed", "failed"]] = None,
    ) -> Iterator[PostTranscription]:
        """List the transcriptions of recordings: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_transcriptions(room_id=room_id, recording_id=recording_id, limit=limit, status=status, cursor=cursor)
            yield from page["transcriptions"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def search_transcripts(
        self,
        *,
        q: str,
        room_id: Optional[str] = None,
        recording_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        language: Optional[str] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
    ) -> TranscriptHitList:
        """Search all transcripts."""
        response: TranscriptHitList = self._call(
            "GET",
            "/v1/transcriptions/search",
            {"q": q, "roomId": room_id, "recordingId": recording_id, "limit": limit, "cursor": cursor, "language": language, "since": since, "until": until},
            None,
        )
        return response

    def search_all_transcripts(
        self,
        *,
        q: str,
        room_id: Optional[str] = None,
        recording_id: Optional[str] = None,
        limit: Optional[int] = None,
        language: Optional[str] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
    ) -> Iterator[TranscriptHit]:
        """Search all transcripts: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.search_transcripts(q=q, room_id=room_id, recording_id=recording_id, limit=limit, language=language, since=since, until=until, cursor=cursor)
            yield from page["hits"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def get_transcription_by_id(
        self,
        transcription_id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> GetTranscriptionByIdResponse:
        """Read a transcription with its segments."""
        response: GetTranscriptionByIdResponse = self._call(
            "GET",
            self._path("/v1/transcriptions/{}", transcription_id),
            {"limit": limit, "cursor": cursor},
            None,
        )
        return response

    def get_transcription_by_id_text(self, transcription_id: str, format: Literal["text", "vtt", "srt"]) -> str:
        """Read a transcription with its segments, as text or captions."""
        return self._text(self._path("/v1/transcriptions/{}", transcription_id), {"format": format})

    def delete_transcription(self, transcription_id: str) -> None:
        """Delete a transcription with all its segments."""
        self._call("DELETE", self._path("/v1/transcriptions/{}", transcription_id), {}, None)

    def name_speakers_by_id(self, transcription_id: str, body: SpeakerUpdate) -> None:
        """Name the speakers of a transcription."""
        self._call(
            "PATCH",
            self._path("/v1/transcriptions/{}/speakers", transcription_id),
            {},
            body,
        )

    def forget_words(
        self,
        room_id: str,
        participant_id: str,
        *,
        all_rooms: Optional[bool] = None,
        everything: Optional[bool] = None,
    ) -> ForgottenWords:
        """Delete a participant's words."""
        response: ForgottenWords = self._call(
            "DELETE",
            self._path("/v1/rooms/{}/participants/{}/words", room_id, participant_id),
            {"allRooms": all_rooms, "everything": everything},
            None,
        )
        return response

    def get_vocabulary(self, room_id: str) -> Vocabulary:
        """Read the vocabulary of a room."""
        response: Vocabulary = self._call("GET", self._path("/v1/rooms/{}/vocabulary", room_id), {}, None)
        return response

    def set_vocabulary(self, room_id: str, body: Vocabulary) -> Vocabulary:
        """Replace the vocabulary of a room."""
        response: Vocabulary = self._call("PUT", self._path("/v1/rooms/{}/vocabulary", room_id), {}, body)
        return response

    def delete_vocabulary(self, room_id: str) -> None:
        """Delete the vocabulary of a room."""
        self._call("DELETE", self._path("/v1/rooms/{}/vocabulary", room_id), {}, None)

    def list_webhooks(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> WebhookList:
        """List the webhooks."""
        response: WebhookList = self._call("GET", "/v1/webhooks", {"limit": limit, "cursor": cursor}, None)
        return response

    def iterate_webhooks(self, *, limit: Optional[int] = None) -> Iterator[Webhook]:
        """List the webhooks: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_webhooks(limit=limit, cursor=cursor)
            yield from page["webhooks"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def create_webhook(self, body: WebhookCreate, *, idempotency_key: Optional[str] = None) -> Webhook:
        """Register a webhook."""
        response: Webhook = self._call("POST", "/v1/webhooks", {}, body, idempotency_key)
        return response

    def get_webhook(self, webhook_id: str) -> Webhook:
        """Read a webhook."""
        response: Webhook = self._call("GET", self._path("/v1/webhooks/{}", webhook_id), {}, None)
        return response

    def put_webhook(self, webhook_id: str, body: Optional[WebhookPut] = None) -> Webhook:
        """Change the URL, the events, the order or the secret of a webhook, or pause it."""
        response: Webhook = self._call("PUT", self._path("/v1/webhooks/{}", webhook_id), {}, body)
        return response

    def patch_webhook(self, webhook_id: str, body: Optional[WebhookPatch] = None) -> Webhook:
        """Change the URL, the events or the order of a webhook, or pause it."""
        response: Webhook = self._call("PATCH", self._path("/v1/webhooks/{}", webhook_id), {}, body)
        return response

    def delete_webhook(self, webhook_id: str) -> None:
        """Delete a webhook with its log."""
        self._call("DELETE", self._path("/v1/webhooks/{}", webhook_id), {}, None)

    def test_webhook(self, webhook_id: str, *, idempotency_key: Optional[str] = None) -> WebhookTest:
        """Send a test delivery."""
        response: WebhookTest = self._call(
            "POST",
            self._path("/v1/webhooks/{}/test", webhook_id),
            {},
            None,
            idempotency_key,
        )
        return response

    def list_deliveries(
        self,
        webhook_id: str,
        *,
        status: Optional[Literal["pending", "delivered", "failed", "cancelled"]] = None,
        event_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> DeliveryList:
        """List the deliveries of a webhook with every attempt, newest first."""
        response: DeliveryList = self._call(
            "GET",
            self._path("/v1/webhooks/{}/deliveries", webhook_id),
            {"status": status, "eventId": event_id, "limit": limit, "cursor": cursor},
            None,
        )
        return response

    def iterate_deliveries(
        self,
        webhook_id: str,
        *,
        status: Optional[Literal["pending", "delivered", "failed", "cancelled"]] = None,
        event_id: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Delivery]:
        """List the deliveries of a webhook with every attempt, newest first: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_deliveries(webhook_id, status=status, event_id=event_id, limit=limit, cursor=cursor)
            yield from page["deliveries"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def get_delivery(self, webhook_id: str, delivery_id: str, *, wait: Optional[int] = None) -> Delivery:
        """Read a delivery with every attempt."""
        response: Delivery = self._call(
            "GET",
            self._path("/v1/webhooks/{}/deliveries/{}", webhook_id, delivery_id),
            {"wait": wait},
            None,
        )
        return response

    def replay_delivery(self, webhook_id: str, delivery_id: str, *, idempotency_key: Optional[str] = None) -> Replay:
        """Replay a finished delivery."""
        response: Replay = self._call(
            "POST",
            self._path("/v1/webhooks/{}/deliveries/{}/replay", webhook_id, delivery_id),
            {},
            None,
            idempotency_key,
        )
        return response

    def replay_failed_deliveries(self, webhook_id: str, *, since: str, idempotency_key: Optional[str] = None) -> Replay:
        """Replay all failed deliveries of a webhook."""
        response: Replay = self._call(
            "POST",
            self._path("/v1/webhooks/{}/replay", webhook_id),
            {"since": since},
            None,
            idempotency_key,
        )
        return response

    def get_webhook_stats(
        self,
        webhook_id: str,
        *,
        since: Optional[str] = None,
        until: Optional[str] = None,
    ) -> WebhookStats:
        """Count the deliveries of a webhook by what became of them."""
        response: WebhookStats = self._call(
            "GET",
            self._path("/v1/webhooks/{}/stats", webhook_id),
            {"since": since, "until": until},
            None,
        )
        return response

    def list_events(
        self,
        *,
        cursor: Optional[str] = None,
        since: Optional[str] = None,
        room_id: Optional[str] = None,
        room: Optional[str] = None,
        types: Optional[str] = None,
        limit: Optional[int] = None,
        order: Optional[Literal["oldest", "newest"]] = None,
        wait: Optional[int] = None,
    ) -> EventList:
        """List the stored events in order."""
        response: EventList = self._call(
            "GET",
            "/v1/events",
            {"cursor": cursor, "since": since, "roomId": room_id, "room": room, "types": types, "limit": limit, "order": order, "wait": wait},
            None,
        )
        return response

    def list_keys(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> KeyList:
        """List the API keys."""
        response: KeyList = self._call("GET", "/v1/keys", {"limit": limit, "cursor": cursor}, None)
        return response

    def iterate_keys(self, *, limit: Optional[int] = None) -> Iterator[Key]:
        """List the API keys: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_keys(limit=limit, cursor=cursor)
            yield from page["keys"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def create_key(self, body: KeyCreate, *, idempotency_key: Optional[str] = None) -> Key:
        """Create an API key."""
        response: Key = self._call("POST", "/v1/keys", {}, body, idempotency_key)
        return response

    def get_own_key(self) -> OwnKey:
        """Show the key that signed this request, and what it may do."""
        response: OwnKey = self._call("GET", "/v1/keys/self", {}, None)
        return response

    def get_key(self, key_id: str) -> Key:
        """Read one API key."""
        response: Key = self._call("GET", self._path("/v1/keys/{}", key_id), {}, None)
        return response

    def revoke_key(self, key_id: str) -> None:
        """Revoke an API key."""
        self._call("DELETE", self._path("/v1/keys/{}", key_id), {}, None)

    def list_audit(
        self,
        *,
        key_id: Optional[str] = None,
        key: Optional[str] = None,
        room_id: Optional[str] = None,
        room: Optional[str] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        result: Optional[Literal["done", "refused", "failed"]] = None,
        request_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AuditList:
        """List who changed what."""
        response: AuditList = self._call(
            "GET",
            "/v1/audit",
            {"keyId": key_id, "key": key, "roomId": room_id, "room": room, "since": since, "until": until, "result": result, "requestId": request_id, "limit": limit, "cursor": cursor},
            None,
        )
        return response

    def iterate_audit(
        self,
        *,
        key_id: Optional[str] = None,
        key: Optional[str] = None,
        room_id: Optional[str] = None,
        room: Optional[str] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        result: Optional[Literal["done", "refused", "failed"]] = None,
        request_id: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[AuditEntry]:
        """List who changed what: every item of every page."""
        cursor: Optional[str] = None
        while True:
            page = self.list_audit(key_id=key_id, key=key, room_id=room_id, room=room, since=since, until=until, result=result, request_id=request_id, limit=limit, cursor=cursor)
            yield from page["entries"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def generate_fiscal_code(
        self,
        body: Person,
        *,
        details: Optional[bool] = None,
        strict: Optional[bool] = None,
        as_of: Optional[str] = None,
    ) -> GeneratedCode:
        """Generate the fiscal code of a person's data."""
        response: GeneratedCode = self._call(
            "POST",
            "/cf",
            {"details": details, "strict": strict, "asOf": as_of},
            body,
        )
        return response

    def match_fiscal_code(
        self,
        body: CodeAndPerson,
        *,
        century: Optional[Literal["1800", "1900", "2000"]] = None,
        as_of: Optional[str] = None,
    ) -> Match:
        """Check whether a fiscal code belongs to a person."""
        response: Match = self._call("POST", "/cf/match", {"century": century, "asOf": as_of}, body)
        return response

    def decode_fiscal_code(
        self,
        fiscal_code: str,
        *,
        details: Optional[bool] = None,
        strict: Optional[bool] = None,
        century: Optional[Literal["1800", "1900", "2000"]] = None,
        as_of: Optional[str] = None,
    ) -> DecodedCode:
        """Decode a fiscal code."""
        response: DecodedCode = self._call(
            "GET",
            self._path("/cf/{}", fiscal_code),
            {"details": details, "strict": strict, "century": century, "asOf": as_of},
            None,
        )
        return response

    def list_omocodie(
        self,
        fiscal_code: str,
        *,
        details: Optional[bool] = None,
        strict: Optional[bool] = None,
        century: Optional[Literal["1800", "1900", "2000"]] = None,
        as_of: Optional[str] = None,
    ) -> list[str]:
        """List the other 127 forms of a fiscal code (omocodia)."""
        response: list[str] = self._call(
            "GET",
            self._path("/cf/omocodie/{}", fiscal_code),
            {"details": details, "strict": strict, "century": century, "asOf": as_of},
            None,
        )
        return response

    def check_fiscal_code(
        self,
        fiscal_code: str,
        *,
        strict: Optional[bool] = None,
        accept: Optional[Literal["person", "any"]] = None,
        details: Optional[bool] = None,
        century: Optional[Literal["1800", "1900", "2000"]] = None,
        as_of: Optional[str] = None,
    ) -> Validity:
        """Check a fiscal code."""
        response: Validity = self._call(
            "GET",
            self._path("/cf/check/{}", fiscal_code),
            {"strict": strict, "accept": accept, "details": details, "century": century, "asOf": as_of},
            None,
        )
        return response

    def list_regions(self) -> list[Region]:
        """List the regions with their provinces."""
        response: list[Region] = self._call("GET", "/it/regions", {}, None)
        return response

    def list_provinces(self) -> list[PlacePeriod]:
        """List the provinces by their capitals."""
        response: list[PlacePeriod] = self._call("GET", "/it/provinces", {}, None)
        return response

    def list_cities(
        self,
        province_abbreviation: str,
        *,
        details: Optional[bool] = None,
        current: Optional[bool] = None,
        date: Optional[str] = None,
        q: Optional[str] = None,
        limit: Optional[str] = None,
        offset: Optional[str] = None,
    ) -> list[PlacePeriod]:
        """List the places of a province."""
        response: list[PlacePeriod] = self._call(
            "GET",
            self._path("/it/cities/{}", province_abbreviation),
            {"details": details, "current": current, "date": date, "q": q, "limit": limit, "offset": offset},
            None,
        )
        return response

    def search_places(
        self,
        *,
        q: str,
        province: Optional[str] = None,
        date: Optional[str] = None,
        details: Optional[bool] = None,
        limit: Optional[str] = None,
    ) -> list[FoundPlace]:
        """Search for places while typing, with their history."""
        response: list[FoundPlace] = self._call(
            "GET",
            "/it/places",
            {"q": q, "province": province, "date": date, "details": details, "limit": limit},
            None,
        )
        return response

    def list_caps(
        self,
        province_abbreviation: str,
        city_name: str,
        *,
        details: Optional[bool] = None,
    ) -> ListCapsResponse:
        """List the postal codes of a city."""
        response: ListCapsResponse = self._call(
            "GET",
            self._path("/it/caps/{}/{}", province_abbreviation, city_name),
            {"details": details},
            None,
        )
        return response
