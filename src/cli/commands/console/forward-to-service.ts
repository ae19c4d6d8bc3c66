import type { ServiceResponse } from '../../../client/client-options.ts';
import { type PageResponse, problem } from '../../pages/page-response.ts';
import { type ConsoleCall, readOnlyProblem } from './console-calls.ts';
import type { ConsoleTarget } from './console-target.ts';
import { errorResponse } from './error-response.ts';
import { playRecording } from './play-recording.ts';

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Time limit: a long poll lasts 25 s, a recorder may take as long to start, and the request itself takes time. */
const TIMEOUT_MS = 45_000;
/** Headers of the service's response that the page or the browser reads. */
const PASSED_HEADERS = ['content-type', 'retry-after', 'x-request-id', 'x-room-existed', 'x-room-ignored'];

const RECORDING_FILE = /^\/api\/v1\/recordings\/([^/?]+)\/file(\?download)?$/;

/** Signs `/api/v1/…` and forwards it as `/v1/…`. */
export async function forwardToService(target: ConsoleTarget, call: ConsoleCall): Promise<PageResponse> {
  const { method, url, body, signal } = call;
  if (!METHODS.includes(method)) return problem(405, 'This method is not served here.');
  if (target.info.isReadOnly && method !== 'GET') return readOnlyProblem();
  const path = url.slice('/api'.length);
  if (!path.startsWith('/v1/')) return problem(404, 'Only /v1 is behind the console.');
  try {
    const file = RECORDING_FILE.exec(url);
    if (method === 'GET' && file !== null) {
      return await playRecording(target.client, {
        id: decodeURIComponent(file[1] ?? ''),
        isDownload: file[2] !== undefined,
        range: call.range,
        signal,
      });
    }
    const response = await target.client.request(method, path, {
      ...(body === '' ? {} : { body }),
      signal,
      timeoutMs: TIMEOUT_MS,
      maxAttempts: 1,
    });
    return passOn(response);
  } catch (error) {
    return errorResponse(error);
  }
}

function passOn({ status, headers, body }: ServiceResponse): PageResponse {
  const passed = PASSED_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { status, body, headers: { ...Object.fromEntries(passed), 'cache-control': 'no-store' } };
}
