import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ClientAddresses } from './client-address.ts';

const from = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

describe('the address of a client', () => {
  const clients = new ClientAddresses(['127.0.0.1', '10.0.0.0/8', '2001:db8::/32']);

  it.each([
    ['nobody claims anything', '192.0.2.1', undefined, '192.0.2.1'],
    ['the mapped form is the IPv4 address', '::ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['a stranger claims what it likes', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['a stranger claims to be a trusted proxy', '192.0.2.1', '127.0.0.1', '192.0.2.1'],
    ['a trusted proxy tells of its client', '127.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['the mapped form of a trusted proxy', '::ffff:10.1.2.3', '198.51.100.7', '198.51.100.7'],
    ['what stands to the left may be forged', '127.0.0.1', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
    ['a chain of trusted proxies', '127.0.0.1', '203.0.113.9, 198.51.100.7, 10.0.0.2', '198.51.100.7'],
    ['only trusted proxies', '127.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['no header behind a proxy', '127.0.0.1', undefined, '127.0.0.1'],
    ['an empty header', '127.0.0.1', '', '127.0.0.1'],
    ['garbage', '127.0.0.1', 'unknown', '127.0.0.1'],
    ['garbage hides what is to its left', '127.0.0.1', '198.51.100.7, <script>, 10.0.0.2', '10.0.0.2'],
    ['leading zeros are no address', '127.0.0.1', '010.0.0.1', '127.0.0.1'],
    ['an integer is no address', '127.0.0.1', '2130706433', '127.0.0.1'],
    ['ports', '127.0.0.1', '198.51.100.7:5000', '198.51.100.7'],
    ['brackets', '127.0.0.1', '[2001:DB9:0::1]:443', '2001:db9::1'],
    ['IPv6 proxies', '2001:db8::1', '2001:0db9::5', '2001:db9::5'],
  ])('%s', (_case, remote, forwarded, expected) => {
    expect(clients.of(from(remote, forwarded))).toBe(expected);
  });

  it('trusts no proxy unless configured', () => {
    expect(new ClientAddresses([]).of(from('127.0.0.1', '198.51.100.7'))).toBe('127.0.0.1');
  });

  it('reads each entry of a header once', () => {
    // Far more than one header can have: reading entries more than once would exceed the test timeout.
    const entries = 300_000;
    expect(clients.of(from('127.0.0.1', ',10.0.0.1'.repeat(entries)))).toBe('10.0.0.1');
    expect(clients.of(from('127.0.0.1', `192.0.2.1${',10.0.0.1'.repeat(entries)}`))).toBe('192.0.2.1');
  });

  it('takes the lines of several headers as one list', () => {
    const headers = { 'x-forwarded-for': ['203.0.113.9', '198.51.100.7'] };
    const request = { socket: { remoteAddress: '127.0.0.1' }, headers } as unknown as IncomingMessage;
    expect(clients.of(request)).toBe('198.51.100.7');
  });
});
