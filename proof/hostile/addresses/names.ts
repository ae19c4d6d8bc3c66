import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { ATTEMPT } from './attempt.ts';

/*
 * A preload (`--import`) that replaces the resolver of the service. A name below `.names.test` resolves to the addresses in
 * its own labels, as an attacker's name server could do it: `n1--0a000001.names.test` is 10.0.0.1. `-` separates several
 * addresses. The addresses after `--then--` are returned from the second look-up on. The number in front makes names
 * distinct. Other names are resolved as usual. The preload also prints every address to which a connection is attempted.
 */

const looked = new Map<string, number>();
const lookup = dns.lookup;

function resolveAddresses(name: string): dns.LookupAddress[] {
  const [, first = '', , later = first] = name.replace(/\.names\.test\.?$/, '').split('--');
  const count = looked.get(name) ?? 0;
  looked.set(name, count + 1);
  return (count === 0 ? first : later)
    .split('-')
    .map((hex) =>
      hex.length === 8
        ? { address: (hex.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).join('.'), family: 4 }
        : { address: (hex.match(/..../g) ?? []).join(':'), family: 6 },
    );
}

Object.assign(dns, {
  lookup: (name: string, options: dns.LookupAllOptions, callback: (...results: unknown[]) => void) => {
    if (!/\.names\.test\.?$/.test(name)) return Reflect.apply(lookup, dns, [name, options, callback]);
    setImmediate(callback, null, resolveAddresses(name));
  },
});
syncBuiltinESMExports();

const emit = Socket.prototype.emit;
Object.assign(Socket.prototype, {
  emit(this: Socket, event: string, ...values: unknown[]) {
    if (event === 'connectionAttempt') process.stderr.write(`${ATTEMPT}${values[0]} ${values[1]}\n`);
    return Reflect.apply(emit, this, [event, ...values]);
  },
});
