import { lines, type SampleRequest } from './sample-request.ts';

/** Writes a sample that uses only the standard library. */
export function pythonSample({ method, path, body, isSigned }: SampleRequest): string {
  return lines(
    isSigned ? 'import hashlib, hmac, os, time' : 'import os',
    'from urllib.request import Request, urlopen',
    '',
    `method, path = "${method}", ${JSON.stringify(path)}`,
    body === undefined ? 'body = b""' : `body = r'''${body}'''.encode()`,
    isSigned && 'timestamp = str(int(time.time()))',
    isSigned && 'text = "\\n".join([method, path, timestamp, hashlib.sha256(body).hexdigest()])',
    isSigned && 'signature = hmac.new(os.environ["API_SECRET"].encode(), text.encode(), hashlib.sha256)',
    '',
    'request = Request(os.environ["RTC_URL"] + path, data=body or None, method=method, headers={',
    body !== undefined && '    "Content-Type": "application/json",',
    isSigned && '    "X-Api-Key": os.environ["API_KEY"],',
    isSigned && '    "X-Service-Timestamp": timestamp,',
    isSigned && '    "X-Service-Signature": signature.hexdigest(),',
    '})',
    'with urlopen(request) as response:',
    '    print(response.status, response.read().decode(errors="replace"))',
  );
}

/** Writes a sample that needs no extensions. */
export function phpSample({ method, path, body, isSigned }: SampleRequest): string {
  const header = (name: string, value: string): string => `    '${name}: ' . ${value},`;
  return lines(
    '<?php',
    `[$method, $path] = ['${method}', '${path}'];`,
    body === undefined ? "$body = '';" : `$body = <<<'JSON'\n${body}\nJSON;`,
    isSigned && '$timestamp = time();',
    isSigned && '$text = "$method\\n$path\\n$timestamp\\n" . hash(\'sha256\', $body);',
    '$headers = [',
    body !== undefined && "    'Content-Type: application/json',",
    isSigned && header('X-Api-Key', "getenv('API_KEY')"),
    isSigned && header('X-Service-Timestamp', '$timestamp'),
    isSigned && header('X-Service-Signature', "hash_hmac('sha256', $text, getenv('API_SECRET'))"),
    '];',
    '',
    "$options = ['method' => $method, 'header' => $headers, 'content' => $body, 'ignore_errors' => true];",
    "$answer = file_get_contents(getenv('RTC_URL') . $path, false, stream_context_create(['http' => $options]));",
    'echo $http_response_header[0], "\\n", $answer, "\\n";',
  );
}
