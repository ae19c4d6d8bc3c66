import { lines, type SampleRequest } from './sample-request.ts';

/** Writes a sample that signs with openssl, which is installed everywhere. */
export function curlSample({ method, path, body, isSigned }: SampleRequest): string {
  const json = `  -H 'Content-Type: application/json' --data "$body"`;
  const options = [
    `curl -sS -X ${method} "$RTC_URL$path"`,
    ...(body === undefined ? [] : [json]),
    ...(isSigned
      ? [
          `  -H "X-Api-Key: $API_KEY"`,
          `  -H "X-Service-Timestamp: $timestamp"`,
          `  -H "X-Service-Signature: $signature"`,
        ]
      : []),
  ];
  const written = body === undefined ? "''" : quoted(body);
  return lines(
    `path=${quoted(path)}`,
    (isSigned || body !== undefined) && `body=${written}`,
    isSigned && 'timestamp=$(date +%s)',
    isSigned && `hash=$(printf %s "$body" | openssl dgst -sha256 -r | cut -d' ' -f1)`,
    isSigned && `signature=$(printf '${method}\\n%s\\n%s\\n%s' "$path" "$timestamp" "$hash" \\`,
    isSigned && `  | openssl dgst -sha256 -hmac "$API_SECRET" -r | cut -d' ' -f1)`,
    options.join(' \\\n'),
  );
}

/** Writes a sample with `rtc api`, which signs and sends any request. */
export function rtcSample({ method, path, body }: SampleRequest): string {
  const command = `rtc api ${method} ${quoted(path)}`;
  return body === undefined ? command : `${command} \\\n  --data ${quoted(body)}`;
}

/** Quotes the text for a POSIX shell. */
function quoted(text: string): string {
  return /^[\w/.=?%:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
