import { ERROR_CODES, PROBLEMS, problemType } from '../../../contract/errors.ts';
import type { Tag } from '../http/route.ts';

export const TAG_DESCRIPTIONS: Readonly<Record<Tag, string>> = {
  tokens: 'Access tokens by role',
  rooms: "Rooms, as the media server's own objects",
  participants: 'The people in a room',
  recordings: 'Recordings of a room, MP4 files in object storage',
  sessions: 'Rooms from their opening to their end, with who was there',
  ingress: 'RTMP and WHIP streams that publish into a room',
  transcription: 'Speech to text, live and after the call',
  webhooks: 'Webhooks, their deliveries and every attempt',
  keys: 'API keys beside the root key, with scopes and an optional expiry',
  audit: 'The log of who changed what',
  events: 'What happened in rooms, in order',
  'fiscal codes':
    'Italian fiscal codes: public, open to pages of any origin, with errors in their own format',
  service: 'Whether the service runs and what it can do',
  places: 'Italian regions, provinces, places and postal codes: public, like the fiscal codes',
};

const CATALOGUE = ERROR_CODES.map((code) => {
  const { status, meaning } = PROBLEMS[code];
  return `| ${code} | ${status} | ${meaning} |`;
}).join('\n');

/** The introduction of the API reference, in Markdown. */
export const API_DESCRIPTION = `A signed API for rooms on a LiveKit media server. Only trusted back ends call it, never
client software.

## Signing

Every request under \`/v1\`, except \`GET /v1/health\`, carries three headers:

| header | content |
|---|---|
| \`X-Api-Key\` | the API key (API_KEY) |
| \`X-Service-Timestamp\` | Unix time in seconds, at most 300 s off the server's clock |
| \`X-Service-Signature\` | hex HMAC-SHA256 of the canonical string, keyed with API_SECRET |

The canonical string is four lines joined by a line feed, without one at the end: the method in upper case, the path
with its query exactly as sent, the timestamp, and the lower-case hex SHA-256 of the raw body (of the empty string
without one). If the service's address has a path, such as \`https://example.org/rtc\`, it is part of what is signed:
\`/rtc/v1/rooms\`.

\`\`\`sh
timestamp=$(date +%s)
body='{"name":"demo"}'
hash=$(printf %s "$body" \\
  | openssl dgst -sha256 -r | cut -d' ' -f1)
signature=$(printf 'POST\\n/v1/rooms\\n%s\\n%s' \\
    "$timestamp" "$hash" \\
  | openssl dgst -sha256 -hmac "$API_SECRET" -r \\
  | cut -d' ' -f1)
curl "$RTC_URL/v1/rooms" --data "$body" \\
  -H 'Content-Type: application/json' \\
  -H "X-Api-Key: $API_KEY" \\
  -H "X-Service-Timestamp: $timestamp" \\
  -H "X-Service-Signature: $signature"
\`\`\`

\`rtc api METHOD PATH\` signs and sends any request; with \`--curl\` it prints it, signed, as a curl command.

## Bodies

Bodies are JSON in UTF-8, nested at most 100 levels deep. An optional field of a body that is \`null\` counts as absent.

## Errors

Every error is \`application/problem+json\` (RFC 9457): \`type\` (\`${problemType('room-not-found')}\` and so on), \`title\` (the HTTP reason phrase), \`status\`, \`detail\`,
\`instance\` (the request id, also in X-Request-Id), and for validation \`errors\`, which names every bad field
(\`pointer\` into the body, or \`parameter\`), up to 100 of them: \`errorsTruncated\` says that there are more. Under \`/cf\` and \`/it\` every error is \`{name, message, code}\` instead.

| code | status | meaning |
|---|---|---|
${CATALOGUE}
`;
