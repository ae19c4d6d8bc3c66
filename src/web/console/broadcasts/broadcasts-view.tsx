import { Plus, Square, Trash2 } from 'lucide-react';
import { Link } from 'wouter';
import type { Broadcast, BroadcastUrl } from '../../../contract/broadcasts.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { askForDraft, ChangeButton } from '../parts/changes.tsx';
import { CommandLine, writeCommand } from '../parts/command-line.tsx';
import { CellButton, type TableColumn } from '../parts/data-table.tsx';
import { TextField } from '../parts/fields.tsx';
import { type Cells, RoomFilter } from '../parts/find-and-save.tsx';
import { Details, ListView } from '../parts/list-view.tsx';
import { describePosition } from '../parts/position.ts';
import { Status, type Tone } from '../parts/status.tsx';
import { Clock } from '../parts/time.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useDebounced } from '../parts/use-pages.ts';

const PAGE_SIZE = 100;
/** The recorder connects again without an event. */
const REFRESH_MS = 10_000;

/** Broadcasts of all rooms, running and ended, with the state of each receiver. */
export function Broadcasts() {
  const { read } = useAddress();
  const room = useDebounced(read('room').trim()) || undefined;
  return (
    <ListView
      title="Broadcasts"
      what="broadcasts"
      command={writeCommand('broadcast', 'list', { '--room': room })}
      filters={<RoomFilter what="broadcasts" />}
      queryKey={[...KEYS.broadcasts(), room ?? '']}
      read={(cursor) => client.broadcasts.list({ roomId: room, limit: PAGE_SIZE, cursor })}
      items={({ broadcasts }) => broadcasts}
      refreshMs={REFRESH_MS}
      columns={COLUMNS}
      cells={CELLS}
      getId={({ broadcastId }) => broadcastId}
      empty={{
        title: room === undefined ? 'Nothing was broadcast yet' : `${room} was not broadcast`,
        text: 'A broadcast sends a room to RTMP or SRT servers, or writes HLS: rtc broadcast start ROOM.',
      }}
      panel={(broadcast) => ({
        title: broadcast.roomId,
        children: <BroadcastDetails broadcast={broadcast} />,
      })}
    />
  );
}

const TONES: Readonly<Record<Broadcast['status'], Tone>> = {
  broadcasting: 'active',
  stopped: 'neutral',
  aborted: 'warning',
  failed: 'bad',
};

const URL_TONES: Readonly<Record<BroadcastUrl['state'], Tone>> = {
  connecting: 'warning',
  active: 'good',
  failed: 'bad',
  removed: 'neutral',
  ended: 'neutral',
};

function BroadcastDetails({ broadcast }: { readonly broadcast: Broadcast }) {
  const { broadcastId, roomId, status, error, urls, hls, egressId, startedAt, endedAt } = broadcast;
  const isRunning = status === 'broadcasting';
  return (
    <>
      <Details
        rows={{
          State: <Status tone={TONES[status]}>{status}</Status>,
          Why: error,
          Room: <Link href={`/rooms/${encodeURIComponent(roomId)}`}>{roomId}</Link>,
          Broadcast: <code>{broadcastId}</code>,
          Recorder: egressId === null ? undefined : <code>{egressId}</code>,
          Started: <Clock at={startedAt} />,
          Ended: endedAt === null ? undefined : <Clock at={endedAt} />,
          HLS: hls === null ? undefined : `${hls.bucket === null ? '' : `${hls.bucket}/`}${hls.folder}`,
        }}
      />
      <h3>Receivers</h3>
      {urls.length === 0 && <p className="faint">None: it is only written as HLS.</p>}
      <ul className="plain-list">
        {urls.map((url) => (
          <Receiver key={url.urlId} url={url} room={roomId} isRunning={isRunning} />
        ))}
      </ul>
      <div className="actions">
        {isRunning && (
          <>
            <AddButton room={roomId} />
            <StopButton room={roomId} />
          </>
        )}
        {!isRunning && <DeleteButton broadcast={broadcast} />}
      </div>
      <CommandLine command={writeCommand('broadcast', 'status', roomId)} />
    </>
  );
}

type ReceiverProps = { readonly url: BroadcastUrl; readonly room: string; readonly isRunning: boolean };

function Receiver({ url: { urlId, url, state, since, error, retries }, room, isRunning }: ReceiverProps) {
  const isOn = isRunning && (state === 'active' || state === 'connecting');
  return (
    <li>
      <code>{url}</code>
      <Status tone={URL_TONES[state]}>
        {state}{' '}
        <span className="faint">
          since <Clock at={since} />
        </span>
      </Status>
      {error !== null && <span>{error}</span>}
      {retries > 0 && <span className="faint">connected again {retries} times</span>}
      {isOn && (
        <ChangeButton
          className="danger-quiet"
          label={`Remove ${url}`}
          question={`Send no longer to ${url}?`}
          consequence="The other receivers go on."
          verb="Remove it"
          isDestructive
          command={writeCommand('broadcast', 'update', room, '--remove', urlId)}
          run={() => client.broadcasts.change(room, { remove: [urlId] })}
        >
          Remove
        </ChangeButton>
      )}
    </li>
  );
}

function AddButton({ room }: { readonly room: string }) {
  return (
    <ChangeButton
      question={`Send ${room} to one more server`}
      consequence="The URL with its stream key is a secret: it is not shown again."
      verb="Add"
      {...askForDraft({
        initial: { url: '' },
        writeCommand: () => writeCommand('broadcast', 'update', room, '--url-stdin'),
        // Without a value: React would write the key into the document.
        fields: (_draft, change) => (
          <TextField
            label="URL with the stream key"
            type="password"
            required
            autoComplete="off"
            placeholder="rtmps://live.example.org/app/stream-key"
            onChange={(text) => change({ url: text })}
          />
        ),
        run: ({ url }) => client.broadcasts.change(room, { add: [url] }),
      })}
    >
      <Plus aria-hidden /> Add a URL
    </ChangeButton>
  );
}

function StopButton({ room }: { readonly room: string }) {
  return (
    <ChangeButton
      className="danger-quiet"
      question={`Stop the broadcast of ${room}?`}
      consequence="It ends for every receiver, and its HLS is complete."
      verb="Stop it"
      isDestructive
      command={writeCommand('broadcast', 'stop', room)}
      run={() => client.broadcasts.stop(room)}
    >
      <Square aria-hidden /> Stop
    </ChangeButton>
  );
}

function DeleteButton({ broadcast: { broadcastId, roomId } }: { readonly broadcast: Broadcast }) {
  return (
    <ChangeButton
      className="danger-quiet"
      question={`Delete this broadcast of ${roomId}?`}
      consequence="Its HLS and its record are lost."
      verb="Delete the broadcast"
      isDestructive
      command={writeCommand('broadcast', 'delete', broadcastId)}
      run={() => client.broadcasts.delete(broadcastId)}
    >
      <Trash2 aria-hidden /> Delete
    </ChangeButton>
  );
}

function describeReceivers({ urls, hls }: Broadcast): string {
  const active = urls.filter(({ state }) => state === 'active').length;
  const words = urls.length === 0 ? [] : [`${active} of ${urls.length} active`];
  return [...words, ...(hls === null ? [] : ['HLS'])].join(', ');
}

const COLUMNS: readonly TableColumn<Broadcast>[] = [
  {
    heading: 'Room',
    width: 'minmax(6rem, 1.6fr)',
    cell: ({ roomId }) => <CellButton>{roomId}</CellButton>,
  },
  {
    heading: 'State',
    width: 'minmax(7rem, 0.8fr)',
    cell: ({ status }) => <Status tone={TONES[status]}>{status}</Status>,
  },
  {
    heading: 'Receivers',
    width: 'minmax(5.5rem, 1fr)',
    cell: (broadcast) => {
      const failed = broadcast.urls.filter(({ state }) => state === 'failed').length;
      const words = describeReceivers(broadcast);
      return failed === 0 ? words : <Status tone="bad">{`${words}, ${failed} failed`}</Status>;
    },
  },
  {
    heading: 'Started',
    width: 'minmax(5.5rem, 1fr)',
    isSecondary: true,
    cell: ({ startedAt }) => <Clock at={startedAt} />,
  },
  {
    heading: 'HLS length',
    width: 'minmax(5.5rem, 0.6fr)',
    isSecondary: true,
    cell: ({ durationMs }) =>
      durationMs === null ? <span className="faint">—</span> : describePosition(durationMs / 1000),
  },
  {
    heading: 'Broadcast',
    width: 'minmax(13.25rem, 1.2fr)',
    isSecondary: true,
    cell: ({ broadcastId }) => <code className="faint">{broadcastId}</code>,
  },
];

const CELLS: Cells<Broadcast> = {
  broadcast: ({ broadcastId }) => broadcastId,
  room: ({ roomId }) => roomId,
  state: ({ status }) => status,
  receivers: ({ urls }) => urls.map(({ url, state }) => `${url} ${state}`).join('; '),
  started: ({ startedAt }) => startedAt,
  ended: ({ endedAt }) => endedAt,
  error: ({ error }) => error,
};
