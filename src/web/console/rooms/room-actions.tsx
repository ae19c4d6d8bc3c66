import { Captions, Circle, CircleStop, DoorClosed, ExternalLink } from 'lucide-react';
import { useLocation } from 'wouter';
import type { Room } from '../../../contract/rooms.ts';
import { client } from '../api/client.ts';
import { openRoom } from '../api/console-calls.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { commandOf } from '../parts/command-line.tsx';

type Props = {
  readonly room: Room;
  readonly participants: number;
  readonly isRecorded: boolean;
  readonly isTranscribed: boolean;
};

/** The actions on an open room. */
export function RoomActions({ room, participants, isRecorded, isTranscribed }: Props) {
  return (
    <>
      <JoinButton room={room.name} />
      <RecordButton room={room.name} isRecorded={isRecorded} />
      <TranscribeButton room={room.name} isTranscribed={isTranscribed} />
      <CloseButton room={room} participants={participants} isRecorded={isRecorded} />
    </>
  );
}

function JoinButton({ room }: { readonly room: string }) {
  return (
    <ChangeButton
      className="primary"
      change={() => ({
        question: `Join ${room} in the browser?`,
        consequence: 'You join as a host, in a new tab; the others see you.',
        verb: 'Open the room',
        command: commandOf('rooms', 'open', room),
        run: async () => {
          const link = await openRoom(room);
          // A browser opens a tab only during a click. If it did not, the link is shown.
          const tab = window.open(link, '_blank');
          if (tab !== null) return undefined;
          return (
            <p>
              <a href={link} target="_blank" rel="noreferrer">
                Join {room}
              </a>
            </p>
          );
        },
      })}
    >
      <ExternalLink aria-hidden /> Join
    </ChangeButton>
  );
}

type RecordProps = { readonly room: string; readonly isRecorded: boolean };

function RecordButton({ room: name, isRecorded }: RecordProps) {
  if (isRecorded) {
    return (
      <ChangeButton
        change={() => ({
          question: `Stop the recording of ${name}?`,
          consequence: 'Its file is complete some seconds later.',
          verb: 'Stop the recording',
          command: commandOf('recordings', 'stop', name),
          run: async () => {
            await client.recordings.stop(name);
          },
        })}
      >
        <CircleStop aria-hidden /> Stop recording
      </ChangeButton>
    );
  }
  return (
    <ChangeButton
      change={() => ({
        question: `Record ${name}?`,
        consequence: 'Everybody in the room is recorded. A recorder may take half a minute to start.',
        verb: 'Record',
        command: commandOf('recordings', 'start', name),
        run: async () => {
          await client.recordings.start(name);
        },
      })}
    >
      <Circle aria-hidden /> Record
    </ChangeButton>
  );
}

type TranscribeProps = { readonly room: string; readonly isTranscribed: boolean };

function TranscribeButton({ room, isTranscribed }: TranscribeProps) {
  if (isTranscribed) {
    return (
      <ChangeButton
        change={() => ({
          question: `Stop the transcription of ${room}?`,
          verb: 'Stop the transcription',
          command: commandOf('transcription', 'stop', room),
          run: async () => {
            await client.transcription.stop(room);
          },
        })}
      >
        <Captions aria-hidden /> Stop transcription
      </ChangeButton>
    );
  }
  return (
    <ChangeButton
      change={() => ({
        question: `Transcribe ${room}?`,
        consequence: 'What is said appears as captions in the room, and is stored.',
        verb: 'Transcribe',
        command: commandOf('transcription', 'start', room),
        run: async () => {
          await client.transcription.start(room);
        },
      })}
    >
      <Captions aria-hidden /> Transcribe
    </ChangeButton>
  );
}

function CloseButton({ room, participants, isRecorded }: Omit<Props, 'isTranscribed'>) {
  const [, navigate] = useLocation();
  const people = participants === 1 ? '1 participant' : `${participants} participants`;
  const recording = isRecorded ? ', and the recording ends' : '';
  const loss = participants === 0 ? 'Nobody is in it' : `${people} will be disconnected`;
  return (
    <ChangeButton
      className="danger-quiet"
      change={() => ({
        question: `Close room ${room.name}?`,
        consequence: `${loss}${recording}.`,
        verb: 'Close the room',
        isDestructive: true,
        command: commandOf('rooms', 'delete', room.name),
        run: async () => {
          await client.rooms.delete(room.name);
          navigate('/rooms');
        },
      })}
    >
      <DoorClosed aria-hidden /> Close
    </ChangeButton>
  );
}
