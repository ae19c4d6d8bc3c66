import { createHash, createHmac } from 'node:crypto';
import { BASES, listMutations, signedRequest } from '../../test/support/mutations.ts';
import { Random } from '../../test/support/random.ts';
import { RawConnection, type RawRequest, serializeRequest } from '../../test/support/raw-http.ts';
import { type Signing, signatureHeaders } from '../../test/support/sign.ts';
import type { Experiment, ExperimentContext, Findings } from '../experiment.ts';
import { exactly, observed } from '../figures.ts';
import { attackTarget, type Target } from './target.ts';

const SEED = 20_261_121;
const COUNT = { long: 100_000, short: 2_000 } as const;
const CONNECTIONS = 8;

/**
 * Percentage of requests that are unchanged, changed once and signed again, or changed twice. The others are changed once.
 */
const SHARES = { unchanged: 10, resigned: 15, twice: 25 } as const;
/** Requests that start a recording are left out, because they wait for a recorder. */
const KINDS = BASES.filter(({ target }) => !target.endsWith('/start'));
const REPORT_EVERY = 20_000;
const REFUSALS = ['missing-credentials', 'invalid-api-key', 'timestamp-out-of-window', 'invalid-signature'];
const WINDOW_SECONDS = 300;
/** Time between the reading of the clock here and in the service. */
const CLOCK_SLACK_SECONDS = 5;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const METHODS = /^[A-Z]+(-[A-Z]+)*$/;

export const mutatedRequests: Experiment = {
  name: 'mutated-requests',
  run: (context) => attackTarget(context, { database: 'SQLite' }, (target) => sendMutated(target, context)),
};

/** Numbers of requests by their outcomes. */
type Tally = {
  sent: number;
  authentic: number;
  acceptedWrongly: string[];
  refusedWrongly: string[];
  otherProblem: Map<string, number>;
  unanswered: number;
  serverErrors: string[];
};

async function sendMutated(target: Target, { runSize, report }: ExperimentContext): Promise<Findings> {
  const tally: Tally = {
    ...{ sent: 0, authentic: 0, unanswered: 0 },
    ...{ acceptedWrongly: [], refusedWrongly: [], otherProblem: new Map<string, number>(), serverErrors: [] },
  };
  const random = new Random(SEED);
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      let connection: RawConnection | undefined;
      while (tally.sent < COUNT[runSize]) {
        tally.sent += 1;
        if (tally.sent % REPORT_EVERY === 0) report(`${tally.sent} requests`);
        connection = await sendOne({ target, random, tally, connection });
      }
      connection?.close();
    }),
  );
  const wrong = [...tally.acceptedWrongly, ...tally.refusedWrongly, ...tally.serverErrors];
  for (const line of wrong.slice(0, 20)) report(line);
  for (const [line, count] of tally.otherProblem) report(`${count} × ${line}`);
  const others = [...tally.otherProblem.values()].reduce((sum, count) => sum + count, 0);
  return {
    figures: [
      observed('requests', tally.sent),
      observed('authentic requests', tally.authentic),
      exactly('requests accepted wrongly', tally.acceptedWrongly.length, 0),
      exactly('authentic requests refused', tally.refusedWrongly.length, 0),
      exactly('requests refused for an undocumented reason', others, 0),
      exactly('requests answered with 5xx', tally.serverErrors.length, 0),
      observed('connections closed without an answer', tally.unanswered),
    ],
    notes: [`Seed ${SEED}.`],
  };
}

type Sending = {
  readonly target: Target;
  readonly random: Random;
  readonly tally: Tally;
  readonly connection: RawConnection | undefined;
};

async function sendOne({ target, random, tally, connection }: Sending): Promise<RawConnection> {
  const now = Math.floor(Date.now() / 1000);
  const request = makeRequest({ ...target.fleet.keys, timestamp: now }, random);
  const judgement = judge(request, target.fleet.keys, now);
  if (judgement.kind === 'authentic') tally.authentic += 1;
  const usable = connection?.isOpen ? connection : await RawConnection.open(target.instance.url);
  usable.send(serializeRequest(request));
  const response = await usable.read(request.method);
  const requestText = (): string =>
    serializeRequest(request).toString('latin1').slice(0, 600).replaceAll('\r\n', ' | ');
  if (response === undefined) tally.unanswered += 1;
  else
    account(tally, judgement, { status: response.status, problem: readProblem(response.text), requestText });
  return usable;
}

type Outcome = { readonly status: number; readonly problem: string; readonly requestText: () => string };

/** An authenticated request may fail for other reasons, such as a room that the media server does not know. */
function account(tally: Tally, judgement: Judgement, { status, problem, requestText }: Outcome): void {
  // A response to HEAD has no body that names a problem.
  const isNamed = REFUSALS.includes(problem) || requestText().startsWith('HEAD ');
  const isRefused = [400, 401, 405, 501, 505].includes(status) || (status === 403 && isNamed);
  if (status >= 500 && !/^(media|recording|recorder|ingress)/.test(problem))
    tally.serverErrors.push(`${status} ${problem}: ${requestText()}`);
  if (judgement.kind === 'authentic') {
    if (REFUSALS.includes(problem)) tally.refusedWrongly.push(`${status} ${problem}: ${requestText()}`);
    return;
  }
  if (judgement.kind === 'undecided') return;
  if (judgement.kind === 'elsewhere') {
    if (status < 400) tally.acceptedWrongly.push(`${status}: ${requestText()}`);
    return;
  }
  if (!isRefused && ![405, 501, 505].includes(status))
    tally.acceptedWrongly.push(`${status} ${problem}: ${requestText()}`);
  if (judgement.kind === 'refused' && REFUSALS.includes(problem) && problem !== judgement.problem) {
    const line = `${problem} instead of ${judgement.problem}`;
    tally.otherProblem.set(line, (tally.otherProblem.get(line) ?? 0) + 1);
    if (tally.otherProblem.get(line) === 1) tally.otherProblem.set(`${line}, such as ${requestText()}`, 0);
  }
}

function readProblem(text: string): string {
  return /"type":"urn:problem-type:rtc:([\w-]+)"/.exec(text)?.[1] ?? '';
}

function makeRequest(signing: Signing, random: Random): RawRequest {
  const base = signedRequest(random.pick(KINDS), signing);
  const draw = random.integer(100);
  if (draw < SHARES.unchanged) return base;
  const mutations = Object.values(listMutations(signing));
  const changed = random.pick(mutations)(base, random);
  if (draw < SHARES.unchanged + SHARES.resigned) return signAnew(changed, signing);
  if (draw < SHARES.unchanged + SHARES.resigned + SHARES.twice)
    return random.pick(mutations)(changed, random);
  return changed;
}

/** Signs the changed request again. */
function signAnew(request: RawRequest, signing: Signing): RawRequest {
  const { method, target, body } = request;
  const signed = signatureHeaders({ method, path: target, body }, signing);
  const names = Object.keys(signed).map((name) => name.toLowerCase());
  const others = request.headers.filter(([name]) => !names.includes(name.toLowerCase()));
  return { ...request, headers: [...others, ...Object.entries(signed)] };
}

/*
 * The expected decision about a request, computed from its bytes and the specification alone. It uses no code of the
 * service, and not the code that signed the request.
 */

type Judgement =
  | { readonly kind: 'authentic' }
  /** Not HTTP, or with a malformed header. It is refused before the signature is checked. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'refused'; readonly problem: RefusalProblem }
  /** A path outside /v1. It needs no signature, and nothing is served there. */
  | { readonly kind: 'elsewhere' }
  /** The timestamp is at a limit, and the clock may have moved. */
  | { readonly kind: 'undecided' };

type RefusalProblem =
  | 'missing-credentials'
  | 'invalid-api-key'
  | 'timestamp-out-of-window'
  | 'invalid-signature';

function judge(request: RawRequest, keys: Omit<Signing, 'timestamp'>, now: number): Judgement {
  const { method, target, headers, body } = request;
  const isWellFormed = headers.every(
    ([name, value]) => TOKEN.test(name) && ![...value].some((letter) => isControl(letter)),
  );
  if (!isWellFormed || !METHODS.test(method) || !isTarget(target)) return { kind: 'malformed' };
  if (!/^\/(v|%76)(1|%31)([/?#;]|$)/.test(target)) return { kind: 'elsewhere' };
  const headerValue = (wanted: string): string | undefined => {
    const values = headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => trim(value));
    return values.length === 0 ? undefined : values.join(', ');
  };
  const refused = (problem: RefusalProblem): Judgement => ({ kind: 'refused', problem });
  const key = headerValue('x-api-key');
  if (key === undefined || key === '') return refused('missing-credentials');
  if (key !== keys.apiKey) return refused('invalid-api-key');
  const timestamp = headerValue('x-service-timestamp');
  const signature = headerValue('x-service-signature');
  if (!timestamp || !signature) return refused('missing-credentials');
  if (!/^\d{1,12}$/.test(timestamp)) return refused('timestamp-out-of-window');
  const skew = Math.abs(Number(timestamp) - now);
  if (Math.abs(skew - WINDOW_SECONDS) <= CLOCK_SLACK_SECONDS) return { kind: 'undecided' };
  if (skew > WINDOW_SECONDS) return refused('timestamp-out-of-window');
  const digest = createHash('sha256').update(body).digest('hex');
  const lines = `${method}\n${target}\n${timestamp}\n${digest}`;
  const expected = createHmac('sha256', keys.apiSecret).update(lines).digest('hex');
  return signature.toLowerCase() === expected ? { kind: 'authentic' } : refused('invalid-signature');
}

function isControl(letter: string): boolean {
  const code = letter.charCodeAt(0);
  return (code < 0x20 && letter !== '\t') || code === 0x7f;
}

function isTarget(target: string): boolean {
  return /^\/[\x21-\x7e]*$/.test(target);
}

/** Optional white space around a value is not part of it. */
function trim(value: string): string {
  return value.replace(/^[ \t]+|[ \t]+$/g, '');
}
