import { useConnectionState } from '@livekit/components-react';
import { ConnectionState } from 'livekit-client';
import { useEffect, useState } from 'react';
import type { Invitation } from './invitation.ts';
import { readCaptions, switchCaptions } from './session.ts';

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
