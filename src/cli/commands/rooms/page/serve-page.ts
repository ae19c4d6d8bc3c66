import type { RtcClient } from '../../../../client/client.ts';
import { readPageFiles } from '../../../pages/page-files.ts';
import type { Io } from '../../../terminal/io.ts';
import { requireMedia } from '../require-media.ts';
import { startPageServer } from './page-server.ts';
import { type Person, Seats } from './seats.ts';

type PageIo = Pick<Io, 'launcher' | 'clock' | 'signal'>;

export type PageRequest = {
  readonly client: RtcClient;
  readonly room: string;
  readonly person: Person;
  /** 0 selects a free port. */
  readonly port: number;
  readonly publicUrl: URL | undefined;
};

export type ServedPage = {
  /** Origin, such as http://127.0.0.1:41000. */
  readonly origin: string;
  /** Link for this machine or, with a public address, for one person anywhere. */
  readonly link: string;
  readonly close: () => Promise<void>;
};

/** Serves the page of a room. Throws when the page is not built, or when the media server carries no media. */
export async function servePage(io: PageIo, request: PageRequest): Promise<ServedPage> {
  const { client, room, person, port, publicUrl } = request;
  const { identity, name, role } = person;
  const { url: mediaUrl } = await client.tokens.create({ roomId: room, userId: identity, name, role });
  await requireMedia(mediaUrl, io.signal);
  const seats = new Seats({ client, room, person, monotonic: () => performance.now() });
  const files = await readPageFiles(io.launcher, 'room');
  const { origin, close } = await startPageServer({ client, seats, room, files, mediaUrl, port, publicUrl });
  const code = publicUrl === undefined ? seats.createLocalCode() : seats.createPublicCode();
  return { origin, link: `${publicUrl?.origin ?? origin}/#code=${code}`, close };
}
