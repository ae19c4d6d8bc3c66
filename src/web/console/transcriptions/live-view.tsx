import { Link } from 'wouter';
import { client } from '../api/client.ts';
import { writeCommand } from '../parts/command-line.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { Empty, Loading, View } from '../parts/view.tsx';
import { roomLink } from '../rooms/room-facts.ts';
import { ExportLinks } from './export-links.tsx';
import { Transcript } from './transcript.tsx';
import { useLiveTranscript } from './use-live-transcript.ts';

/** Live captions of a room. */
export function LiveTranscription({ room }: { readonly room: string }) {
  const { segments, state, error, rename } = useLiveTranscript(room);
  return (
    <View
      title={room}
      note={
        <Status tone={state === 'active' ? 'active' : 'neutral'}>
          {state === 'active' ? 'Being transcribed' : (state ?? 'Live transcription')}
        </Status>
      }
      command={writeCommand('transcription', 'follow', room)}
      actions={
        state === undefined ? undefined : (
          <ExportLinks path={`/v1/rooms/${encodeURIComponent(room)}/transcription`} fileName={room} />
        )
      }
    >
      <p>
        <Link href={roomLink(room)}>The room {room}</Link>
      </p>
      {error !== undefined && <Problem error={error} />}
      {state === undefined && error === undefined && <Loading />}
      {state !== undefined && segments.length === 0 && (
        <Empty title="Nothing was said yet">
          <p>Each sentence appears here as soon as it is recognised.</p>
        </Empty>
      )}
      {segments.length > 0 && (
        <div className="transcript-card">
          <Transcript
            segments={segments}
            onRename={async (speaker, name) => {
              await client.transcription.nameSpeakers(room, { [speaker]: name });
              rename(speaker, name);
            }}
          />
        </div>
      )}
    </View>
  );
}
