import { RawConnection } from '../../../test/support/raw-http.ts';

/*
 * Requests whose end is ambiguous. A proxy could take the request that follows for a part of their body. The service must
 * not serve that second request.
 */

const SMUGGLED_ID = 'smuggled-by-framing';

const SMUGGLED = `GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${SMUGGLED_ID}\r\n\r\n`;
const LENGTH = SMUGGLED.length;

/** Malformed chunks. A request without a signature is refused before they are read. */
const BROKEN_CHUNKS: Readonly<Record<string, string>> = {
  'a chunk that is longer than its size': 'Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n',
  'a chunk without its end': 'Transfer-Encoding: chunked\r\n\r\n1\r\na0\r\n\r\n',
  'a bare LF after a chunk': 'Transfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n',
};

/** Contradictory heads, and heads that are not HTTP. The service has to refuse them and close the connection. */
export const AMBIGUOUS: Readonly<Record<string, string>> = {
  'length and chunks': `Content-Length: ${LENGTH}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'chunks and length': 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n',
  'two lengths': `Content-Length: 0\r\nContent-Length: ${LENGTH}\r\n\r\n`,
  'a list of lengths': `Content-Length: 0, ${LENGTH}\r\n\r\n`,
  'a length with a sign': 'Content-Length: +0\r\n\r\n',
  'a length in hexadecimal': 'Content-Length: 0x0\r\n\r\n',
  'a negative length': 'Content-Length: -1\r\n\r\n',
  'a space before the colon of the length': 'Content-Length : 0\r\n\r\n',
  'a space before the colon of the coding': 'Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
  'an unknown coding': 'Transfer-Encoding: xchunked\r\n\r\n',
  'chunks that are not last': 'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
  'chunks in quotes': 'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n',
  'chunks twice': 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n',
  'a folded coding': 'Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n',
  'a folded length': 'X-Folded: a\r\n Content-Length: 5\r\n\r\n',
  'a bare CR in a header': 'X-Bare: a\rContent-Length: 5\r\n\r\n',
  'a bare LF after a header': 'X-Bare: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'a NUL in a header': 'X-Null: a\0b\r\n\r\n',
  'a size of a chunk in hexadecimal notation': 'Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n',
  'a size of a chunk that overflows': 'Transfer-Encoding: chunked\r\n\r\n1000000000000000000000000\r\n\r\n',
  'a negative size of a chunk': 'Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n',
  'a bare LF in a chunk extension': 'Transfer-Encoding: chunked\r\n\r\n0;a\n\r\n\r\n',
  ...BROKEN_CHUNKS,
};

/** Well-formed bodies of requests that usually have none. The service must not serve the request inside the body. */
const HIDDEN: Readonly<Record<string, string>> = {
  'a GET with a body': `Content-Length: ${LENGTH}\r\n\r\n`,
  'a GET with a chunk': `Transfer-Encoding: chunked\r\n\r\n${LENGTH.toString(16)};name=value\r\n`,
};

export type FramingCount = {
  forms: number;
  /** Ambiguous requests that were not refused. */
  readonly accepted: string[];
  /** Request ids of hidden requests that were served. */
  readonly smuggled: string[];
  readonly leftOpen: string[];
};

/** Sends every form to an existing path and to a missing one. */
export async function sendFraming(url: string): Promise<FramingCount> {
  const count: FramingCount = { forms: 0, accepted: [], smuggled: [], leftOpen: [] };
  for (const target of ['/v1/health', '/v1/rooms', '/nothing']) {
    for (const [name, head] of Object.entries(AMBIGUOUS))
      await sendAmbiguous({ url, target, name, head }, count);
    for (const [name, head] of Object.entries(HIDDEN)) await sendHidden({ url, target, name, head }, count);
  }
  return count;
}

type FramedRequest = {
  readonly url: string;
  readonly target: string;
  readonly name: string;
  readonly head: string;
};

async function sendAmbiguous({ url, target, name, head }: FramedRequest, count: FramingCount): Promise<void> {
  count.forms += 1;
  const connection = await RawConnection.open(url);
  connection.send(`POST ${target} HTTP/1.1\r\nHost: x\r\n${head}${SMUGGLED}`);
  const first = await connection.read();
  const refusals = name in BROKEN_CHUNKS ? [400, 401] : [400, 413, 501];
  if (first === undefined || !refusals.includes(first.status)) {
    count.accepted.push(`${name} at ${target}: ${first?.status ?? 'no response'}`);
  }
  // Reads to the end of the connection, because a response to the second request would come before it.
  for (
    let response = await withinMoments(connection);
    response !== undefined;
    response = await withinMoments(connection)
  ) {
    if (response === 'open') {
      count.leftOpen.push(`${name} at ${target}`);
      break;
    }
    if (response.headers['x-request-id'] === SMUGGLED_ID) count.smuggled.push(`${name} at ${target}`);
  }
  connection.close();
}

const MOMENTS_MS = 5_000;

/** Returns the next response; undefined at the end of the connection; `open` if neither comes in time. */
async function withinMoments(connection: RawConnection) {
  const { promise, resolve } = Promise.withResolvers<'open'>();
  const timer = setTimeout(() => resolve('open'), MOMENTS_MS);
  try {
    return await Promise.race([connection.read(), promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Sends the hidden request as the body of another one, and then a separate request. */
async function sendHidden({ url, target, name, head }: FramedRequest, count: FramingCount): Promise<void> {
  count.forms += 1;
  const connection = await RawConnection.open(url);
  const end = head.includes('chunked') ? '\r\n0\r\n\r\n' : '';
  connection.send(`GET ${target} HTTP/1.1\r\nHost: x\r\n${head}${SMUGGLED}${end}`);
  connection.send('GET /nothing HTTP/1.1\r\nHost: x\r\nX-Request-Id: after\r\nConnection: close\r\n\r\n');
  for (let response = await connection.read(); response !== undefined; response = await connection.read()) {
    if (response.headers['x-request-id'] === SMUGGLED_ID) count.smuggled.push(`${name} at ${target}`);
  }
  connection.close();
}
