import type { TSchema } from 'typebox';
import type { Route } from '../../http/route.ts';
import { createExample, type JsonObject, recordedOperation } from '../schema-document.ts';
import { indent, lines, type SampleRequest, typescriptSample } from './typescript.ts';

/*
 * Writes code samples of each operation, with the values of its example. By itself the page would show requests without a
 * signature, which the service rejects. `x-codeSamples` is Redoc's extension, which other pages support too:
 * https://redocly.com/docs-legacy/api-reference-docs/specification-extensions/x-code-samples
 */

type Language = {
  readonly lang: string;
  readonly label: string;
  readonly write: (request: SampleRequest) => string;
};

/** Languages in the document itself. More of them would be most of the document. */
const SHELL: readonly Language[] = [
  { lang: 'Shell', label: 'curl', write: curlSample },
  { lang: 'Shell', label: 'rtc', write: rtcSample },
];

/** Further languages on the page. */
const OTHERS: readonly Language[] = [
  { lang: 'TypeScript', label: 'TypeScript', write: typescriptSample },
  { lang: 'Python', label: 'Python', write: pythonSample },
  { lang: 'Go', label: 'Go', write: goSample },
  { lang: 'PHP', label: 'PHP', write: phpSample },
  { lang: 'Java', label: 'Java', write: javaSample },
  // No toolchain of the tests runs this one, which the page of the clients says too.
  { lang: 'C#', label: 'C#', write: cSharpSample },
];

/** @param basePath part of the path that is signed, and of RTC_URL */
export function shellSamples(route: Route, basePath: string): readonly JsonObject[] {
  return samplesIn(SHELL, sampleRequest(route, basePath));
}

export type Samples = ReadonlyMap<string, readonly JsonObject[]>;

/** Returns the samples in every language by the operation. */
export function allSamples(routes: readonly Route[], basePath: string): Samples {
  const languages = [...SHELL, ...OTHERS];
  return new Map(
    routes.map((route) => [route.operationId, samplesIn(languages, sampleRequest(route, basePath))]),
  );
}

function samplesIn(languages: readonly Language[], request: SampleRequest): readonly JsonObject[] {
  return languages
    .filter(({ label }) => request.isSigned || label !== 'rtc')
    .map(({ lang, label, write }) => ({ lang, label, source: write(request) }));
}

function sampleRequest(route: Route, basePath: string): SampleRequest {
  const recorded = recordedOperation(route.operationId);
  const values = recorded?.path ?? textExamples(route.params);
  const query = recorded?.query ?? readRequiredExamples(route.query);
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? name),
  );
  const parameters = new URLSearchParams(query).toString();
  const body = recorded?.body ?? (route.body === undefined ? undefined : createExample(route.body));
  return {
    operationId: route.operationId,
    method: route.method,
    path: parameters === '' ? path : `${path}?${parameters}`,
    basePath,
    values: Object.values(values),
    query,
    body: body === undefined ? undefined : JSON.stringify(body, undefined, 2),
    isSigned: route.security === 'signed',
  };
}

function textExamples(schema: TSchema | undefined): Readonly<Record<string, string>> {
  const values: object = schema === undefined ? {} : { ...Object(createExample(schema)) };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

function readRequiredExamples(schema: TSchema | undefined): Readonly<Record<string, string>> {
  const { required = [] }: { readonly required?: readonly string[] } = schema ?? {};
  return Object.fromEntries(Object.entries(textExamples(schema)).filter(([name]) => required.includes(name)));
}

/** Writes a sample that signs with openssl, which is installed everywhere. */
function curlSample({ method, path, basePath, body, isSigned }: SampleRequest): string {
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
  const written = body === undefined ? "''" : quote(body);
  return lines(
    `path=${quote(path)}`,
    (isSigned || body !== undefined) && `body=${written}`,
    isSigned && 'timestamp=$(date +%s)',
    isSigned && `hash=$(printf %s "$body" | openssl dgst -sha256 -r | cut -d' ' -f1)`,
    isSigned && `signature=$(printf '${method}\\n%s\\n%s\\n%s' "${basePath}$path" "$timestamp" "$hash" \\`,
    isSigned && `  | openssl dgst -sha256 -hmac "$API_SECRET" -r | cut -d' ' -f1)`,
    options.join(' \\\n'),
  );
}

/** Writes a sample with `rtc api`, which signs and sends any request. */
function rtcSample({ method, path, body }: SampleRequest): string {
  const command = `rtc api ${method} ${quote(path)}`;
  return body === undefined ? command : `${command} \\\n  --data ${quote(body)}`;
}

/** Quotes the text for a POSIX shell. */
function quote(text: string): string {
  return /^[\w/.=?%:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Writes a sample that uses only the standard library. */
function pythonSample({ method, path, basePath, body, isSigned }: SampleRequest): string {
  return lines(
    isSigned ? 'import hashlib, hmac, os, time' : 'import os',
    'from urllib.request import Request, urlopen',
    '',
    `method, path = "${method}", ${JSON.stringify(path)}`,
    body === undefined ? 'body = b""' : `body = r'''${body}'''.encode()`,
    isSigned && 'timestamp = str(int(time.time()))',
    isSigned &&
      `text = "\\n".join([method, ${basePath === '' ? '' : `"${basePath}" + `}path, timestamp, hashlib.sha256(body).hexdigest()])`,
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
function phpSample({ method, path, basePath, body, isSigned }: SampleRequest): string {
  const header = (name: string, value: string): string => `    '${name}: ' . ${value},`;
  return lines(
    '<?php',
    `[$method, $path] = ['${method}', '${path}'];`,
    body === undefined ? "$body = '';" : `$body = <<<'JSON'\n${body}\nJSON;`,
    isSigned && '$timestamp = time();',
    isSigned && `$text = "$method\\n${basePath}$path\\n$timestamp\\n" . hash('sha256', $body);`,
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

/** Writes a sample that uses only the standard library. */
function goSample({ method, path, basePath, body, isSigned }: SampleRequest): string {
  const imports = [
    ...(isSigned ? ['crypto/hmac', 'crypto/sha256', 'encoding/hex'] : []),
    'fmt',
    'io',
    'net/http',
    'os',
    ...(isSigned ? ['strconv'] : []),
    'strings',
    ...(isSigned ? ['time'] : []),
  ];
  return lines(
    'package main',
    '',
    'import (',
    ...imports.map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    `\tmethod, path := "${method}", ${JSON.stringify(path)}`,
    `\tbody := \`${body ?? ''}\``,
    '\trequest, err := http.NewRequest(method, os.Getenv("RTC_URL")+path, strings.NewReader(body))',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    body !== undefined && '\trequest.Header.Set("Content-Type", "application/json")',
    isSigned && '\ttimestamp := strconv.FormatInt(time.Now().Unix(), 10)',
    isSigned && '\thash := sha256.Sum256([]byte(body))',
    isSigned && '\tmac := hmac.New(sha256.New, []byte(os.Getenv("API_SECRET")))',
    isSigned && `\tfmt.Fprintf(mac, "%s\\n${basePath}%s\\n%s\\n%x", method, path, timestamp, hash)`,
    isSigned && '\trequest.Header.Set("X-Api-Key", os.Getenv("API_KEY"))',
    isSigned && '\trequest.Header.Set("X-Service-Timestamp", timestamp)',
    isSigned && '\trequest.Header.Set("X-Service-Signature", hex.EncodeToString(mac.Sum(nil)))',
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tdefer response.Body.Close()',
    '\tanswer, _ := io.ReadAll(response.Body)',
    '\tfmt.Println(response.Status, string(answer))',
    '}',
  );
}

/** Writes a sample for Java 17: a file that runs as it is, `java Sample.java`. */
function javaSample({ method, path, basePath, body, isSigned }: SampleRequest): string {
  const text = body === undefined ? '""' : `"""\n        ${indent(escapeQuotes(body), '        ')}"""`;
  const publisher = body === undefined ? 'noBody()' : 'ofString(body)';
  return lines(
    'import java.net.URI;',
    'import java.net.http.*;',
    isSigned && 'import java.security.MessageDigest;',
    isSigned && 'import java.time.Instant;',
    isSigned && 'import java.util.HexFormat;',
    isSigned && 'import javax.crypto.Mac;',
    isSigned && 'import javax.crypto.spec.SecretKeySpec;',
    '',
    'class Sample {',
    '    public static void main(String[] args) throws Exception {',
    `        var method = "${method}";`,
    `        var path = ${JSON.stringify(path)};`,
    (isSigned || body !== undefined) && `        var body = ${text};`,
    '        var request = HttpRequest.newBuilder(URI.create(System.getenv("RTC_URL") + path))',
    `            .method(method, HttpRequest.BodyPublishers.${publisher});`,
    body !== undefined && '        request.header("Content-Type", "application/json");',
    isSigned && '        var timestamp = String.valueOf(Instant.now().getEpochSecond());',
    isSigned &&
      '        var hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body.getBytes("UTF-8")));',
    isSigned && '        var mac = Mac.getInstance("HmacSHA256");',
    isSigned &&
      '        mac.init(new SecretKeySpec(System.getenv("API_SECRET").getBytes("UTF-8"), "HmacSHA256"));',
    isSigned &&
      `        var signature = mac.doFinal(String.join("\\n", method, ${basePath === '' ? '' : `"${basePath}" + `}path, timestamp, hash).getBytes("UTF-8"));`,
    isSigned && '        request.header("X-Api-Key", System.getenv("API_KEY"))',
    isSigned && '            .header("X-Service-Timestamp", timestamp)',
    isSigned && '            .header("X-Service-Signature", HexFormat.of().formatHex(signature));',
    '        var response = HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());',
    '        System.out.println(response.statusCode() + " " + response.body());',
    '    }',
    '}',
  );
}

function escapeQuotes(text: string): string {
  return text.replaceAll('\\', '\\\\');
}

/** Writes a sample for .NET 8, as Program.cs of a console application. */
function cSharpSample({ method, path, basePath, body, isSigned }: SampleRequest): string {
  const text = body === undefined ? '""' : `"""\n${body}\n"""`;
  return lines(
    isSigned && 'using System.Security.Cryptography;',
    'using System.Text;',
    '',
    'string Env(string name) => Environment.GetEnvironmentVariable(name)!;',
    `var (method, path) = ("${method}", ${JSON.stringify(path)});`,
    (isSigned || body !== undefined) && `var body = ${text};`,
    'using var request = new HttpRequestMessage(new HttpMethod(method), Env("RTC_URL") + path);',
    body !== undefined && 'request.Content = new StringContent(body, Encoding.UTF8, "application/json");',
    isSigned && 'var timestamp = DateTimeOffset.UtcNow.ToUnixTimeSeconds().ToString();',
    isSigned &&
      'var hash = Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(body))).ToLowerInvariant();',
    isSigned && `var text = Encoding.UTF8.GetBytes($"{method}\\n${basePath}{path}\\n{timestamp}\\n{hash}");`,
    isSigned && 'var signature = HMACSHA256.HashData(Encoding.UTF8.GetBytes(Env("API_SECRET")), text);',
    isSigned && 'request.Headers.Add("X-Api-Key", Env("API_KEY"));',
    isSigned && 'request.Headers.Add("X-Service-Timestamp", timestamp);',
    isSigned &&
      'request.Headers.Add("X-Service-Signature", Convert.ToHexString(signature).ToLowerInvariant());',
    'using var client = new HttpClient();',
    'using var response = await client.SendAsync(request);',
    'Console.WriteLine($"{(int)response.StatusCode} {await response.Content.ReadAsStringAsync()}");',
  );
}
