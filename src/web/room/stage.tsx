import {
  isTrackReference,
  type TrackReferenceOrPlaceholder,
  useIsMuted,
  useIsSpeaking,
  useLocalParticipant,
  useTracks,
  VideoTrack,
} from '@livekit/components-react';
import { Track } from 'livekit-client';
import { EyeOff, Hand, MicOff, Pin, PinOff } from 'lucide-react';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { hasRaisedHand, initials, personColour, SHOWN_EVENTS, showName } from './people.tsx';
import { type Reaction, useReactions } from './reactions.tsx';

/** A phone shows so many faces, a larger window so many. The others are in the list of people. */
const MOST_ON_PHONE = 6;
const MOST_TILES = 25;
const MOST_BESIDE = 6;
const PHONE_WIDTH = 640;
/** On a phone the controls lie over the lower end of the stage. */
const PHONE_CONTROLS = 56;
const GAP = 8;

/** The faces. A shared screen, or who is pinned, is shown large, with the others in a strip. */
export function Stage() {
  const frame = useRef<HTMLElement>(null);
  const { width, height } = useSize(frame);
  const [pinned, setPinned] = useState<string>();
  const [isSelfHidden, setSelfHidden] = useState(false);
  const reactions = useReactions();
  const { localParticipant } = useLocalParticipant();
  const tracks = useTracks(SEEN_SOURCES, { onlySubscribed: false, updateOnlyOn: SHOWN_EVENTS });
  const seen = tracks.filter(
    ({ participant, source }) =>
      canBeSeen(participant) &&
      !(participant.isLocal && (source === Track.Source.ScreenShare || (isSelfHidden && tracks.length > 1))),
  );
  const isPhone = width < PHONE_WIDTH;
  const most = isPhone ? MOST_ON_PHONE : MOST_TILES;
  const large = seen.find((track) => tileKey(track) === pinned) ?? seen.find(isScreen);
  const others = seen.filter((track) => track !== large);
  const room = large === undefined ? most : MOST_BESIDE;
  // Faces change their places only where not all are shown.
  const shown = others.length > room ? others.toSorted(byActivity).slice(0, room) : others;
  const size = fitTiles(shown.length, { width, height: isPhone ? height - PHONE_CONTROLS : height });
  const tile = (track: TrackReferenceOrPlaceholder, style?: { width: number; height: number }) => (
    <Tile
      key={tileKey(track)}
      track={track}
      style={style}
      reaction={reactions.get(track.participant.identity)}
      isPinned={tileKey(track) === pinned}
      onPin={() => setPinned(tileKey(track) === pinned ? undefined : tileKey(track))}
      onHide={track.participant.isLocal ? () => setSelfHidden(true) : undefined}
    />
  );
  return (
    <main ref={frame} className={large === undefined ? 'stage' : 'stage spotlight'} aria-label="Stage">
      {large !== undefined && <div className="large">{tile(large)}</div>}
      <div className={large === undefined ? 'grid' : 'strip'}>
        {shown.map((track) => tile(track, large === undefined ? size : undefined))}
      </div>
      {others.length > shown.length && <p className="more">and {others.length - shown.length} more</p>}
      {seen.length === 0 && <p className="nobody">Nobody is to be seen yet.</p>}
      {isSelfHidden && localParticipant.isCameraEnabled && (
        <button type="button" className="button show-self" onClick={() => setSelfHidden(false)}>
          Show yourself
        </button>
      )}
    </main>
  );
}

const SEEN_SOURCES = [
  { source: Track.Source.Camera, withPlaceholder: true },
  { source: Track.Source.ScreenShare, withPlaceholder: false },
];

type Placed = TrackReferenceOrPlaceholder;

function tileKey({ participant, source }: Placed): string {
  return `${source} ${participant.identity}`;
}

function isScreen({ source }: Placed): boolean {
  return source === Track.Source.ScreenShare;
}

/** Viewers and workers without a picture or a voice have no tile. */
function canBeSeen({ isLocal, permissions, isAgent }: Placed['participant']): boolean {
  return !isAgent && (permissions?.canPublish ?? !isLocal);
}

/** The last speaker comes first. */
function byActivity({ participant: one }: Placed, { participant: other }: Placed): number {
  return (other.lastSpokeAt?.getTime() ?? 0) - (one.lastSpokeAt?.getTime() ?? 0);
}

/** Ratios of width to height. In a narrow window faces are upright, so that they fill it. */
const WIDE_RATIOS = [16 / 9];
const NARROW_RATIOS = [3 / 4, 4 / 5, 1];

/** The largest tiles of which `count` fit. */
function fitTiles(count: number, { width, height }: Size): Size {
  const ratios = width < PHONE_WIDTH && count > 1 ? NARROW_RATIOS : WIDE_RATIOS;
  let best: Size = { width: 0, height: 0 };
  for (let columns = 1; columns <= Math.max(1, count); columns += 1) {
    const rows = Math.ceil(count / columns);
    const widest = (width - GAP * (columns + 1)) / columns;
    const highest = (height - GAP * (rows + 1)) / rows;
    for (const ratio of ratios) {
      const fitted = Math.floor(Math.min(widest, highest * ratio));
      const size = { width: fitted, height: Math.floor(fitted / ratio) };
      if (size.width * size.height > best.width * best.height) best = size;
    }
  }
  return best;
}

type Size = { readonly width: number; readonly height: number };

function useSize(element: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setSize({ width: entry.contentRect.width, height: entry.contentRect.height });
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return size;
}

type TileProps = {
  readonly track: Placed;
  readonly style: Size | undefined;
  readonly reaction: Reaction | undefined;
  readonly isPinned: boolean;
  readonly onPin: () => void;
  readonly onHide: (() => void) | undefined;
};

function Tile({ track, style, reaction, isPinned, onPin, onHide }: TileProps) {
  const { participant } = track;
  const isSpeaking = useIsSpeaking(participant);
  const isPictureOff = useIsMuted(track);
  const name = showName(participant);
  const isShared = isScreen(track);
  const label = isShared ? `${name}’s screen` : name;
  return (
    <figure className={isSpeaking && !isShared ? 'tile speaks' : 'tile'} style={style}>
      {/* The picture covers it as soon as there is one. */}
      <span
        className="initials"
        style={{ background: personColour(participant.identity) }}
        aria-hidden="true"
      >
        {initials(name)}
      </span>
      {isTrackReference(track) && !isPictureOff && (
        <VideoTrack
          trackRef={track}
          className={isShared ? 'screen' : participant.isLocal ? 'mirrored' : ''}
          aria-label={label}
        />
      )}
      {reaction !== undefined && (
        <span className="reaction">
          <reaction.Icon size={40} role="img" aria-label={reaction.name} />
        </span>
      )}
      <figcaption>
        {hasRaisedHand(participant) && <Hand size={14} aria-label="hand raised" className="hand" />}
        {!participant.isMicrophoneEnabled && !isShared && <MicOff size={14} aria-label="muted" />}
        <span className="name">
          {label}
          {participant.isLocal && ' (you)'}
        </span>
      </figcaption>
      <TileActions {...{ label, isPinned, onPin, onHide }} />
    </figure>
  );
}

type TileActionsProps = Pick<TileProps, 'isPinned' | 'onPin' | 'onHide'> & { readonly label: string };

function TileActions({ label, isPinned, onPin, onHide }: TileActionsProps) {
  return (
    <span className="tile-actions">
      {onHide !== undefined && (
        <button
          type="button"
          className="icon"
          aria-label="Hide yourself"
          title="Hide yourself"
          onClick={onHide}
        >
          <EyeOff size={16} aria-hidden="true" />
        </button>
      )}
      <button
        type="button"
        className="icon"
        aria-label={`Pin ${label}`}
        aria-pressed={isPinned}
        title={isPinned ? 'Unpin' : 'Pin'}
        onClick={onPin}
      >
        {isPinned ? <PinOff size={16} aria-hidden="true" /> : <Pin size={16} aria-hidden="true" />}
      </button>
    </span>
  );
}
