import { useQuery } from '@tanstack/react-query';
import { Copy, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { INGRESS_TYPES, type IngressType } from '../../../contract/choices.ts';
import type { Ingress as IngressRecord } from '../../../contract/ingress.ts';
import { readMembers } from '../../../contract/unknown-value.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { askForDraft, ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { SelectField, TextField } from '../parts/fields.tsx';
import { SearchFilter } from '../parts/find-and-save.tsx';
import { OpenRooms } from '../parts/open-rooms.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status, type Tone } from '../parts/status.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useDebounced } from '../parts/use-pages.ts';
import { Empty, Loading, View } from '../parts/view.tsx';

/** Bitrates change without an event, so they are polled. */
const STREAMING_MS = 3_000;

/** Addresses through which a streaming program publishes into a room. */
export function Ingress() {
  const room = useDebounced(useAddress().read('room').trim());
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: KEYS.ingress(room),
    queryFn: () => (room === '' ? client.ingress.listEverywhere() : client.ingress.list(room)),
    refetchInterval: ({ state }) => (state.data?.ingress.some(isStreaming) === true ? STREAMING_MS : false),
  });
  return (
    <View
      title="Ingress"
      note={data === undefined ? undefined : `${data.ingress.length} of ${room === '' ? 'all rooms' : room}`}
      command={writeCommand('ingress', 'list', room === '' ? undefined : room)}
      actions={room === '' ? undefined : <CreateIngress room={room} />}
    >
      <div className="filters">
        <SearchFilter
          name="room"
          placeholder="Name of a room"
          label="Room that is streamed into"
          list="open-rooms"
        />
        <OpenRooms />
      </div>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && isFetching && <Loading />}
      {room === '' && data?.ingress.length === 0 && (
        <Empty title="Stream into a room">
          <p>
            Name a room, then create an address for OBS or another program. The room need not be open yet.
          </p>
        </Empty>
      )}
      {room !== '' && data?.ingress.length === 0 && (
        <Empty title={`Nothing streams into ${room}`}>
          <p>Create an ingress: it says what to type into OBS.</p>
        </Empty>
      )}
      {data?.ingress.map((ingress) => (
        <IngressCard key={ingress.ingressId} ingress={ingress} isOfAll={room === ''} />
      ))}
    </View>
  );
}

type CardProps = {
  readonly ingress: IngressRecord;
  /** Whether the cards belong to all rooms, so that each names its room. */
  readonly isOfAll: boolean;
};

function IngressCard({ ingress, isOfAll }: CardProps) {
  const { participantName, participantIdentity, roomName, url, streamKey, inputType } = ingress;
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
        <DeleteButton ingress={ingress} />
      </div>
      {isOfAll && (
        <p>
          Room <Link href={`/rooms/${encodeURIComponent(roomName)}`}>{roomName}</Link>
        </p>
      )}
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

function DeleteButton({ ingress: { ingressId, roomName } }: { readonly ingress: IngressRecord }) {
  return (
    <ChangeButton
      className="danger-quiet"
      label={`Delete ${ingressId}`}
      question="Delete this ingress?"
      consequence="A stream that comes through it ends, and its key is no longer accepted."
      verb="Delete the ingress"
      isDestructive
      command={writeCommand('ingress', 'delete', roomName, ingressId)}
      run={() => client.ingress.delete(roomName, ingressId)}
    >
      <Trash2 aria-hidden /> Delete
    </ChangeButton>
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

type Draft = { readonly type: IngressType; readonly name: string };

export function CreateIngress({ room }: { readonly room: string }) {
  return (
    <ChangeButton
      className="primary"
      question={`Stream into ${room}`}
      consequence="Whoever has the stream key can publish into the room."
      verb="Create"
      {...askForDraft<Draft>({
        initial: { type: 'rtmp', name: '' },
        writeCommand: ({ type, name }) =>
          writeCommand('ingress', 'create', room, { '--type': type, '--name': name }),
        fields: ({ type, name }, change) => (
          <>
            <SelectField
              label="Protocol"
              choices={INGRESS_TYPES}
              words={(known) => known.toUpperCase()}
              chosen={type}
              onChange={(known) => change({ type: known })}
            />
            <TextField
              label="Name that others see"
              value={name}
              placeholder="Ingress Stream"
              maxLength={256}
              onChange={(text) => change({ name: text })}
            />
          </>
        ),
        run: ({ type, name }) =>
          client.ingress.create(room, { type, ...(name === '' ? {} : { participantName: name }) }),
      })}
    >
      <Plus aria-hidden /> Create an ingress
    </ChangeButton>
  );
}

/*
 * The state of a stream as the media server reports it: LiveKit's IngressState in protobuf JSON, whose members the contract
 * passes on.
 */

type State = { readonly word: string; readonly tone: Tone; readonly error: string };

const WORDS: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  ENDPOINT_INACTIVE: ['Waiting for a stream', 'neutral'],
  ENDPOINT_BUFFERING: ['Starting', 'warning'],
  ENDPOINT_PUBLISHING: ['Streaming', 'active'],
  ENDPOINT_ERROR: ['Failed', 'bad'],
  ENDPOINT_COMPLETE: ['Ended', 'neutral'],
};

export function readState(ingress: IngressRecord): State {
  const { status, error } = readMembers(readMembers(ingress).state);
  const [word, tone] = WORDS[typeof status === 'string' ? status : ''] ??
    WORDS.ENDPOINT_INACTIVE ?? ['', 'neutral'];
  return { word, tone, error: typeof error === 'string' ? error : '' };
}

export function isStreaming(ingress: IngressRecord): boolean {
  return ['active', 'warning'].includes(readState(ingress).tone);
}

/** `Video: 1920 × 1080, 30 frames a second, 4.5 Mbit/s`. */
export function describeTracks(ingress: IngressRecord): readonly string[] {
  const { video, audio } = readMembers(readMembers(ingress).state);
  const described = [];
  const picture = readMembers(video);
  if (readNumber(picture.width) > 0) {
    const frames = Math.round(readNumber(picture.framerate));
    described.push(
      `Video: ${readNumber(picture.width)} × ${readNumber(picture.height)}${frames === 0 ? '' : `, ${frames} frames a second`}${bitrate(picture)}`,
    );
  }
  const sound = readMembers(audio);
  if (readNumber(sound.sampleRate) > 0) {
    described.push(
      `Sound: ${readNumber(sound.sampleRate)} Hz, ${readNumber(sound.channels)} channels${bitrate(sound)}`,
    );
  }
  return described;
}

function bitrate({ averageBitrate }: Readonly<Record<string, unknown>>): string {
  const bits = readNumber(averageBitrate);
  if (bits === 0) return '';
  return bits >= 1_000_000
    ? `, ${(bits / 1_000_000).toFixed(1)} Mbit/s`
    : `, ${Math.round(bits / 1000)} kbit/s`;
}

function readNumber(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
