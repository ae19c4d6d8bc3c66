import { readFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import type { Page } from 'playwright-core';
import { createWholeBodyServer } from '../../../test/support/whole-body-server.ts';
import { listen } from '../../support/listen.ts';

/** Another program of this machine, which serves pages at a port of its own and keeps what browsers send it. */
export type HostileServer = {
  readonly port: number;
  /** Whatever came, as text: lines of requests, headers, bodies. */
  readonly seen: readonly string[];
  /** The values that a browser could have sent by mistake: cookies, authorizations, referrers. */
  readonly loot: () => readonly string[];
  readonly close: () => Promise<void>;
};

export async function startHostileServer(): Promise<HostileServer> {
  const seen: string[] = [];
  const loot = new Set<string>();
  const server = createWholeBodyServer(({ method, url, headers }, response, body) => {
    seen.push(`${method} ${url} ${JSON.stringify(headers)} ${body}`);
    for (const name of ['cookie', 'authorization', 'referer'] as const) {
      for (const value of (headers[name] ?? '').split(/;\s*/)) {
        if (value === '') continue;
        loot.add(value);
        loot.add(value.slice(value.indexOf('=') + 1));
      }
    }
    response.writeHead(200, { 'content-type': 'text/html', 'access-control-allow-origin': '*' });
    response.end('<!doctype html><title>another program</title><body>');
  });
  return { ...(await listen(server)), seen, loot: () => [...loot] };
}

const TRIES = await readFile(new URL('tries.js', import.meta.url), 'utf8');

export type HostileRequest = { readonly method: string; readonly url: string; readonly body?: string };

type Outcome = { readonly what: string; readonly outcome: string };

/** Sends the requests in every way that the page has. Returns what it could read, and how many it sent. */
export async function tryAll(
  page: Pick<Page, 'evaluate'>,
  requests: readonly HostileRequest[],
): Promise<{ readonly sent: number; readonly read: readonly string[] }> {
  await page.evaluate(TRIES);
  const outcomes = await page.evaluate<readonly Outcome[]>(`tries(${JSON.stringify(requests)})`);
  const read = outcomes.filter(({ outcome }) => outcome !== 'nothing');
  return { sent: outcomes.length, read: read.map(({ what, outcome }) => `${what}: ${outcome}`) };
}

/** Opens another page from this one, and returns what this one could read of it. */
export async function openOther(page: Page, url: string): Promise<readonly string[]> {
  await page.evaluate(TRIES);
  return await page.evaluate<readonly string[]>(`openOther(${JSON.stringify(url)})`);
}

type LocalRequest = {
  readonly method?: string;
  readonly headers?: IncomingHttpHeaders;
  readonly body?: string;
};

/** Sends a request as another program of this machine does, with any headers. */
export async function sendLocally(
  url: string,
  { method = 'GET', headers = {}, body = '' }: LocalRequest = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const sent = request(url, { method, headers }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
  });
  sent.once('error', reject);
  sent.end(body);
  return await promise;
}
