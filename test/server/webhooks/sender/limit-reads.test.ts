import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { limitReads, TOO_MANY_BYTES } from '../../../../src/server/webhooks/sender/webhook-sender.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Both ends of a connection. The reads of the first one are limited. */
async function connected(maxBytes?: number): Promise<readonly [limited: Socket, other: Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  cleanUps.push(() => server.close());
  await once(server, 'listening');
  const limited = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [other] = await once(server, 'connection');
  cleanUps.push(
    () => other.destroy(),
    () => limited.destroy(),
  );
  limitReads(limited, maxBytes);
  return [limited, other];
}

/** Sends the bytes, and waits until they can be read. */
async function arrive(limited: Socket, other: Socket, bytes: number): Promise<void> {
  const before = limited.readableLength;
  // A listener that reads nothing lets the socket buffer what arrives.
  limited.on('readable', () => {});
  other.write(Buffer.alloc(bytes, 'x'));
  await expect.poll(() => limited.readableLength).toBe(before + bytes);
}

function readAll(socket: Socket): readonly number[] {
  const lengths: number[] = [];
  for (let piece = socket.read(); piece !== null; piece = socket.read()) lengths.push(piece.length);
  return lengths;
}

describe('the reads of a connection to a receiver', () => {
  it('return 4 KiB at first, and less at a time after that', async () => {
    const [limited, other] = await connected();
    await arrive(limited, other, 5_000);
    expect(readAll(limited)).toEqual([4096, 256, 256, 256, 136]);
  });

  it('return 4 KiB again after the next request', async () => {
    const [limited, other] = await connected();
    await arrive(limited, other, 5_000);
    readAll(limited);
    limited.write('the next request');
    await arrive(limited, other, 4_096);
    expect(readAll(limited)).toEqual([4096]);
  });

  it('return nothing of what has arrived once the connection is given up', async () => {
    const [limited, other] = await connected();
    await arrive(limited, other, 5_000);
    limited.read();
    limited.destroy();
    expect(readAll(limited)).toEqual([]);
  });

  it('end the connection after the maximum number of bytes for a request, and not before', async () => {
    const [limited, other] = await connected(5_000);
    const failed = once(limited, 'error');
    await arrive(limited, other, 5_000);
    readAll(limited);
    expect(limited.destroyed).toBe(false);
    await arrive(limited, other, 1);
    expect(readAll(limited)).toEqual([]);
    expect(await failed).toMatchObject([{ code: TOO_MANY_BYTES }]);
  });
});
