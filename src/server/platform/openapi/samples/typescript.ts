/** Methods of the client by operation. The arguments are the values of the path, then the body or the query. */
const METHODS: Readonly<Record<string, string>> = {
  createToken: 'tokens.create',
  refreshToken: 'tokens.refresh',
  createRoom: 'rooms.create',
  listRooms: 'rooms.list',
  getRoom: 'rooms.get',
  deleteRoom: 'rooms.delete',
  listParticipants: 'participants.list',
  removeParticipant: 'participants.remove',
  startRecording: 'recordings.start',
  stopRecording: 'recordings.stop',
  getRecordingStatus: 'recordings.status',
  listRecordings: 'recordings.list',
  getRecording: 'recordings.get',
  deleteRecording: 'recordings.delete',
  startBroadcast: 'broadcasts.start',
  changeBroadcast: 'broadcasts.change',
  stopBroadcast: 'broadcasts.stop',
  getBroadcastStatus: 'broadcasts.status',
  listBroadcasts: 'broadcasts.list',
  deleteBroadcast: 'broadcasts.delete',
  createIngress: 'ingress.create',
  listIngress: 'ingress.list',
  deleteIngress: 'ingress.delete',
  startTranscription: 'transcription.start',
  stopTranscription: 'transcription.stop',
  getTranscription: 'transcription.get',
  nameSpeakers: 'transcription.nameSpeakers',
  createTranscription: 'transcriptions.create',
  listTranscriptions: 'transcriptions.list',
  getTranscriptionById: 'transcriptions.get',
  nameSpeakersById: 'transcriptions.nameSpeakers',
  deleteTranscription: 'transcriptions.delete',
  createWebhook: 'webhooks.create',
  listWebhooks: 'webhooks.list',
  getWebhook: 'webhooks.get',
  patchWebhook: 'webhooks.update',
  putWebhook: 'webhooks.put',
  deleteWebhook: 'webhooks.delete',
  testWebhook: 'webhooks.test',
  listDeliveries: 'deliveries.list',
  replayDelivery: 'deliveries.replay',
  checkSelf: 'checkSelf',
};

export function typescriptSample(request: SampleRequest): string {
  if (!request.isSigned) return fetchSample(request);
  return lines(
    "import { RtcClient } from '@rtc-service/client';",
    '',
    "const { RTC_URL: url = '', API_KEY: apiKey = '', API_SECRET: apiSecret = '' } = process.env;",
    'const client = new RtcClient({ url, apiKey, apiSecret });',
    '',
    `const answer = await client.${writeCall(request)};`,
    'console.log(answer);',
    'await client.close();',
  );
}

function writeCall(request: SampleRequest): string {
  const { operationId, method, path, values, query, body } = request;
  const name = METHODS[operationId];
  if (name === undefined) {
    const options = body === undefined ? '' : `, { body: JSON.stringify(${literal(JSON.parse(body))}) }`;
    return `request(${literal(method)}, ${literal(path)}${options})`;
  }
  const options = body === undefined ? withNumbers(query) : toArgument(name, JSON.parse(body));
  const last = Object.keys(options).length === 0 ? [] : [options];
  return `${name}(${[...values, ...last].map(literal).join(', ')})`;
}

/** The names of speakers are an argument by themselves. */
function toArgument(name: string, body: object): object {
  return name.endsWith('nameSpeakers') && 'participants' in body ? Object(body.participants) : body;
}

function withNumbers(query: Readonly<Record<string, string>>): object {
  const values = Object.entries(query).map(([name, value]) => [
    name,
    name === 'limit' ? Number(value) : value,
  ]);
  return Object.fromEntries(values);
}

/** Writes a value like a person does: names without quotes, texts in single quotes. */
function literal(value: unknown): string {
  return JSON.stringify(value, undefined, 2)
    .replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:')
    .replaceAll(/"((?:[^"\\]|\\.)*)"/g, (whole, text: string) =>
      text.includes("'") ? whole : `'${text.replaceAll('\\"', '"')}'`,
    );
}

function fetchSample({ method, path, body }: SampleRequest): string {
  const options = lines(
    `, {`,
    `  method: '${method}',`,
    body !== undefined && "  headers: { 'Content-Type': 'application/json' },",
    body !== undefined && `  body: JSON.stringify(${literal(JSON.parse(body)).replaceAll('\n', '\n  ')}),`,
    '}',
  );
  const argument = method === 'GET' ? '' : options;
  return lines(
    `const response = await fetch(\`\${process.env.RTC_URL}${path}\`${argument});`,
    'console.log(response.status, await response.text());',
  );
}

/** The request of a sample. Each sample reads RTC_URL, API_KEY and API_SECRET from the environment. */
export type SampleRequest = {
  readonly operationId: string;
  readonly method: string;
  /** Path with its query, which follows RTC_URL. */
  readonly path: string;
  /** The path of RTC_URL, which is signed before the request's own path; empty without one. */
  readonly basePath: string;
  /** Values of the path's parameters, in order. */
  readonly values: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  /** JSON on several lines; undefined without a body. */
  readonly body: string | undefined;
  readonly isSigned: boolean;
};

/** Puts `prefix` before each line except the first. */
export function indent(text: string, prefix: string): string {
  return text.replaceAll('\n', `\n${prefix}`);
}

/** Joins lines of code, and leaves out those that are false. */
export function lines(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join('\n');
}
