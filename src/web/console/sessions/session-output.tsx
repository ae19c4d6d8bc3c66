import { Link } from 'wouter';
import type { Recording } from '../../../contract/recordings.ts';
import type { SessionDetail, SessionTranscription } from '../../../contract/sessions.ts';
import { Status, type Tone } from '../parts/status.tsx';
import { Clock, describePosition } from '../parts/time.tsx';
import { describeBytes } from '../recordings/recording-facts.ts';
import { RecordingStatus } from '../recordings/recording-status.tsx';

/** The recordings and transcriptions of a session, with links; nothing when there are none. */
export function SessionOutput({ session }: { readonly session: SessionDetail }) {
  const { roomId, recordings, transcriptions } = session;
  return (
    <>
      {recordings.length > 0 && (
        <section aria-labelledby="recordings-title">
          <h2 id="recordings-title">
            Recordings <span className="count">{recordings.length}</span>
          </h2>
          <div className="plain-scroll">
            <table className="plain">
              <tbody>
                {recordings.map((recording) => (
                  <RecordingRow key={recording.recordingId} recording={recording} />
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
      {transcriptions.length > 0 && (
        <section aria-labelledby="transcriptions-title">
          <h2 id="transcriptions-title">
            Transcriptions <span className="count">{transcriptions.length}</span>
          </h2>
          <div className="plain-scroll">
            <table className="plain">
              <tbody>
                {transcriptions.map((transcription) => (
                  <TranscriptionRow
                    key={transcription.transcriptionId}
                    room={roomId}
                    transcription={transcription}
                  />
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
    </>
  );
}

function RecordingRow({ recording }: { readonly recording: Recording }) {
  const { recordingId, status, startedAt, durationMs, sizeBytes } = recording;
  return (
    <tr>
      <th scope="row">
        <Link href={`/recordings/${encodeURIComponent(recordingId)}`}>{recordingId}</Link>
      </th>
      <td>
        <RecordingStatus status={status} />
      </td>
      <td>
        <Clock at={startedAt} />
      </td>
      <td>{durationMs === null ? '—' : describePosition(durationMs / 1000)}</td>
      <td>{sizeBytes === null ? '—' : describeBytes(sizeBytes)}</td>
    </tr>
  );
}

const TONES: Readonly<Record<SessionTranscription['status'], Tone>> = {
  active: 'active',
  stopped: 'neutral',
  queued: 'neutral',
  processing: 'warning',
  completed: 'good',
  failed: 'bad',
};

type TranscriptionProps = { readonly room: string; readonly transcription: SessionTranscription };

function TranscriptionRow({ room, transcription }: TranscriptionProps) {
  const { transcriptionId, kind, status, language, startedAt } = transcription;
  const isLive = status === 'active';
  const link = isLive
    ? `/transcriptions/live/${encodeURIComponent(room)}`
    : `/transcriptions/${transcriptionId}`;
  return (
    <tr>
      <th scope="row">
        <Link href={link}>{transcriptionId}</Link>
      </th>
      <td>
        <Status tone={TONES[status]}>{status}</Status>
      </td>
      <td>
        <Clock at={startedAt} />
      </td>
      <td>{kind === 'live' ? 'of the room, live' : 'of a recording'}</td>
      <td>{language}</td>
    </tr>
  );
}
