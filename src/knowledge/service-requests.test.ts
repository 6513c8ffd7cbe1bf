import { expect, it } from 'vitest';
import { probeNamed, probesAfter } from './probes/probes.ts';

/** The bytes of a request as sent to a host. */
function request(name: string, step = 0): Buffer {
  const send = probeNamed(name).steps[step]?.send ?? '';
  const bytes = typeof send === 'function' ? send('192.0.2.1', Buffer.alloc(0), 80) : send;
  return typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : Buffer.from(bytes);
}

it.each<[probe: string, length: (bytes: Buffer) => number]>([
  ['mssql', (bytes) => bytes.readUInt16BE(2)],
  ['oracle-tns', (bytes) => bytes.readUInt16BE(0)],
  ['kafka', (bytes) => 4 + bytes.readUInt32BE(0)],
  ['kerberos', (bytes) => 4 + bytes.readUInt32BE(0)],
  ['cassandra', (bytes) => 9 + bytes.readUInt32BE(5)],
  ['netbios-ssn', (bytes) => 4 + bytes.readUInt16BE(2)],
  ['msrpc', (bytes) => bytes.readUInt16LE(8)],
  ['pptp', (bytes) => bytes.readUInt16BE(0)],
  ['ldap', (bytes) => (bytes.readUInt8(1) < 0x80 ? 2 + bytes.readUInt8(1) : 3 + bytes.readUInt8(2))],
  ['mqtt', (bytes) => 2 + bytes.readUInt8(1)],
  ['git', (bytes) => Number.parseInt(bytes.toString('latin1', 0, 4), 16)],
  ['zabbix-agent', (bytes) => 13 + bytes.readUInt32LE(5)],
  ['stun', (bytes) => 20 + bytes.readUInt16BE(2)],
  ['milter', (bytes) => 4 + bytes.readUInt32BE(0)],
  ['afp', (bytes) => 16 + bytes.readUInt32BE(8)],
])('the length that a question to %s states is its own', (name, length) => {
  const bytes = request(name);
  expect(length(bytes)).toBe(bytes.length);
});

it('an Oracle listener is told where the command begins and how long it is', () => {
  const bytes = request('oracle-tns');
  const start = bytes.readUInt16BE(26);
  expect(bytes.subarray(start, start + bytes.readUInt16BE(24)).toString()).toBe(
    '(CONNECT_DATA=(COMMAND=version))',
  );
});

it('the second message of an SMB dialogue carries a negotiation of NTLM without a name', () => {
  const message = request('netbios-ssn', 2);
  expect(message.readUInt32BE(0)).toBe(message.length - 4);
  const at = 4 + message.readUInt16LE(4 + 64 + 12);
  expect(message.toString('latin1', at, at + 8)).toBe('NTLMSSP\0');
  expect(message.readUInt32LE(at + 8)).toBe(1);
  // Lengths of domain and workstation.
  expect([message.readUInt16LE(at + 16), message.readUInt16LE(at + 24)]).toEqual([0, 0]);
});

const plain = { intrusive: false, thorough: false, secure: false };

it('what only tells how strong the encryption is gets asked where that is wanted, and inside TLS', () => {
  const probeNames = (response: string, more: object) =>
    probesAfter(Buffer.from(response, 'latin1'), 12_345, { ...plain, ...more }).map(({ name }) => name);
  const page = 'HTTP/1.1 200 OK\r\nServer: nginx\r\n\r\nok';
  expect(probeNames(page, { thorough: true })).toEqual([]);
  expect(probeNames(page, { thorough: true, secure: true })).toEqual(['compressed-page']);
  const lists = 'SSH-2.0-x\r\n...diffie-hellman-group-exchange-sha256...rsa-sha2-512';
  expect(probeNames(lists, {})).toEqual([]);
  expect(probeNames(lists, { thorough: true })).toEqual(['ssh-rsa-key', 'ssh-group-size']);
});

it.each<[answer: string, names: string[]]>([
  ['HTTP/1.1 200 OK\r\nServer: nginx\r\n\r\nok', []],
  ['HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nok', ['missing-page', 'malformed-request']],
  [
    'HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\n404 page not found\n',
    ['version-page', 'metrics-beside', 'status-page', 'malformed-request'],
  ],
  ['HTTP/1.1 301 Moved\r\nServer: Transmission\r\n\r\n', ['transmission-session']],
  ['\0\0\0\x49\xfeSMB', ['smb-session']],
  ['SSH-2.0-x\r\n', []],
  ['220 mx.example ESMTP\r\n250-mx.example\r\n250 DSN\r\n', ['smtp-help']],
  ['220 mx.example ESMTP Postfix\r\n250-mx.example\r\n250 DSN\r\n', []],
  ['0About\t/about\thost.example\t70\r\n', ['gopher-caps']],
])('%j leads to %j', (response, names) => {
  const probeNames = probesAfter(Buffer.from(response, 'latin1'), 12_345, plain).map(({ name }) => name);
  expect(probeNames).toEqual(names);
});

it('the second request to Transmission repeats the number of its first answer, and nothing else of it', () => {
  const [probe] = probesAfter(Buffer.from('HTTP/1.1 301 Moved\r\nServer: Transmission\r\n\r\n'), 9091, plain);
  const send = probe?.steps[1]?.send;
  const said = Buffer.from('HTTP/1.1 409 Conflict\r\nX-Transmission-Session-Id: abc=\r\nX: \r\n\r\n');
  expect(typeof send === 'function' && send('192.0.2.1', said, 9091)).toContain(
    '\r\nX-Transmission-Session-Id: abc=\r\nConnection',
  );
});
