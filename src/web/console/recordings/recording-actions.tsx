import { Captions, Download, Trash2 } from 'lucide-react';
import { useLocation } from 'wouter';
import type { Recording } from '../../../contract/recordings.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { commandOf } from '../parts/command-line.tsx';
import { fileLink } from './recording-facts.ts';

type Props = { readonly recording: Recording; readonly hasTranscript: boolean };

/** The actions on a recording. */
export function RecordingActions({ recording, hasTranscript }: Props) {
  const { recordingId, roomId, status, file } = recording;
  const [, navigate] = useLocation();
  return (
    <>
      {file !== null && (
        <a className="button" href={`${fileLink(recordingId)}?download`} download>
          <Download aria-hidden /> Download
        </a>
      )}
      <ChangeButton
        isDisabled={file === null || hasTranscript}
        change={() => ({
          question: 'Transcribe this recording?',
          consequence: 'A worker takes it up as soon as one is free.',
          verb: 'Transcribe',
          command: commandOf('transcriptions', 'create', recordingId),
          run: async () => {
            await client.transcriptions.create(recordingId);
          },
        })}
      >
        <Captions aria-hidden /> Transcribe
      </ChangeButton>
      <ChangeButton
        className="danger-quiet"
        isDisabled={status === 'recording'}
        change={() => ({
          question: `Delete this recording of ${roomId}?`,
          consequence: 'Its file and its record are lost.',
          verb: 'Delete the recording',
          isDestructive: true,
          command: commandOf('recordings', 'delete', recordingId),
          run: async () => {
            await client.recordings.delete(recordingId);
            navigate('/recordings');
          },
        })}
      >
        <Trash2 aria-hidden /> Delete
      </ChangeButton>
    </>
  );
}
