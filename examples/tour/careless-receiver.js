/*
 * A receiver of webhooks that is wrong on purpose: it believes whatever is posted to it, and handles an event each time that it
 * comes. `rtc webhooks simulate` finds all of it. examples/receiver-ts has one that is right. It takes a port, 0 for any that is
 * free, and prints the one that it listens on.
 */
import { createServer } from 'node:http';

const handled = [];

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(handled));
    return;
  }
  let body = '';
  for await (const chunk of request) body += chunk;
  handled.push(JSON.parse(body).id);
  response.writeHead(200).end();
});

server.listen(Number(process.argv[2] ?? 4000), '127.0.0.1', () => console.log(server.address().port));
