import { useQueryClient } from '@tanstack/react-query';
import { Pencil } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { Segment } from '../../../contract/transcription.ts';
import { describePosition } from '../parts/position.ts';
import { Problem } from '../parts/problem.tsx';
import { useConsole } from '../shell/console-state.tsx';

type Props = {
  readonly segments: readonly Segment[];
  /** Position of the recording in seconds; undefined without a player, when the newest segment is followed. */
  readonly position?: number;
  /** Called with the seconds at which a segment begins. */
  readonly onSeek?: (seconds: number) => void;
  /** Names a speaker, by identity or track id. */
  readonly onRename: (speaker: string, name: string) => Promise<void>;
};

/** A transcript with speakers and times. It scrolls along with the player, or with the live captions. */
export function Transcript({ segments, position, onSeek, onRename }: Props) {
  const list = useRef<HTMLOListElement>(null);
  const current = position === undefined ? undefined : segmentAt(segments, position);
  const followed = position === undefined ? segments.at(-1)?.id : current?.id;
  useEffect(() => {
    const element = followed === undefined ? null : list.current?.querySelector(`[data-id="${followed}"]`);
    if (list.current === null || !(element instanceof HTMLElement)) return;
    // Not scrollIntoView, which moves the whole page too.
    const top = element.offsetTop - list.current.offsetTop - list.current.clientHeight / 3;
    list.current.scrollTo({ top, behavior: prefersStillness() ? 'instant' : 'smooth' });
  }, [followed]);
  return (
    <ol className="transcript" ref={list} aria-live={position === undefined ? 'polite' : undefined}>
      {segments.map((segment) => {
        const { id, start, text, language, overlap } = segment;
        const isCurrent = id === current?.id;
        return (
          <li key={id} data-id={id} className={isCurrent ? 'segment segment-current' : 'segment'}>
            <span className="segment-head">
              <SpeakerName segment={segment} onRename={onRename} />
              <span className="faint">{describePosition(start)}</span>
              {overlap === true && <span className="faint">somebody else spoke too</span>}
            </span>
            {onSeek === undefined ? (
              <p lang={language}>{text}</p>
            ) : (
              <button
                type="button"
                className="segment-text"
                lang={language}
                aria-current={isCurrent ? 'true' : undefined}
                onClick={() => onSeek(start)}
              >
                {text}
              </button>
            )}
          </li>
        );
      })}
    </ol>
  );
}

/** Returns the last segment that has begun. */
function segmentAt(segments: readonly Segment[], position: number): Segment | undefined {
  return segments.findLast(({ start }) => start <= position + 0.05);
}

function prefersStillness(): boolean {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches;
}

type SpeakerProps = {
  readonly segment: Segment;
  readonly onRename: (speaker: string, name: string) => Promise<void>;
};

/** The speaker of a segment. Editing the name in place renames the speaker in the whole transcript. */
function SpeakerName({ segment, onRename }: SpeakerProps) {
  const { isReadOnly } = useConsole().info;
  const queries = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const [error, setError] = useState<unknown>();
  const key = segment.participantIdentity ?? segment.trackId;
  const shown = segment.speaker ?? key ?? '';
  // The transcript of a recording has no speakers yet.
  if (key === null || isReadOnly) return shown === '' ? null : <b className="speaker">{shown}</b>;
  if (!isEditing) {
    return (
      <button
        type="button"
        className="speaker"
        aria-label={`Rename ${shown}`}
        onClick={() => setEditing(true)}
      >
        {shown} <Pencil aria-hidden />
      </button>
    );
  }
  const save = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const name = new FormData(event.currentTarget).get('name');
    try {
      if (typeof name === 'string' && name !== '') await onRename(key, name);
      await queries.invalidateQueries();
      setEditing(false);
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <form className="speaker-form" onSubmit={(event) => void save(event)}>
      <input name="name" defaultValue={shown} aria-label="Name of the speaker" maxLength={256} required />
      <button type="submit" className="primary">
        Save
      </button>
      <button type="button" onClick={() => setEditing(false)}>
        Cancel
      </button>
      {error !== undefined && <Problem error={error} />}
    </form>
  );
}
