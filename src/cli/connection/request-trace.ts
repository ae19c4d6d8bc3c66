import type { Answer, Observer, WireRequest } from '../../client/client-options.ts';
import { API_KEY_HEADER, SIGNATURE_HEADER } from '../../contract/signing.ts';
import { shellQuoted } from '../errors/shell-quote.ts';
import { harmless } from '../terminal/escape-for-terminal.ts';
import { hint, type Screen } from '../terminal/terminal.ts';
import { maskKey, maskSecrets } from './mask-secrets.ts';

/** Thrown in place of the answer when --curl has printed the request. */
export class CurlPrinted extends Error {
  override readonly name = 'CurlPrinted';
}

/** Prints each request as a curl command and stops it before it is sent. */
export function curlObserver(screen: Screen): Observer {
  let isFirst = true;
  return {
    onRequest: (request) => {
      printCurl(screen, request);
      if (isFirst) hint(screen, 'Signed for now: valid for five minutes.');
      isFirst = false;
      throw new CurlPrinted();
    },
  };
}

export function printCurl(screen: Screen, request: WireRequest): void {
  screen.io.stdout.write(`${curlOf(request)}\n`);
}

/** Says what is asked before a command can act, where --curl prints only the act. */
export function lookObserver(screen: Screen): Observer {
  return {
    onRequest: ({ method, path }) => hint(screen, `Asked first, to know what to act on: ${method} ${path}`),
  };
}

/** The signed request, byte for byte; carries the signature but never the secret. */
function curlOf(request: WireRequest): string {
  const headers = Object.entries(request.headers).filter(([name]) => name !== 'user-agent');
  const parts = [
    // Quiet but for errors, as it is pasted into pipes. Neither of the others may rewrite the path: it is signed as it is.
    'curl -sS --path-as-is --globoff',
    // With -X HEAD curl would wait for a body.
    request.method === 'HEAD' ? '--head' : `-X ${shellQuoted(request.method)}`,
    ...headers.map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(request.body === undefined ? [] : [`--data-raw ${shellQuoted(request.body)}`]),
    shellQuoted(request.origin + request.path),
  ];
  return parts.join(' ');
}

/** Prints requests and answers on stderr, with keys, signatures, tokens and stream keys masked. */
export function debugObserver(screen: Screen): Observer {
  const line = (mark: string, text: string): void => {
    screen.io.stderr.write(`${screen.errorPalette.faint(`${mark} ${harmless(text)}`)}\n`);
  };
  return {
    onRequest: (request) => {
      line('>', `${request.method} ${request.origin}${request.path}`);
      for (const [name, value] of Object.entries(request.headers)) {
        line('>', `${name}: ${MASKED_HEADERS.has(name) ? maskKey(value) : value}`);
      }
      if (request.body !== undefined) line('>', maskSecrets(request.body));
    },
    onAnswer: (_request, answer: Answer, elapsedMs) => {
      line('<', `${answer.status} ${answer.statusText} in ${Math.round(elapsedMs)} ms`);
      for (const [name, value] of Object.entries(answer.headers)) {
        // Where a recording is: whoever has the query gets the file.
        line('<', `${name}: ${name === 'location' ? value.replace(/\?.*$/s, '?***') : value}`);
      }
      if (answer.body !== '') line('<', maskSecrets(answer.body));
    },
  };
}

const MASKED_HEADERS: ReadonlySet<string> = new Set([API_KEY_HEADER, SIGNATURE_HEADER]);
