import { request } from 'node:http';

type Answer = readonly [status: number | undefined, location: string | undefined];

/** Asks for a page by another name of its host. fetch does not let the caller set Host. */
export function readAnswer(url: string, host: string): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  request(url, { headers: { host } }, (response) => {
    response.resume();
    resolve([response.statusCode, response.headers.location]);
  })
    .on('error', reject)
    .end();
  return promise;
}

export async function readStatus(url: string, host: string): Promise<number | undefined> {
  const [status] = await readAnswer(url, host);
  return status;
}

/** Names that can be bound to this machine, and forms of its address that are not those of the page. */
export function listOtherHosts(origin: string): readonly string[] {
  const { port } = new URL(origin);
  return [
    ...['evil.example', `evil.example:${port}`, '127.0.0.1', '127.0.0.1:1'],
    ...[`0.0.0.0:${port}`, `[::1]:${port}`, `127.0.0.1.evil.example:${port}`],
    ...[`localhost.evil.example:${port}`, `127.0.0.1:${port}.evil.example`, `127.1:${port}`],
    ...[
      `2130706433:${port}`,
      `127.0.0.1:${port}@evil.example`,
      'evil.example@127.0.0.1',
      `127.0.0.1:0${port}`,
    ],
  ];
}
