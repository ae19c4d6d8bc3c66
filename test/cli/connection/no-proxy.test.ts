import { describe, expect, it } from 'vitest';
import { proxyFor } from '../../../src/cli/connection/connect.ts';

const PROXIES = { HTTP_PROXY: 'http://plain.example:3128', HTTPS_PROXY: 'http://tls.example:3128' };

const hostFor = (address: string, env: Readonly<Record<string, string>> = {}): string | undefined =>
  proxyFor(address, { ...PROXIES, ...env })?.url.hostname;

describe('the proxy for an address', () => {
  it('is that of its protocol', () => {
    expect(hostFor('http://rtc.example.org')).toBe('plain.example');
    expect(hostFor('https://rtc.example.org')).toBe('tls.example');
    expect(hostFor('https://rtc.example.org', { HTTPS_PROXY: '' })).toBe(undefined);
  });

  it('is that of the variable in lower case if there are both', () => {
    expect(hostFor('http://rtc.example.org', { http_proxy: 'http://lower.example' })).toBe('lower.example');
    expect(hostFor('http://rtc.example.org', { http_proxy: '' })).toBe(undefined);
  });

  it.each(['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:3000'])(
    'is none for this machine, without NO_PROXY: %s',
    (address) => {
      expect(hostFor(address)).toBe(undefined);
      expect(hostFor(address, { NO_PROXY: 'example.org' })).not.toBe(undefined);
    },
  );

  it.each([
    ['rtc.example.org', 'https://rtc.example.org'],
    ['RTC.example.org.', 'https://rtc.example.org'],
    ['example.org', 'https://rtc.example.org./'],
    ['.example.org', 'https://rtc.example.org'],
    ['.example.org', 'https://example.org'],
    ['*.example.org', 'https://rtc.example.org'],
    ['other.example, example.org', 'https://rtc.example.org'],
    ['other.example example.org', 'https://rtc.example.org'],
    ['other.example,*', 'https://rtc.example.org'],
    ['rtc.example.org:443', 'https://rtc.example.org'],
    ['rtc.example.org:8443', 'https://rtc.example.org:8443'],
    ['*:8443', 'https://rtc.example.org:8443'],
    ['2001:db8::1', 'https://[2001:db8::1]:8443'],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443'],
  ])('is none if NO_PROXY is %s and the address %s', (list, address) => {
    expect(hostFor(address, { NO_PROXY: list })).toBe(undefined);
  });

  it.each([
    ['', 'https://localhost'],
    ['*.example.org', 'https://example.org'],
    ['example.org', 'https://notexample.org'],
    ['rtc.example.org:8443', 'https://rtc.example.org'],
    ['rtc.example.org:443', 'http://rtc.example.org'],
    ['*:80', 'https://rtc.example.org'],
    ['[2001:db8::1]:443', 'https://[2001:db8::1]:8443'],
    ['2001:db8::1', 'https://[2001:db8::2]'],
  ])('is used if NO_PROXY is %j and the address %s', (list, address) => {
    expect(hostFor(address, { NO_PROXY: list })).not.toBe(undefined);
  });

  it.each(['proxy:3128', 'ada:secret-of-ada@proxy', 'socks5://proxy', 'http://ada:%@proxy:3128'])(
    'is an error, without the value, if the variable is %s',
    (value) => {
      const use = (): unknown => hostFor('https://rtc.example.org', { HTTPS_PROXY: value });
      expect(use).toThrow(/^HTTPS_PROXY is not an address such as http:\/\/proxy\.example\.org:3128$/);
    },
  );
});
