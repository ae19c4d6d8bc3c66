import { useEffect, useState } from 'react';
import type { Invitation } from './invitation.ts';
import { setCaptions } from './session.ts';

type Props = {
  readonly invitation: Invitation;
  readonly onError: (message: string | undefined) => void;
};

/** Turns the live transcription of the room on and off. Everyone in the room sees its captions. */
export function CaptionSwitch({ invitation, onError }: Props) {
  const [isOn, setOn] = useState<boolean>();
  const [isBusy, setBusy] = useState(false);
  const run = async (wanted: boolean | undefined): Promise<void> => {
    setBusy(true);
    try {
      setOn(await setCaptions(invitation, wanted));
      if (wanted !== undefined) onError(undefined);
    } catch (error) {
      if (wanted !== undefined) onError(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: it looks once, when the page opens
  useEffect(() => void run(undefined), []);
  return (
    <button
      type="button"
      aria-pressed={isOn === true}
      disabled={isBusy}
      onClick={() => void run(isOn !== true)}
    >
      Captions
    </button>
  );
}
