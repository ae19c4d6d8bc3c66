import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { decodeReplies, encodeCommand, RefusedCommand, type Reply } from './resp.ts';

/** A reply of this size would be of some other use of that Redis. */
const MAX_REPLY_BYTES = 8_388_608;
const DEFAULT_PORT = 6379;

/**
 * Asks on a connection of its own, which is as fast as one that is kept where there is a question a minute. Rejects with
 * a RefusedCommand for what Redis refuses, and with Node's errors for a Redis that cannot be reached in time.
 */
export async function askRedis(
  url: URL,
  commands: readonly (readonly string[])[],
  timeoutMs: number,
): Promise<readonly Reply[]> {
  const login = loginOf(url);
  const sent = [...login, ...commands];
  const socket = openSocket(url);
  socket.setNoDelay(true);
  const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), timeoutMs);
  try {
    socket.write(sent.map(encodeCommand).join(''));
    const replies = await readReplies(socket, sent.length);
    const refusal = replies.find((reply) => reply instanceof RefusedCommand);
    if (refusal !== undefined) throw refusal;
    return replies.slice(login.length);
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

function loginOf({ username, password }: URL): readonly (readonly string[])[] {
  if (password === '') return [];
  const words = [username, password].filter((word) => word !== '').map(decodeURIComponent);
  return [['AUTH', ...words]];
}

function openSocket({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const at = { host, port: Number(port || DEFAULT_PORT) };
  return protocol === 'rediss:' ? connectTls({ ...at, servername: host }) : connect(at);
}

async function readReplies(socket: Socket, count: number): Promise<readonly Reply[]> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length > MAX_REPLY_BYTES) throw new Error('the answer is too long');
    const replies = decodeReplies(bytes, count);
    if (replies !== undefined) return replies;
  }
  throw new Error('the connection was closed before the answer');
}
