import { expect, test } from 'vitest';
import { hostnameOfFact, identityOfFact, isLocalAddress, nameOfHost } from './host-identity.ts';

const names = (key: string, text: string) => hostnameOfFact({ key, text, source: '1/tcp' });
const identity = (key: string, text: string) => identityOfFact({ key, text, source: '1/tcp' });

test.each([
  ['tls.name', 'WWW.Example.net', ['www.example.net']],
  ['tls.name', '*.example.net', []],
  ['tls.name', '192.0.2.1', []],
  ['tls.name', '2001:db8::1', []],
  ['tls.name', 'a\u0000.example.net', []],
  ['tls.name', '-x.example.net', []],
  ['tls.name', 'localhost', []],
  ['tls.name', 'localhost.localdomain', []],
  ['smtp.greeting', 'mail.example.net ESMTP Postfix', ['mail.example.net']],
  ['smtp.greeting', 'Welcome to SMTP', []],
  ['smtp.greeting', '[192.0.2.1] ESMTP', []],
  ['ftp.greeting', 'ftp.example.net FTP server (Version 6.4) ready.', ['ftp.example.net']],
  ['ntlm.names', 'domain: LAB\ncomputer: DC1\ndns_computer: dc1.lab.test', ['dc1.lab.test']],
  ['ntlm.names', 'dns_computer: fileserver', ['fileserver']],
  ['ldap.rootdse', 'domainFunctionality: 7\ndnsHostName: dc1.lab.test', ['dc1.lab.test']],
  ['http.title', 'www.example.net', []],
])('names in %s "%s"', (key, text, expected) => {
  expect(names(key, text)).toBe(expected[0] ?? null);
});

test('a name is at most 253 characters of labels', () => {
  expect(nameOfHost('Host.Example.')).toBe('host.example');
  expect(nameOfHost(`${'a'.repeat(63)}.example`)).not.toBeNull();
  expect(nameOfHost(`${'a'.repeat(64)}.example`)).toBeNull();
  expect(nameOfHost(`${'a.'.repeat(126)}a`)).not.toBeNull();
  expect(nameOfHost(`${'a.'.repeat(126)}ab`)).toBeNull();
  expect(nameOfHost('')).toBeNull();
});

test('keys and given names go along with a host, common names and shared ones do not', () => {
  expect(identity('ssh.host_key', 'ssh-ed25519 abc')).toEqual({
    kind: 'ssh_host_key',
    value: 'ssh-ed25519 abc',
  });
  expect(identity('tls.key', 'ab'.repeat(32))).toEqual({ kind: 'tls_key', value: 'ab'.repeat(32) });
  expect(identity('ntlm.names', 'dns_computer: core-1')).toEqual({ kind: 'name', value: 'core-1' });
  expect(identity('ntlm.names', 'dns_computer: WIN-ABCDEFGHIJK')).toBeNull();
  expect(identity('tls.name', 'www.example.net')).toBeNull();
});

test('an address that was made up locally, or a group address, identifies nobody', () => {
  expect(isLocalAddress('00:0c:29:12:34:56')).toBe(true);
  expect(isLocalAddress('52:54:00:12:34:56')).toBe(false);
  expect(isLocalAddress('01:00:5e:00:00:fb')).toBe(false);
  expect(isLocalAddress('nonsense')).toBe(false);
});
