/* As much of the Redis protocol as a few questions need: https://redis.io/docs/latest/develop/reference/protocol-spec/ */

export type Reply = string | number | null | readonly Reply[] | RefusedCommand;

/** Redis says no to one command; its first word is a code such as NOAUTH. */
export class RefusedCommand extends Error {
  override readonly name = 'RefusedCommand';
}

export function encodeCommand(words: readonly string[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${words.length}\r\n${parts.join('')}`;
}

/** The first `count` replies; undefined while there are fewer. Throws for what is not this protocol. */
export function decodeReplies(bytes: Buffer, count: number): readonly Reply[] | undefined {
  const replies: Reply[] = [];
  let at = 0;
  while (replies.length < count) {
    const decoded = decodeReply(bytes, at);
    if (decoded === undefined) return undefined;
    replies.push(decoded.reply);
    at = decoded.end;
  }
  return replies;
}

type Decoded = { readonly reply: Reply; readonly end: number };

function decodeReply(bytes: Buffer, start: number): Decoded | undefined {
  const lineEnd = bytes.indexOf('\r\n', start);
  if (lineEnd < 0) {
    if (start < bytes.length && !KINDS.includes(bytes.toString('latin1', start, start + 1))) throw notRedis();
    return undefined;
  }
  const line = bytes.toString('utf8', start + 1, lineEnd);
  const end = lineEnd + 2;
  switch (bytes.toString('latin1', start, start + 1)) {
    case '+':
      return { reply: line, end };
    case '-':
      return { reply: new RefusedCommand(line), end };
    case ':':
      return { reply: toInteger(line), end };
    case '$':
      return decodeBulk(bytes, toInteger(line), end);
    case '*':
      return decodeArray(bytes, toInteger(line), end);
    default:
      throw notRedis();
  }
}

const KINDS = '+-:$*';

function decodeBulk(bytes: Buffer, length: number, start: number): Decoded | undefined {
  if (length < 0) return { reply: null, end: start };
  const end = start + length;
  return bytes.length < end + 2 ? undefined : { reply: bytes.toString('utf8', start, end), end: end + 2 };
}

function decodeArray(bytes: Buffer, length: number, start: number): Decoded | undefined {
  if (length < 0) return { reply: null, end: start };
  const items: Reply[] = [];
  let at = start;
  for (let index = 0; index < length; index++) {
    const item = decodeReply(bytes, at);
    if (item === undefined) return undefined;
    items.push(item.reply);
    at = item.end;
  }
  return { reply: items, end: at };
}

function toInteger(line: string): number {
  if (!/^-?\d{1,15}$/.test(line)) throw notRedis();
  return Number(line);
}

function notRedis(): Error {
  return new Error('the answer is not that of a Redis');
}
