import { expect, test } from 'vitest';
import { bannerOf } from '../../../test/module-trial.ts';
import { certificateDer } from '../protocols/test-certificate.ts';
import { factsOfBanner, factsOfFingerprint, factsOfService } from './host-facts.ts';

const facts = (response: string, more = {}) =>
  Object.fromEntries(factsOfBanner(bannerOf(80, response, more)).map(({ key, text }) => [key, text]));

test.each<[string, string, Record<string, string>]>([
  [
    'HTTP',
    'HTTP/1.1 401 No\r\nServer: x/1\r\nWWW-Authenticate: Basic realm="Printer"\r\n\r\n<title>Home</title>',
    { 'http.header.server': 'x/1', 'http.realm': 'Printer', 'http.title': 'Home' },
  ],
  ['SSH', 'SSH-2.0-dropbear_2022.83\r\n', { 'ssh.software': 'dropbear_2022.83' }],
  [
    'SIP',
    'SIP/2.0 200 OK\r\nVia: x\r\nUser-Agent: Yealink SIP-T46S\r\n\r\n',
    { 'sip.user-agent': 'Yealink SIP-T46S' },
  ],
  [
    'RTSP',
    'RTSP/1.0 200 OK\r\nCSeq: 1\r\nServer: Dahua Rtsp Server\r\n\r\n',
    { 'rtsp.server': 'Dahua Rtsp Server' },
  ],
  [
    'Telnet',
    '\xff\xfd\x18\xff\xfb\x01\r\nRouterOS v7\r\nLogin: ',
    { 'telnet.greeting': 'RouterOS v7 Login:' },
  ],
])('facts of %s', (_, response, expected) => {
  expect(facts(response)).toMatchObject(expected);
});

test('a certificate gives names and the print of its key', () => {
  const chain = [certificateDer({ commonName: 'a', sans: ['a.example', 'b.example'] }).toString('base64')];
  const found = factsOfBanner(
    bannerOf(443, '', { tls: { version: 'TLSv1.3', cipher: 'x', alpn: null, chain } }),
  );
  expect(found.filter(({ key }) => key === 'tls.name').map(({ text }) => text)).toEqual([
    'a.example',
    'b.example',
  ]);
  expect(found.find(({ key }) => key === 'tls.key')?.text).toMatch(/^[0-9a-f]{64}$/);
});

test('what a parser read gives the facts of the answer itself', () => {
  const endpoint = { host: '192.0.2.1', port: 443, protocol: 'tcp' as const, truncated: false };
  const service = (name: string, attributes: Record<string, unknown>) =>
    factsOfService({ ...endpoint, service: name, parser: `${name}_parser`, attributes });
  expect(service('ssh', { ssh: { software: 'OpenSSH_9.2p1', comment: 'Debian-2' } })).toEqual([
    { key: 'ssh.software', text: 'OpenSSH_9.2p1 Debian-2', source: '443/tcp' },
  ]);
  const http = { title: 'T', headers: { server: 's' }, auth: [{ scheme: 'Basic', realm: 'r' }] };
  expect(service('http', { http }).map(({ key, text }) => [key, text])).toEqual([
    ['http.title', 'T'],
    ['http.header.server', 's'],
    ['http.realm', 'r'],
  ]);
  const certificate = { subject: 'CN=a', sans: ['a.example'], key_sha256: 'k' };
  expect(service('tls', { tls: { certificate } }).map(({ key }) => key)).toEqual([
    'tls.subject',
    'tls.key',
    'tls.name',
  ]);
});

test('attributes of any shape give facts or none, and never an error', () => {
  const endpoint = { host: '192.0.2.1', port: 1, protocol: 'tcp' as const, truncated: false };
  const shapes = [
    null,
    1,
    'x',
    [],
    [null],
    { sans: {} },
    { sans: [1, null, {}] },
    { host_keys: [null, 1, {}] },
    { auth: [null] },
  ];
  for (const shape of shapes) {
    for (const name of ['http', 'ssh', 'tls', 'smtp', '__proto__']) {
      const attributes = { [name]: shape, tls: { certificate: shape } };
      expect(
        factsOfService({ ...endpoint, service: name, parser: 'x', attributes }).length,
      ).toBeGreaterThanOrEqual(0);
    }
  }
});

test('a fact is no longer than 2048 characters, and hostile answers are read in one pass', () => {
  for (const response of [
    `HTTP/1.1 200 OK\r\nServer: ${'x'.repeat(4000)}\r\n\r\n`,
    `\xff\xfd${'\xff\xfb'.repeat(30_000)}`,
    `SIP/2.0 ${'Server:'.repeat(9000)}`,
    `RTSP/1.0 200\r\n${'server \t\t'.repeat(8000)}`,
  ])
    for (const { text } of factsOfBanner(bannerOf(80, response)))
      expect(text.length).toBeLessThanOrEqual(2048);
});

test('a fingerprint gives service and product', () => {
  const claim = {
    product: 'nginx',
    vendor: null,
    version: '1.24',
    cpe: null,
    confidence: 1,
    source: 'http',
    evidence: '',
  };
  const endpoint = { host: '192.0.2.1', port: 80, protocol: 'tcp' as const };
  expect(factsOfFingerprint({ ...endpoint, match: 'http', ...claim, alternatives: [] })).toEqual([
    { key: 'service', text: 'http', source: '80/tcp' },
    { key: 'product', text: 'nginx 1.24', source: '80/tcp' },
  ]);
});
