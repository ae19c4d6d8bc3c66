import { useConnectionState, useRoomContext } from '@livekit/components-react';
import { ConnectionState, type RemoteParticipant, type Room, RoomEvent } from 'livekit-client';
import { useEffect, useState } from 'react';
import { type Invitation, readCaptions, switchCaptions } from './session.ts';

/** LiveKit's topic of transcriptions: https://docs.livekit.io/agents/build/text/ */
const TOPIC = 'lk.transcription';

/** Maximum captions on the page. */
const SHOWN = 3;

/** How long a finished caption stays. */
const VISIBLE_MS = 8_000;

type Caption = {
  readonly segmentId: string;
  readonly speaker: string;
  readonly text: string;
  readonly language: string;
  readonly isFinal: boolean;
};

/** The live transcription of the room. */
export function Captions() {
  const room = useRoomContext();
  const [captions, setCaptions] = useState<readonly Caption[]>([]);
  useEffect(() => {
    const timers = new Set<number>();
    const show = (caption: Caption): void => {
      setCaptions((before) => replace(before, caption));
      if (!caption.isFinal) return;
      const timer = window.setTimeout(() => {
        timers.delete(timer);
        setCaptions((before) => before.filter(({ segmentId }) => segmentId !== caption.segmentId));
      }, VISIBLE_MS);
      timers.add(timer);
    };
    const stop = receiveCaptions(room, show);
    return () => {
      stop();
      for (const timer of timers) window.clearTimeout(timer);
    };
  }, [room]);
  return (
    <section className="captions" aria-live="polite" aria-label="Captions">
      {captions.map(({ segmentId, speaker, text, language, isFinal }) => (
        <p key={segmentId} lang={language} className={isFinal ? 'caption' : 'caption caption-interim'}>
          <b>{speaker}</b> {text}
        </p>
      ))}
    </section>
  );
}

function replace(captions: readonly Caption[], caption: Caption): readonly Caption[] {
  const others = captions.filter(({ segmentId }) => segmentId !== caption.segmentId);
  return [...others, caption].slice(-SHOWN);
}

function receiveCaptions(room: Room, show: (caption: Caption) => void): () => void {
  // Keeps names of participants who left, because the caption of a last sentence may arrive after the speaker has left.
  const namesOfLeft = new Map<string, string>();
  const keepName = ({ identity, name }: RemoteParticipant): void => {
    if (name !== undefined) namesOfLeft.set(identity, name);
  };
  room.on(RoomEvent.ParticipantDisconnected, keepName);
  room.registerTextStreamHandler(TOPIC, (reader, { identity }) => {
    const attributes = reader.info.attributes ?? {};
    reader
      .readAll()
      .then((text) =>
        show({
          segmentId: attributes['lk.segment_id'] ?? reader.info.id,
          speaker: room.getParticipantByIdentity(identity)?.name || namesOfLeft.get(identity) || identity,
          text,
          language: attributes['lk.language'] ?? '',
          isFinal: attributes['lk.transcription_final'] === 'true',
        }),
      )
      .catch(() => undefined);
  });
  return () => {
    room.off(RoomEvent.ParticipantDisconnected, keepName);
    room.unregisterTextStreamHandler(TOPIC);
  };
}

type Props = {
  readonly invitation: Invitation;
  readonly onError: (message: string | undefined) => void;
};

/**
 * Turns the live transcription of the room on and off. Everyone in the room sees its captions. The button waits for the
 * connection: captions of a room that nobody has joined would end at once.
 */
export function CaptionSwitch({ invitation, onError }: Props) {
  const [isOn, setOn] = useState<boolean>();
  const [isBusy, setBusy] = useState(false);
  const isJoined = useConnectionState() === ConnectionState.Connected;
  const flip = async (): Promise<void> => {
    setBusy(true);
    try {
      setOn(await switchCaptions(invitation, isOn === true ? 'off' : 'on'));
      onError(undefined);
    } catch (error) {
      onError(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: it looks once, when the page opens
  useEffect(() => {
    // The button works even if the state cannot be read. A click may have been answered before.
    readCaptions(invitation).then(
      (found) => setOn((known) => known ?? found),
      () => undefined,
    );
  }, []);
  return (
    <button
      type="button"
      aria-pressed={isOn === true}
      disabled={isBusy || !isJoined}
      onClick={() => void flip()}
    >
      Captions
    </button>
  );
}
