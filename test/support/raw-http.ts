import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type RawResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
};

/** A connection that sends bytes unchanged and reads the responses. */
export class RawConnection {
  readonly #socket: Socket;
  #received = '';
  #isLast = false;
  #wake = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1');
      this.#wake();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#wake());
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  get isOpen(): boolean {
    return !this.#isLast && !this.#socket.destroyed && this.#socket.readable;
  }

  send(bytes: string | Uint8Array): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Returns the next final response (to `method`); undefined if the connection ends without one. */
  async read(method = 'GET'): Promise<RawResponse | undefined> {
    for (;;) {
      const response = this.#take(method);
      if (response !== undefined && response.status >= 200) {
        if (response.headers.connection === 'close') this.#isLast = true;
        return response;
      }
      if (response !== undefined) continue;
      if (this.#socket.closed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Resolves when the other side has closed. */
  async closed(): Promise<void> {
    if (!this.#socket.closed) await once(this.#socket, 'close');
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(method: string): RawResponse | undefined {
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return undefined;
    const [statusLine = '', ...lines] = this.#received.slice(0, headEnd).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const bodyEnd = headEnd + 4 + (method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0));
    if (this.#received.length < bodyEnd) return undefined;
    const text = Buffer.from(this.#received.slice(headEnd + 4, bodyEnd), 'latin1').toString();
    this.#received = this.#received.slice(bodyEnd);
    return { status: Number(statusLine.split(' ')[1]), headers, text };
  }
}

export type RawRequest = {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
};

/** Returns HTTP/1.1 as bytes. Nothing is checked, corrected or added. */
export function serializeRequest({ method, target, headers, body }: RawRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}
