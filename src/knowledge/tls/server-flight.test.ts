import { describe, expect, it, vi } from 'vitest';
import { fuzzRounds, fuzzTimeout } from '../../../test/rounds.ts';
import { readCertificates, readServerHello, readServerKey, ServerFlight } from './server-flight.ts';
import { readSsl2Hello, ssl2ClientHello } from './ssl2.ts';

/** Mutated responses. */
const rounds = fuzzRounds(2000);
const timeout = fuzzTimeout(rounds);

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const u24 = (value: number) => Buffer.concat([Buffer.from([value >> 16]), u16(value & 0xffff)]);
const message = (type: number, body: Buffer) => Buffer.concat([Buffer.from([type]), u24(body.length), body]);
const record = (type: number, content: Buffer) =>
  Buffer.concat([Buffer.from([type, 3, 3]), u16(content.length), content]);

function hello(
  version: number,
  suite: number,
  extensions = '',
  random: Buffer = Buffer.alloc(32, 7),
): Buffer {
  const block = hex(extensions);
  const tail = block.length > 0 ? Buffer.concat([u16(block.length), block]) : block;
  return message(
    2,
    Buffer.concat([u16(version), random, Buffer.from([0]), u16(suite), Buffer.from([0]), tail]),
  );
}

const certificate = Buffer.alloc(300, 0x30);
const certificates = message(11, Buffer.concat([u24(606), u24(300), certificate, u24(300), certificate]));
const prime = Buffer.concat([Buffer.from([0]), Buffer.alloc(128, 0xff)]);
const dheKey = message(
  12,
  Buffer.concat([u16(129), prime, u16(1), Buffer.from([2]), u16(1), Buffer.from([9])]),
);
const ecdheKey = message(12, hex('03001d20' + '11'.repeat(32)));
const done = message(14, Buffer.alloc(0));
const retry = hex('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c');

const responses = {
  dhe: record(22, Buffer.concat([hello(0x0303, 0x0033, 'ff01000100 00170000'), certificates, dheKey, done])),
  ecdhe: Buffer.concat([
    record(22, hello(0x0303, 0xc02f, '00100005000302 6832')),
    record(22, certificates.subarray(0, 100)),
    record(22, certificates.subarray(100)),
    record(22, Buffer.concat([ecdheKey, done])),
  ]),
  tls13: Buffer.concat([record(22, hello(0x0303, 0x1301, '002b00020304')), record(20, Buffer.from([1]))]),
  retry: record(22, hello(0x0303, 0x1302, '002b00020304 003300020018', retry)),
  alert: record(21, Buffer.from([2, 40])),
};

function readAll(bytes: Buffer): ServerFlight {
  const flight = new ServerFlight();
  flight.read(bytes);
  return flight;
}

const summary = (flight: ServerFlight) => ({
  done: flight.done,
  foreign: flight.foreign,
  version: flight.hello?.version,
  suite: flight.hello?.suite,
  retry: flight.hello?.retry,
  extensions: [...(flight.hello?.extensions.keys() ?? [])],
  certificates: flight.certificates?.map(({ length }) => length),
  key: flight.key,
  alert: flight.alert,
});

describe('ServerFlight', () => {
  it('notes a request for a client certificate, also where the flight breaks off after it', () => {
    const request = message(13, hex('0101 0002 0401 0000'));
    const flight = Buffer.concat([hello(0x0303, 0x002f), certificates, request]);
    expect(readAll(record(22, flight)).requestsCertificate).toBe(true);
    expect(readAll(record(22, Buffer.concat([flight, done])))).toMatchObject({
      done: true,
      requestsCertificate: true,
    });
    expect(readAll(responses.dhe).requestsCertificate).toBe(false);
  });

  it.each([
    [
      'dhe',
      {
        version: 0x0303,
        suite: 0x0033,
        extensions: [0xff01, 23],
        certificates: [300, 300],
        key: { kind: 'dhe', bits: 1024 },
      },
    ],
    [
      'ecdhe',
      { suite: 0xc02f, extensions: [16], certificates: [300, 300], key: { kind: 'ecdhe', group: 29 } },
    ],
    ['tls13', { version: 0x0304, suite: 0x1301, retry: false, key: null }],
    ['retry', { version: 0x0304, suite: 0x1302, retry: true, extensions: [43, 51] }],
    ['alert', { alert: 40 }],
  ] as const)('reads %s', (name, expected) => {
    expect(summary(readAll(responses[name]))).toMatchObject({ done: true, foreign: false, ...expected });
  });

  it('yields the same result however the bytes are split', () => {
    for (const response of Object.values(responses)) {
      const whole = summary(readAll(response));
      for (let at = 0; at <= response.length; at++) {
        const flight = new ServerFlight();
        flight.read(response.subarray(0, at));
        flight.read(response);
        expect(summary(flight)).toEqual(whole);
      }
    }
  });

  it('a warning does not end the handshake', () => {
    const warned = Buffer.concat([record(21, Buffer.from([1, 112])), responses.dhe]);
    expect(summary(readAll(warned))).toMatchObject({ suite: 0x0033, alert: null });
  });

  it.each([
    ['a web server', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['SSH', Buffer.from('SSH-2.0-x\r\n')],
    ['a record of no length', hex('1603030000')],
    ['a record that is too long', hex('160303ffff')],
    ['a hello of another kind', record(22, message(1, Buffer.alloc(40)))],
    ['a message of 16 MiB', record(22, hex('02ffffff'))],
  ])('%s is no TLS', (_, bytes) => {
    expect(readAll(bytes)).toMatchObject({ foreign: true, done: true });
  });

  it('an incomplete flight is not done', () => {
    expect(readAll(responses.dhe.subarray(0, 60))).toMatchObject({
      done: false,
      foreign: false,
      hello: null,
    });
    expect(readAll(Buffer.alloc(0))).toMatchObject({ done: false, foreign: false });
  });

  it('buffers at most 256 KiB of handshake messages', () => {
    const endless = record(22, Buffer.alloc(16_000, 1));
    const start = record(22, Buffer.concat([hello(0x0303, 0x0033), hex('0b03fff0')]));
    const flight = new ServerFlight();
    let bytes = start;
    let count = 0;
    while (!flight.done && count < 100) {
      bytes = Buffer.concat([bytes, endless]);
      flight.read(bytes);
      count += 1;
    }
    expect(count).toBeLessThan(20);
    expect(flight.hello?.suite).toBe(0x0033);
  });
});

describe('the parts of a response', () => {
  it.each([
    [0x0033, '0002 0fff', { kind: 'dhe', bits: 12 }],
    [0x0003, '0041 00 80' + '00'.repeat(63), { kind: 'rsa', bits: 512 }],
    [0xc02f, '03 0017', { kind: 'ecdhe', group: 23 }],
    // RFC 5489: after the hint.
    [0xc035, '0002 6869 03 0018', { kind: 'ecdhe', group: 24 }],
    [0xc02f, '01 0017', null],
    [0x0033, '0000', null],
    [0x0033, '0004 ff', null],
    [0x0033, '0002 0000', null],
    [0x002f, '0002 0fff', null],
  ])('the key of suite %i in %s', (suite, bytes, expected) => {
    expect(readServerKey(hex(bytes), suite)).toEqual(expected);
  });

  it('truncated or odd hellos and certificates are rejected or read as far as possible', () => {
    expect(readServerHello(Buffer.alloc(0))).toBeNull();
    expect(readServerHello(Buffer.alloc(60, 3).fill(33, 34, 35))).toBeNull();
    expect(readCertificates(hex('000006 000002 aabb 0000ff'))).toEqual([hex('aabb')]);
    expect(readCertificates(hex('000003 000000'))).toEqual([]);
  });
});

const ssl2Response = hex('801b 04 00 01 0002 0002 0006 0008 aabb 010080 0700c0 1122334455667788');

describe('SSL 2.0', () => {
  it('offers seven suites', () => {
    const bytes = ssl2ClientHello(Buffer.alloc(16, 1));
    expect(bytes.readUInt16BE(0) & 0x7fff).toBe(bytes.length - 2);
    expect(bytes.readUInt16BE(5)).toBe(21);
  });

  it('reads what the server accepts', () => {
    expect(readSsl2Hello(ssl2Response)).toEqual({
      suites: ['SSL2_RC4_128_WITH_MD5', 'SSL2_DES_192_EDE3_CBC_WITH_MD5'],
      certificate: hex('aabb'),
    });
    for (let at = 0; at < ssl2Response.length; at++)
      expect(readSsl2Hello(ssl2Response.subarray(0, at))).toBe('more');
  });

  it.each([
    ['150300020228'],
    ['160303'],
    ['801b 05 00 01 0002'],
    ['8005 04 0000 0000'],
    ['801b 04 00 01 0003 0002 ffff 0008' + '00'.repeat(20)],
  ])('%s is none', (bytes) => {
    expect(readSsl2Hello(hex(bytes))).toBeNull();
  });
});

/** A small reproducible generator of numbers below a bound (mulberry32). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function mutate(bytes: Buffer, pick: (below: number) => number): Buffer {
  let mutated = Buffer.from(bytes);
  for (let change = 0; change <= pick(4); change++) {
    const at = pick(mutated.length + 1);
    const piece = mutated.subarray(at, at + pick(40));
    const noise = Buffer.from(Array.from({ length: pick(8) }, () => pick(256)));
    const kinds = [
      () => Buffer.concat([mutated.subarray(0, at), noise, mutated.subarray(at + noise.length)]),
      () => Buffer.concat([mutated.subarray(0, at), noise, mutated.subarray(at)]),
      () =>
        Buffer.concat([
          mutated.subarray(0, at),
          ...Array<Buffer>(pick(100)).fill(piece),
          mutated.subarray(at),
        ]),
      () => mutated.subarray(0, at),
    ];
    mutated = Buffer.from((kinds[pick(kinds.length)] as () => Buffer)());
  }
  return mutated;
}

describe('hostile responses', () => {
  const seeds = [...Object.values(responses), ssl2Response];

  it(`cause no exception: ${rounds}`, { timeout }, () => {
    const pick = random(5);
    for (let round = 0; round < rounds; round++) {
      const bytes = mutate(seeds[round % seeds.length] as Buffer, pick);
      const flight = new ServerFlight();
      flight.read(bytes.subarray(0, pick(bytes.length + 1)));
      flight.read(bytes);
      const ssl2 = readSsl2Hello(bytes);
      const { hello, certificates, key } = flight;
      if (hello) expect(Number.isInteger(hello.suite) && Number.isInteger(hello.version)).toBe(true);
      if (certificates) expect(certificates.length).toBeLessThanOrEqual(16);
      if (key && 'bits' in key) expect(key.bits).toBeGreaterThan(0);
      if (ssl2 !== null && ssl2 !== 'more') expect(ssl2.suites.length).toBeLessThanOrEqual(7);
    }
  });

  it('a message in single bytes is assembled once', () => {
    const small = Buffer.concat([
      record(22, Buffer.concat([hello(0x0303, 0x0033), hex('0b004e20')])),
      ...Array<Buffer>(20_000).fill(record(22, hex('00'))),
    ]);
    const concat = vi.spyOn(Buffer, 'concat');
    readAll(small);
    const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0);
    concat.mockRestore();
    // Reassembling at every record would copy 200 MB.
    expect(copied).toBeLessThan(2 * small.length);
  });
});
