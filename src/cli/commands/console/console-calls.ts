import { jsonResponse, type PageResponse, problem } from '../../pages/page-response.ts';
import type { ConsoleTarget } from './console-target.ts';
import { errorResponse } from './error-response.ts';
import { saveSessions } from './save-sessions.ts';

/** A request of the page, with its body read. */
export type ConsoleCall = {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly body: string;
  readonly range: string | undefined;
  readonly signal: AbortSignal;
};

/** Calls of the page that the command line answers itself. */
export async function answerConsoleCall(
  target: ConsoleTarget,
  { method, url, body, signal }: ConsoleCall,
): Promise<PageResponse> {
  const { info } = target;
  try {
    switch (`${method} ${url}`) {
      case 'GET /console/info':
        return jsonResponse(200, info);
      case 'POST /console/checks':
        return jsonResponse(200, { checks: await target.runChecks({ withProbe: false }) });
      case 'POST /console/probe':
        if (info.isReadOnly) return readOnlyProblem();
        return jsonResponse(200, { checks: await target.runChecks({ withProbe: true }) });
      case 'POST /console/rooms/open':
        if (info.isReadOnly) return readOnlyProblem();
        return jsonResponse(200, { link: await target.openRoom(roomOf(body)) });
      default: {
        const saved = method === 'GET' ? await saveSessions(target.client, { url, signal }) : undefined;
        return saved ?? problem(404, 'The console has no such call.');
      }
    }
  } catch (error) {
    return errorResponse(error);
  }
}

export function readOnlyProblem(): PageResponse {
  return problem(403, 'This console only reads: it was started with --read-only.', {
    text: 'start it without --read-only to change something',
  });
}

function roomOf(body: string): string {
  const value: unknown = JSON.parse(body);
  const isObject = typeof value === 'object' && value !== null && 'room' in value;
  return isObject && typeof value.room === 'string' ? value.room : '';
}
