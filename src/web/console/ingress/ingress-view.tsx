import { useQuery } from '@tanstack/react-query';
import { Copy, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Ingress as IngressRecord } from '../../../contract/ingress.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { useDebounced } from '../parts/use-pages.ts';
import { Empty, Loading, View } from '../parts/view.tsx';
import { CreateIngress, describeTracks, isStreaming, readState } from './create-ingress.tsx';

/** Bitrates change without an event, so they are polled. */
const STREAMING_MS = 3_000;

/** Addresses through which a streaming program publishes into a room. */
export function Ingress() {
  const [parameters, setParameters] = useSearchParams();
  const typed = parameters.get('room') ?? '';
  const room = useDebounced(typed.trim());
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: KEYS.ingress(room),
    queryFn: () => client.ingress.list(room),
    enabled: room !== '',
    refetchInterval: ({ state }) => (state.data?.ingress.some(isStreaming) === true ? STREAMING_MS : false),
  });
  return (
    <View
      title="Ingress"
      note={data === undefined ? undefined : `${data.ingress.length} of ${room}`}
      command={writeCommand('ingress', 'list', room === '' ? 'ROOM' : room)}
      actions={room === '' ? undefined : <CreateIngress room={room} />}
    >
      <RoomField value={typed} onChange={(name) => setParameters({ room: name }, { replace: true })} />
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {room !== '' && data === undefined && error === null && isFetching && <Loading />}
      {room === '' && (
        <Empty title="Stream into a room">
          <p>
            Name a room, then create an address for OBS or another program. The room need not be open yet.
          </p>
        </Empty>
      )}
      {data?.ingress.length === 0 && (
        <Empty title={`Nothing streams into ${room}`}>
          <p>Create an ingress: it says what to type into OBS.</p>
        </Empty>
      )}
      {data?.ingress.map((ingress) => (
        <IngressCard key={ingress.ingressId} ingress={ingress} />
      ))}
    </View>
  );
}

type FieldProps = { readonly value: string; readonly onChange: (room: string) => void };

/** Names a room; the open ones are suggested. */
function RoomField({ value, onChange }: FieldProps) {
  const { data } = useQuery({ queryKey: KEYS.rooms(), queryFn: () => client.rooms.list() });
  return (
    <div className="filters">
      <input
        type="search"
        list="rooms-of-ingress"
        placeholder="Name of a room"
        aria-label="Room that is streamed into"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id="rooms-of-ingress">
        {data?.rooms.map(({ sid, name }) => (
          <option key={sid} value={name} />
        ))}
      </datalist>
    </div>
  );
}

function IngressCard({ ingress }: { readonly ingress: IngressRecord }) {
  const { ingressId, participantName, participantIdentity, roomName, url, streamKey, inputType } = ingress;
  const { word, tone, error } = readState(ingress);
  const tracks = describeTracks(ingress);
  const isWhip = inputType === 'WHIP_INPUT';
  return (
    <section className="card" aria-label={participantName || participantIdentity}>
      <div className="section-head">
        <h2>
          {participantName || participantIdentity} <span className="count">{isWhip ? 'WHIP' : 'RTMP'}</span>
        </h2>
        <Status tone={tone}>{word}</Status>
        <ChangeButton
          className="danger-quiet"
          label={`Delete ${ingressId}`}
          change={() => ({
            question: 'Delete this ingress?',
            consequence: 'A stream that comes through it ends, and its key is no longer accepted.',
            verb: 'Delete the ingress',
            isDestructive: true,
            command: writeCommand('ingress', 'delete', roomName, ingressId),
            run: () => client.ingress.delete(roomName, ingressId),
          })}
        >
          <Trash2 aria-hidden /> Delete
        </ChangeButton>
      </div>
      {error !== '' && <p className="faint">{error}</p>}
      {tracks.map((track) => (
        <p key={track}>{track}</p>
      ))}
      <h3>In OBS: Settings, Stream, Service {isWhip ? 'WHIP' : 'Custom…'}</h3>
      <dl className="obs">
        <dt>Server</dt>
        <dd>
          {url === '' ? (
            'The media server has no address for this: see its ingress settings.'
          ) : (
            <Copied name="server" text={url} isSecret={false} />
          )}
        </dd>
        <dt>{isWhip ? 'Bearer Token' : 'Stream Key'}</dt>
        <dd>
          <Copied name="stream key" text={streamKey} isSecret />
        </dd>
      </dl>
    </section>
  );
}

type CopiedProps = { readonly name: string; readonly text: string; readonly isSecret: boolean };

/** A text to copy. A stream key lets its holder publish, so it is hidden until the user shows it. */
function Copied({ name, text, isSecret }: CopiedProps) {
  const [isShown, setShown] = useState(!isSecret);
  return (
    <span className="command">
      <code>{isShown ? text : '••••••••••••'}</code>
      {!isShown && (
        <button type="button" className="quiet" onClick={() => setShown(true)}>
          Show
        </button>
      )}
      <button
        type="button"
        className="icon"
        aria-label={`Copy the ${name}`}
        onClick={() => void navigator.clipboard.writeText(text)}
      >
        <Copy aria-hidden />
      </button>
    </span>
  );
}
