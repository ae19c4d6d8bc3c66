import { useRoomContext } from '@livekit/components-react';
import { type RemoteParticipant, type Room, RoomEvent } from 'livekit-client';
import { useEffect, useState } from 'react';

/** LiveKit's topic of transcriptions: https://docs.livekit.io/agents/build/text/ */
const TOPIC = 'lk.transcription';

/** Captions that are kept: the strip shows the newest two lines of them. */
const KEPT = 4;

/** How long a finished caption stays. */
const VISIBLE_MS = 8_000;

type Caption = {
  readonly segmentId: string;
  readonly speaker: string;
  readonly text: string;
  readonly language: string;
  readonly isFinal: boolean;
};

type ReceivedCaptions = {
  readonly captions: readonly Caption[];
  /** Languages that were heard, such as `en`. */
  readonly languages: readonly string[];
};

/** The live transcription of the room. */
export function useCaptions(): ReceivedCaptions {
  const room = useRoomContext();
  const [captions, setCaptions] = useState<readonly Caption[]>([]);
  const [languages, setLanguages] = useState<readonly string[]>([]);
  useEffect(() => {
    const timers = new Set<number>();
    const show = (caption: Caption): void => {
      setCaptions((before) => replace(before, caption));
      setLanguages((before) =>
        caption.language === '' || before.includes(caption.language) ? before : [...before, caption.language],
      );
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
  return { captions, languages };
}

const SIZES = ['small', 'medium', 'large'] as const;

/** Two lines below the faces, as long as somebody's words were received in this call. */
export function CaptionStrip({ captions, languages }: ReceivedCaptions) {
  const [size, setSize] = useState<(typeof SIZES)[number]>('medium');
  const [language, setLanguage] = useState('');
  const [wasShown, setShown] = useState(false);
  useEffect(() => {
    if (captions.length > 0) setShown(true);
  }, [captions.length]);
  const read = captions.filter((caption) => language === '' || caption.language === language).slice(-2);
  return (
    <section className={wasShown ? `captions captions-${size}` : 'unseen'} aria-label="Captions">
      <div className="lines" aria-live="polite">
        {read.map(({ segmentId, speaker, text, language: spoken, isFinal }) => (
          <p key={segmentId} lang={spoken} className={isFinal ? 'caption' : 'caption caption-interim'}>
            <b>{speaker}</b> {text}
          </p>
        ))}
      </div>
      {wasShown && (
        <div className="caption-settings">
          <select
            aria-label="Size of the captions"
            value={size}
            onChange={(event) => setSize(SIZES.find((each) => each === event.target.value) ?? 'medium')}
          >
            {SIZES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
          {languages.length > 1 && (
            <select
              aria-label="Language of the captions"
              value={language}
              onChange={(event) => setLanguage(event.target.value)}
            >
              <option value="">all languages</option>
              {languages.map((each) => (
                <option key={each} value={each}>
                  {nameLanguage(each)}
                </option>
              ))}
            </select>
          )}
        </div>
      )}
    </section>
  );
}

function nameLanguage(code: string): string {
  try {
    return new Intl.DisplayNames(undefined, { type: 'language' }).of(code) ?? code;
  } catch {
    return code;
  }
}

function replace(captions: readonly Caption[], caption: Caption): readonly Caption[] {
  const others = captions.filter(({ segmentId }) => segmentId !== caption.segmentId);
  return [...others, caption].slice(-KEPT);
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
    readBeginning(reader)
      .then((text) =>
        show({
          // Everybody can send captions as themselves, also with the segment of somebody else, whose words stay.
          segmentId: `${identity} ${attributes['lk.segment_id'] ?? reader.info.id}`,
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

/** More than anybody says in one segment. Whoever sends captions without end does not fill the memory of others. */
const MAX_LENGTH = 2_000;

async function readBeginning(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) {
    text += part;
    if (text.length > MAX_LENGTH) return text.slice(0, MAX_LENGTH);
  }
  return text;
}
