import type { Observer, ServiceResponse, WireRequest } from '../../client/client-options.ts';
import { API_KEY_HEADER, SIGNATURE_HEADER } from '../../contract/canonical-request.ts';
import { shellQuote } from '../../contract/shell-quote.ts';
import { escapeForTerminal, printHint, type Terminal } from '../terminal/terminal.ts';

/** Thrown in place of a response when --curl has printed the request. */
export class CurlPrinted extends Error {
  override readonly name = 'CurlPrinted';
}

/** Prints each request as a curl command and stops it before it is sent. */
export function curlObserver(terminal: Terminal): Observer {
  let isFirst = true;
  return {
    onRequest: (request) => {
      printCurl(terminal, request);
      if (isFirst) printHint(terminal, 'Signed now, and valid for five minutes.');
      isFirst = false;
      throw new CurlPrinted();
    },
  };
}

export function printCurl(terminal: Terminal, request: WireRequest): void {
  terminal.io.stdout.write(`${formatCurl(request)}\n`);
}

/** Reports the requests that a command needs before its change, of which --curl prints only the change. */
export function readOnlyObserver(terminal: Terminal): Observer {
  return {
    onRequest: ({ method, path }) =>
      printHint(terminal, `Sent first, to find what to act on: ${method} ${path}`),
  };
}

/** The signed request, byte for byte. It has the signature but never the secret. */
function formatCurl(request: WireRequest): string {
  const headers = Object.entries(request.headers).filter(([name]) => name !== 'user-agent');
  const parts = [
    // Quiet except for errors, because it is pasted into pipes. The other options prevent changes of the path, which is
    // signed.
    'curl -sS --path-as-is --globoff',
    // With -X HEAD curl would wait for a body.
    request.method === 'HEAD' ? '--head' : `-X ${shellQuote(request.method)}`,
    ...headers.map(([name, value]) => `-H ${shellQuote(`${name}: ${value}`)}`),
    ...(request.body === undefined ? [] : [`--data-raw ${shellQuote(request.body)}`]),
    shellQuote(request.origin + request.path),
  ];
  return parts.join(' ');
}

/** Prints requests and responses on stderr, with keys, signatures, tokens and stream keys masked. */
export function debugObserver(terminal: Terminal): Observer {
  const line = (mark: string, text: string): void => {
    terminal.io.stderr.write(`${terminal.errorPalette.faint(`${mark} ${escapeForTerminal(text)}`)}\n`);
  };
  return {
    onRequest: (request) => {
      line('>', `${request.method} ${request.origin}${request.path}`);
      for (const [name, value] of Object.entries(request.headers)) {
        line('>', `${name}: ${MASKED_HEADERS.has(name) ? maskKey(value) : value}`);
      }
      if (request.body !== undefined) line('>', maskSecrets(request.body));
    },
    onResponse: (_request, response: ServiceResponse, elapsedMs) => {
      line('<', `${response.status} ${response.statusText} in ${Math.round(elapsedMs)} ms`);
      for (const [name, value] of Object.entries(response.headers)) {
        // The query of a recording's URL is its permission: anyone who has it can fetch the file.
        line('<', `${name}: ${name === 'location' ? value.replace(/\?.*$/s, '?***') : value}`);
      }
      if (response.body !== '') line('<', maskSecrets(response.body));
    },
  };
}

const MASKED_HEADERS: ReadonlySet<string> = new Set([API_KEY_HEADER, SIGNATURE_HEADER]);

/**
 * Shows enough of a key to distinguish it from another one, and nothing of a short one. The id of a created key is no
 * secret.
 */
export function maskKey(value: string): string {
  if (/^key_\w{16,}$/.test(value)) return value;
  return value.length < 12 ? '***' : `${value.slice(0, 4)}***`;
}

/** Masks members of JSON text that grant access; also in text that is not quite JSON. */
function maskSecrets(json: string): string {
  return json.replace(/("(?:token|streamKey|secret|apiSecret|fileUrl)"\s*:\s*)"(?:[^"\\]|\\.)*"/g, '$1"***"');
}
