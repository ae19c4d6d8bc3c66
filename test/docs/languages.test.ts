import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SAMPLE_LANGUAGES } from '../support/parts/sample-languages.ts';
import { ROOT } from './pages.ts';

/* Runs the functions of clients/README.md on the vectors that all clients are tested with. */

type Vectors = {
  readonly requests: readonly {
    readonly title: string;
    readonly apiSecret: string;
    readonly method: string;
    readonly path: string;
    readonly timestamp: string;
    readonly body: string;
    readonly signature: string;
  }[];
  readonly webhooks: readonly {
    readonly title: string;
    readonly secret: string;
    readonly now: number;
    readonly body: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly standard: boolean;
  }[];
};

const run = promisify(execFile);

let folder: string;
let vectors: Vectors;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-languages-'));
  vectors = JSON.parse(await readFile(join(ROOT, 'data/vectors/signing.json'), 'utf8'));
  await writeFile(join(folder, 'cases'), cases(vectors));
});
afterAll(() => rm(folder, { recursive: true }));

/** One case a line, with fields in base64, because Java has no JSON parser. */
function cases({ requests, webhooks }: Vectors): string {
  const line = (...fields: readonly string[]): string =>
    fields.map((field) => Buffer.from(field).toString('base64')).join('\t');
  return [
    ...requests.map(({ apiSecret, method, path, timestamp, body }) =>
      line('sign', apiSecret, method, path, timestamp, body),
    ),
    ...webhooks.map(({ secret, headers, body, now }) =>
      line('verify', secret, String(now), body, ...Object.entries(headers).flat()),
    ),
  ].join('\n');
}

function expected({ requests, webhooks }: Vectors): readonly string[] {
  return [
    ...requests.map(({ title, signature }) => `${title}: ${signature}`),
    ...webhooks.map(({ title, standard }) => `${title}: ${standard}`),
  ];
}

function results({ requests, webhooks }: Vectors, output: string): readonly string[] {
  const titles = [...requests, ...webhooks].map(({ title }) => title);
  return output
    .trimEnd()
    .split('\n')
    .map((result, index) => `${titles[index]}: ${result}`);
}

async function findBlock(language: string): Promise<string> {
  const page = await readFile(join(ROOT, 'clients/README.md'), 'utf8');
  const [, code] = new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page) ?? [];
  return code ?? expect.unreachable(language);
}

const PHP_MAIN = `
foreach (file(__DIR__ . '/cases', FILE_IGNORE_NEW_LINES) as $line) {
    [$kind, $secret, $first, $second, $third, $fourth] = array_pad($all = array_map('base64_decode', explode("\\t", $line)), 6, '');
    if ($kind === 'sign') { echo sign_request($secret, $first, $second, $third, $fourth), "\\n"; continue; }
    $headers = [];
    for ($at = 4; $at < count($all); $at += 2) $headers[$all[$at]] = $all[$at + 1];
    echo verify_webhook($secret, $headers, $second, (int) $first) ? 'true' : 'false', "\\n";
}
`;

const JAVA_MAIN = `
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

class Main {
  public static void main(String[] args) throws Exception {
    for (var line : Files.readAllLines(Path.of(args[0]))) {
      var all = new ArrayList<byte[]>();
      for (var field : line.split("\\t", -1)) all.add(Base64.getDecoder().decode(field));
      var text = all.stream().map((bytes) -> new String(bytes, StandardCharsets.UTF_8)).toList();
      if (text.get(0).equals("sign")) {
        System.out.println(RtcSigning.signRequest(text.get(1), text.get(2), text.get(3), text.get(4), all.get(5)));
        continue;
      }
      var headers = new HashMap<String, String>();
      for (var at = 4; at < text.size(); at += 2) headers.put(text.get(at), text.get(at + 1));
      System.out.println(RtcSigning.verifyWebhook(text.get(1), headers, all.get(3), Long.parseLong(text.get(2))));
    }
  }
}
`;

it('the documented functions in PHP pass every vector', async () => {
  const { PHP } = SAMPLE_LANGUAGES;
  if (PHP === undefined) return expect.unreachable();
  await writeFile(join(folder, PHP.file), (await findBlock('php')) + PHP_MAIN);
  const { program, args } = PHP.run(folder);
  const { stdout } = await run(program, args);
  expect(results(vectors, stdout)).toEqual(expected(vectors));
});

it('the documented functions in Java pass every vector', async () => {
  const sources = [join(folder, 'RtcSigning.java'), join(folder, 'Main.java')] as const;
  await writeFile(sources[0], await findBlock('java'));
  await writeFile(sources[1], JAVA_MAIN);
  await run('javac', ['-d', folder, '-encoding', 'UTF-8', ...sources]);
  const { stdout } = await run('java', ['-cp', folder, 'Main', join(folder, 'cases')]);
  expect(results(vectors, stdout)).toEqual(expected(vectors));
});
