import { indent, lines, type SampleRequest } from './sample-request.ts';

/** Writes a sample that uses only the standard library. */
export function goSample({ method, path, body, isSigned }: SampleRequest): string {
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
    isSigned && '\tfmt.Fprintf(mac, "%s\\n%s\\n%s\\n%x", method, path, timestamp, hash)',
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
export function javaSample({ method, path, body, isSigned }: SampleRequest): string {
  const text = body === undefined ? '""' : `"""\n        ${indent(escaped(body), '        ')}"""`;
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
      '        var signature = mac.doFinal(String.join("\\n", method, path, timestamp, hash).getBytes("UTF-8"));',
    isSigned && '        request.header("X-Api-Key", System.getenv("API_KEY"))',
    isSigned && '            .header("X-Service-Timestamp", timestamp)',
    isSigned && '            .header("X-Service-Signature", HexFormat.of().formatHex(signature));',
    '        var response = HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());',
    '        System.out.println(response.statusCode() + " " + response.body());',
    '    }',
    '}',
  );
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\');
}

/** Writes a sample for .NET 8, as Program.cs of a console application. */
export function cSharpSample({ method, path, body, isSigned }: SampleRequest): string {
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
    isSigned && 'var text = Encoding.UTF8.GetBytes($"{method}\\n{path}\\n{timestamp}\\n{hash}");',
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
