import { useQueryClient } from '@tanstack/react-query';
import { Pencil } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { Segment } from '../../../contract/transcription.ts';
import { Problem } from '../parts/problem.tsx';
import { useConsole } from '../shell/console-state.tsx';

type Props = {
  readonly segment: Segment;
  readonly onRename: (speaker: string, name: string) => Promise<void>;
};

/** The speaker of a segment. Editing the name in place renames the speaker in the whole transcript. */
export function SpeakerName({ segment, onRename }: Props) {
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
