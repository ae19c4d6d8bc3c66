import { RtcError } from '../../../client/rtc-error.ts';
import { pause } from '../../../client/transport/retry.ts';
import { EXIT } from '../../errors/cli-error.ts';
import { describeError } from '../../errors/describe-error.ts';
import type { Io } from '../../terminal/io.ts';
import { jsonLine, renderList, select } from '../../terminal/output.ts';
import { type ListResult, nothing, type Result, type Row } from '../../terminal/result.ts';
import { printStatus } from '../../terminal/terminal.ts';
import { clockTime } from '../../terminal/time.ts';
import type { Context } from '../context.ts';

const POLL_INTERVAL_MS = 2000;

/** Home, then erase below: redraws without the flicker of clearing first. */
const REDRAW = '\u001b[H\u001b[J';

/** A screen of its own, like that of less and top: the earlier content returns at the end. */
const ENTER = '\u001b[?1049h\u001b[?25l';

const LEAVE = '\u001b[?25h\u001b[?1049l';

/**
 * Reads again every two seconds until the signal: on a terminal the table is redrawn and q ends it, elsewhere each change is
 * one JSON line `{"change":"added"|"changed"|"removed","record":{…}}`. An unavailable service is reported and awaited.
 */
export async function watchList(context: Context, read: () => Promise<ListResult>): Promise<Result> {
  const { terminal, io } = context;
  const isDrawn = terminal.isTerminal && terminal.json === undefined;
  const ended = new AbortController();
  const keys = isDrawn ? readKeys(io, () => ended.abort()) : undefined;
  const signal = AbortSignal.any([io.signal, ended.signal]);
  const ending = keys === undefined ? 'Ctrl-C ends' : 'q ends';
  if (isDrawn) io.stdout.write(ENTER);
  try {
    await Promise.race([
      waitForAbort(ended.signal),
      follow(context, read, {
        signal,
        draw: isDrawn ? (result) => draw(context, result, ending) : undefined,
      }),
    ]);
  } finally {
    keys?.close();
    if (isDrawn) io.stdout.write(LEAVE);
  }
  return nothing();
}

/** A key ends the watch even while the service is slow to respond. */
async function waitForAbort(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

type Watch = {
  readonly signal: AbortSignal;
  /** Draws the list on a terminal; undefined when changes are printed. */
  readonly draw: ((result: ListResult) => Promise<void>) | undefined;
};

async function follow(
  context: Context,
  read: () => Promise<ListResult>,
  { signal, draw: drawList }: Watch,
): Promise<void> {
  let before: ReadonlyMap<string, Row> = new Map();
  let isFirst = true;
  while (!signal.aborted) {
    const result = isFirst ? await read() : await readAgain(context, read);
    if (result !== undefined && !signal.aborted) {
      if (drawList !== undefined) await drawList(result);
      else before = printChanges(context, before, result);
      isFirst = false;
    }
    await pause(POLL_INTERVAL_MS, signal).catch(() => undefined);
  }
}

/** A temporary error is reported, and the watch continues. Every other error ends it. */
async function readAgain(context: Context, read: () => Promise<ListResult>): Promise<ListResult | undefined> {
  try {
    return await read();
  } catch (error) {
    const description = describeError(error, context.io.clock());
    const mayPass = error instanceof RtcError && description.exitCode === EXIT.unavailable;
    if (!mayPass || context.io.signal.aborted) throw error;
    printStatus(context.terminal, `${description.cause}; still watching`);
    return undefined;
  }
}

async function draw(context: Context, result: ListResult, ending: string): Promise<void> {
  const { terminal, io } = context;
  const body = result.rows.length === 0 ? `${result.empty}\n` : await renderList(terminal, result);
  const { text, hidden } = firstLines(body, (io.stdout.rows || Number.POSITIVE_INFINITY) - STATUS_LINES);
  const more = hidden === 0 ? '' : `${hidden} more · `;
  const status = terminal.palette.faint(`${more}${clockTime(io.clock())} · every 2 s · ${ending}`);
  io.stdout.write(`${REDRAW}${text}\n${status}`);
}

/** The empty line and the status: with more lines than fit, a terminal would scroll the headings away. */
const STATUS_LINES = 2;

function firstLines(body: string, most: number): { readonly text: string; readonly hidden: number } {
  const lines = body.trimEnd().split('\n');
  const hidden = Math.max(0, lines.length - Math.max(1, most));
  return { text: `${lines.slice(0, lines.length - hidden).join('\n')}\n`, hidden };
}

function printChanges(
  context: Context,
  before: ReadonlyMap<string, Row>,
  result: ListResult,
): ReadonlyMap<string, Row> {
  const now = new Map(result.rows.map((row) => [row.key, row]));
  const { terminal } = context;
  const { json } = terminal;
  const shown = (row: Row): object =>
    json === undefined || json === 'everything' ? row.record : select(row.record, json);
  const print = (change: string, row: Row): void => {
    context.io.stdout.write(`${jsonLine(terminal, { change, record: shown(row) })}\n`);
  };
  for (const [key, row] of now) {
    const earlier = before.get(key);
    if (earlier === undefined) print('added', row);
    else if (JSON.stringify(shown(earlier)) !== JSON.stringify(shown(row))) print('changed', row);
  }
  for (const [key, row] of before) if (!now.has(key)) print('removed', row);
  return now;
}

type KeyReader = { readonly close: () => void };

const CTRL_C = '\u0003';

/**
 * Calls `onEnd` for q and Ctrl-C while something is drawn. Raw mode keeps typed characters out of the drawing, and delivers
 * Ctrl-C as a character. Returns undefined when nobody can type.
 */
function readKeys({ stdin }: Io, onEnd: () => void): KeyReader | undefined {
  if (stdin.isTTY !== true || stdin.setRawMode === undefined) return undefined;
  const onData = (typed: Buffer): void => {
    const keys = typed.toString();
    if (keys.includes('q') || keys.includes(CTRL_C)) onEnd();
  };
  stdin.setRawMode(true);
  stdin.on('data', onData);
  return {
    close: () => {
      stdin.off('data', onData);
      stdin.setRawMode?.(false);
      stdin.pause();
    },
  };
}
