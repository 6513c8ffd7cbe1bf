import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serviceOf, wantsTls } from './first-bytes.ts';
import { isUntouchable, probeForGreeting, probeForPort, probeNamed, probes, tlsPorts } from './probes.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('probes', () => {
  it('have unique names, and every port has one first probe', () => {
    expect(new Set(probes.map((probe) => probe.name)).size).toBe(probes.length);
    const ports = probes.flatMap((probe) => probe.ports);
    expect(new Set(ports).size).toBe(ports.length);
    for (const port of [...ports, ...tlsPorts]) expect(isUntouchable(port)).toBe(false);
  });

  it('decline every telnet option exactly once', () => {
    const [first] = probeNamed('telnet').steps;
    const send = first?.send as (host: string, said: Buffer) => string;
    const said = '\xff\xfb\x01\xff\xfd\x18\xff\xfd\x18\xff\xfe\x22login: ';
    expect(send('', bytes(said))).toBe('\xff\xfe\x01\xff\xfc\x18');
    expect(send('', bytes('login: '))).toBe('');
  });

  it('send the package version as client version', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
    const send = probeNamed('http').steps[0]?.send as (host: string) => string;
    expect(send('::1')).toContain(`User-Agent: Portolan/${version.split('.').slice(0, 2).join('.')}\r\n`);
    expect(send('fe80::1%eth0')).toContain('Host: [fe80::1]\r\n');
  });

  it('know ports with implicit TLS and the service inside', () => {
    expect(probeForPort(443, false)?.name).toBe('http');
    expect(probeForPort(993, false)?.name).toBe('imap');
    expect(probeForPort(12_345, false)).toBeNull();
    expect(probeForPort(5005, false)).toBeNull();
    expect(probeForPort(5005, true)?.name).toBe('jdwp');
    expect(isUntouchable(9100) && isUntouchable(515) && isUntouchable(631)).toBe(true);
  });
});

describe('serviceOf', () => {
  it.each([
    ['SSH-2.0-OpenSSH_9.2p1\r\n', 'ssh'],
    ['HTTP/1.1 200 OK\r\n', 'http'],
    ['220 (vsFTPd 3.0.3)\r\n', 'ftp'],
    ['220 mx ESMTP Postfix\r\n', 'smtp'],
    ['* OK [CAPABILITY IMAP4rev1] Dovecot ready.\r\n', 'imap'],
    ['+OK Dovecot ready.\r\n', 'pop3'],
    ['-NOAUTH Authentication required.\r\n', 'redis'],
    ["-ERR wrong number of arguments for 'get' command\r\n", 'redis'],
    ['ERROR\r\n', 'memcached'],
    ['VERSION 1.6.18\r\n', 'memcached'],
    ['\x59\0\0\0\x0a5.5.5-10.11.6-MariaDB\0', 'mysql'],
    ['\x45\0\0\0\xffj\x04Host not allowed', 'mysql'],
    ['E\0\0\0\x80SFATAL\0', 'postgresql'],
    ['S', 'postgresql'],
    ['\0\x30\x50\x4f\x85\x80', 'domain'],
    ['RFB 003.008\n', 'vnc'],
    ['SIP/2.0 200 OK\r\n', 'sip'],
    ['RTSP/1.0 200 OK\r\n', 'rtsp'],
    ['\x20\x02\0\0', 'mqtt'],
    ['\x01\0\0\0\0\x01\xf5\0\x0a\0\x0a\0\x09', 'amqp'],
    ['\x04\x01\0\x2b\0\0\x01\0\0\0', 'mssql'],
    ['\0\x20\0\0\x04\0\0\0(DESCRIPTION=(TMP=)', 'oracle-tns'],
    ['\x84\0\0\0\x06\0\0\0\x02', 'cassandra'],
    ['\0\0\0\x0e\0\0PO\0\0', 'kafka'],
    ['Zookeeper version: 3.8.0\n', 'zookeeper'],
    ['0\x0c\x02\x01\x01a\x07', 'ldap'],
    ['\0\0\0\x20\x7e\x1e', 'kerberos'],
    ['\x05\0\x0c\x03\x10\0\0\0', 'msrpc'],
    ["<stream:stream xmlns='jabber:client'>", 'xmpp'],
    ["<stream:stream xmlns='jabber:server'>", 'xmpp-server'],
    [':irc.example 451 * :You have not registered\r\n', 'irc'],
    [':irc.example 001 x :Welcome\r\n', 'irc'],
    ['0022ERR access denied', 'git'],
    ['# munin node at host\n', 'munin'],
    ['AB\0\x01\x09', 'ajp13'],
    ['\x82\0\0\0\0\0\0\x20\xfeSMB', 'smb'],
    ['\x05\0', 'socks5'],
    ['000eversion 2\n0015agent=git/2.39.5', 'git'],
    ['"IMPLEMENTATION" "Cyrus timsieved"\r\n', 'sieve'],
    ['SPAMD/1.5 0 PONG\r\n', 'spamd'],
    ['UNKNOWN COMMAND\n', 'clamd'],
    ['0, 0 : ERROR : INVALID-PORT\r\n', 'ident'],
    ['0About\t/about\thost.example\t70\r\n', 'gopher'],
    ['BEGIN\nGET / HTTP/1.1\nERROR\n', 'lirc'],
    ['200 Hi, you can post\r\n', 'nntp'],
    ['Something else\r\n', null],
    ['', null],
  ])('%j is %s', (text, service) => {
    expect(serviceOf(bytes(text))).toBe(service);
  });

  it('reads only the first 4096 bytes', () => {
    const sign = '"snapserver":';
    const response = (length: number) => bytes(`{${sign.padStart(length - 1)}`);
    expect(serviceOf(response(4096))).toBe('snapcast');
    expect(serviceOf(response(4097))).toBeNull();
  });
});

it('a plain 220 is mail, except on the ports of file transfer', () => {
  expect(probeForGreeting(bytes('220 ready\r\n'), 2500)?.name).toBe('smtp');
  expect(probeForGreeting(bytes('220 ready\r\n'), 21)?.name).toBe('ftp');
  expect(probeForGreeting(bytes('hello\r\n'), 21)).toBeNull();
});

it('recognizes the error texts of servers that expected TLS', () => {
  expect(wantsTls(bytes('HTTP/1.1 400\r\n\r\nThe plain HTTP request was sent to HTTPS port'))).toBe(true);
  expect(wantsTls(Buffer.from('15030300020228', 'hex'))).toBe(true);
  expect(wantsTls(bytes('HTTP/1.1 400 Bad Request\r\n\r\n'))).toBe(false);
});
