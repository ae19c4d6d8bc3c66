import type { Socket } from 'node:net';
import { startForwardingServer } from '../../../support/forwarding-server.ts';

/** A TCP proxy between a client and its server. */
export interface Network {
  /** Returns `url` with the address of this proxy. */
  url(url: string): string;
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Forwards nothing more on the open connections. */
  silence(): void;
  /** Does the same after the first bytes from a client that contain this text. */
  silenceAfter(text: string): void;
  isSilent(): boolean;
  speak(): void;
  connections(): number;
  close(): Promise<void>;
}

export async function startNetwork({ hostname, port }: URL): Promise<Network> {
  let silent = false;
  let lastText: string | undefined;
  const pass = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => {
      if (!silent) to.write(bytes);
      if (lastText !== undefined && bytes.includes(lastText)) silent = true;
    });
  };
  const forwarding = await startForwardingServer({
    target: () => ({ host: hostname, port: Number(port) }),
    forward: (client, server) => {
      pass(client, server);
      pass(server, client);
    },
  });
  return {
    url: forwarding.through,
    cut: forwarding.cut,
    mend: forwarding.mend,
    silence: () => {
      silent = true;
    },
    silenceAfter: (text) => {
      lastText = text;
    },
    isSilent: () => silent,
    speak: () => {
      silent = false;
      lastText = undefined;
    },
    connections: forwarding.connections,
    close: forwarding.cut,
  };
}
