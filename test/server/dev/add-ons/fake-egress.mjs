#!/usr/bin/env node
import { writeSync } from 'node:fs';
import { createConnection } from 'node:net';

/*
 * Stands where LiveKit's egress worker would: it waits for work on the same channel of the Redis of its configuration,
 * and records nothing.
 */

// The supervisor recognises it by this name.
process.title = 'egress';
const { redis, template_port: port } = JSON.parse(process.env.EGRESS_CONFIG_BODY ?? '{}');
const [host, redisPort] = redis.address.split(':');
const socket = createConnection({ host, port: Number(redisPort) });
socket.write('SUBSCRIBE EgressInternal|StartEgress|REQ\r\n');
socket.on('data', () => {});
console.log(`waits for work; templates on ${port}`);
process.on('SIGINT', () => {
  writeSync(1, 'ended by SIGINT\n');
  process.exit(0);
});
