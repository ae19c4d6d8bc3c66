import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { RtcClient, RtcError } from 'rtc-service/client';

const { RTC_URL: url, RTC_API_KEY: apiKey, RTC_API_SECRET: apiSecret, PORT = '8080' } = process.env;
const rtc = new RtcClient({ url, apiKey, apiSecret });
const page = await readFile(new URL('index.html', import.meta.url));
const livekit = await readFile(new URL(import.meta.resolve('livekit-client')));

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/') response.setHeader('content-type', 'text/html; charset=utf-8').end(page);
  else if (pathname === '/livekit-client.js')
    response.setHeader('content-type', 'text/javascript').end(livekit);
  else if (pathname === '/token') await sendToken(response, searchParams.get('name') ?? '');
  else response.writeHead(404).end();
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));

/** Your application knows who is logged in, and which room they may enter. This example believes the page. */
async function sendToken(response, name) {
  try {
    const token = await rtc.tokens.create({ roomId: 'demo', userId: name, name, role: 'participant' });
    response.setHeader('content-type', 'application/json').end(JSON.stringify(token));
  } catch (error) {
    if (!(error instanceof RtcError)) throw error;
    response.writeHead(error.status === 400 ? 400 : 502).end(error.detail);
  }
}
