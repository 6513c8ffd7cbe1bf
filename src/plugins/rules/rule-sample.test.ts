import { describe, expect, it } from 'vitest';
import { readSample } from './rule-sample.ts';

const port = {
  port: 80,
  protocol: 'tcp',
  service: { name: 'http', product: 'nginx', vendor: 'f5', version: '1.24.0', cpe: null, confidence: 0.9 },
  banner: 'HTTP/1.1 200 OK\r\nServer: nginx\r\n\r\n<title>a</title>',
  attributes: { http: { status: 200, headers: { server: 'nginx' } } },
  tls: { version: 'TLSv1.3', certificate: { subject: 'CN=a', key: 'RSA 2048', self_signed: true } },
};
const host = {
  host: '192.0.2.7',
  os: { family: 'linux', distribution: 'debian', version: '12' },
  device_type: 'server',
  ports: [port],
};

/** The values of each field of the only port. */
function fieldsOf(text: string): Record<string, unknown> {
  const [only, ...others] = readSample(text);
  expect(others).toEqual([]);
  const facts = [...(only?.facts ?? []), ...(only?.hostFacts ?? [])];
  return Object.fromEntries(
    facts.map(({ field, values }) => [field, values.length === 1 ? values[0] : values]),
  );
}

describe('a sample', () => {
  it.each([
    ['a host', JSON.stringify(host)],
    ['a result', JSON.stringify({ results: [host] })],
    ['a response of the API', JSON.stringify({ data: { results: [host] }, meta: {} })],
    [
      'lines',
      [
        { type: 'host', ...host, ports: undefined },
        { type: 'port', host: host.host, ...port },
        { type: 'summary' },
      ]
        .map((row) => JSON.stringify(row))
        .join('\n'),
    ],
  ])('can be %s', (_, text) => {
    expect(fieldsOf(text)).toMatchObject({
      service: 'http',
      version: '1.24.0',
      'http.status': 200,
      'http.headers.server': 'nginx',
      'http.body': '<title>a</title>',
      'tls.subject': 'CN=a',
      'tls.key_type': 'RSA',
      'tls.key_bits': 2048,
      'tls.self_signed': true,
      'os.family': 'linux',
      device_type: 'server',
    });
  });

  it('can be a port alone', () => {
    expect(fieldsOf(JSON.stringify(port))).toMatchObject({ service: 'http', 'http.status': 200 });
  });

  it('has exact bytes where the record has them', () => {
    const bytes = Buffer.from([0x20, 2, 0, 0]);
    const sample = { port: 1883, banner: 'wrong', banner_b64: bytes.toString('base64') };
    expect(fieldsOf(JSON.stringify(sample))).toEqual({ banner: ' \\x02\\x00\\x00' });
  });

  it.each([
    '',
    'text',
    '7',
    '{}',
    '[]',
    '{"port": "80"}',
    '{"ports": [null, 7, {"port": 1.5}]}',
    '{"type":"host"}\n{"type":"summary"}',
  ])('needs a port: %j is rejected', (text) => {
    expect(() => readSample(text)).toThrow(/the sample has no port/);
  });

  it('survives fields of any type', () => {
    const odd = {
      port: 80,
      protocol: 7,
      service: { name: [], confidence: 'x' },
      banner: {},
      attributes: [],
      tls: 'x',
      fingerprints: [null],
    };
    expect(readSample(JSON.stringify({ host: 7, os: 'x', device_type: {}, ports: [odd] }))).toHaveLength(1);
  });
});
