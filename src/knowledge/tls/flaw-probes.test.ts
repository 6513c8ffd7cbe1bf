import { randomBytes } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { fuzzRounds } from '../../../test/rounds.ts';
import { certificateDer } from '../protocols/test-certificate.ts';
import { acceptedCipherChange, earlyCipherChange } from './early-cipher-change.ts';
import { emptyHeartbeat, leakedBytes } from './heartbeat.ts';
import { reactionIn, rsaKeyOf } from './padding-oracle.ts';
import { bytesBehindName, readSession } from './session.ts';

/** Random responses. */
const rounds = fuzzRounds(2000);

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const response = (claimed: number, bytes: number) =>
  Buffer.concat([
    hex('180303'),
    Buffer.from([0, 3 + bytes + 16, 2, claimed >> 8, claimed & 0xff]),
    Buffer.alloc(bytes + 16, 7),
  ]);

describe('heartbeats', () => {
  it('the request claims 16 bytes and contains none', () => {
    expect(emptyHeartbeat(0x0302)).toEqual(hex('18 0302 0003 01 0010'));
  });

  it.each([
    ['memory', response(16, 16), 16],
    ['less memory than claimed', response(16, 4), 4],
    ['more bytes than claimed', response(16, 200), 16],
    ['only padding', response(0, 0), 0],
    ['memory after an alert', Buffer.concat([hex('15 0303 0002 0129'), response(16, 16)]), 16],
    ['a request of its own', hex('18 0303 0003 01 0010'), 0],
    ['a record without content', hex('18 0303 0000'), 0],
    ['an alert', hex('15 0303 0002 020a'), 'more'],
    ['half a record', response(16, 16).subarray(0, 20), 'more'],
    ['nothing', Buffer.alloc(0), 'more'],
  ] as const)('%s', (_what, records, leaked) => {
    expect(leakedBytes(records)).toBe(leaked);
  });
});

describe('early cipher changes', () => {
  it('the message carries the version', () => {
    expect(earlyCipherChange(0x0302)).toEqual(hex('14 0302 0001 01'));
  });

  it.each([
    ['15 0303 0002 0214', true],
    ['15 0301 0002 0215', true],
    ['15 0303 0002 020a', false],
    ['15 0303 0002 0228', false],
    ['16 0303 0004 0e000000', false],
    ['15 0303 0002 02', null],
    ['', null],
  ] as const)('%j after both messages: accepted %s', (records, accepted) => {
    expect(acceptedCipherChange(hex(records))).toBe(accepted);
  });
});

describe('sessions', () => {
  const fields = '020101 02020303 0402c02f 0400 a904020200f0 aa0604040a0b0c0d af0402021000';
  const size = hex(fields).length.toString(16).padStart(2, '0');
  const session = hex(`30${size}${fields}`);

  it('reads ticket, lifetime and early data whatever precedes the session', () => {
    const expected = { ticket: hex('0a0b0c0d'), lifetime: 240, earlyData: 4096 };
    expect(readSession(session)).toEqual(expected);
    expect(readSession(Buffer.concat([Buffer.from('\0node:tls:session:1\0\x300'), session]))).toEqual(
      expected,
    );
    expect(readSession(hex('3003 020101'))).toEqual({ ticket: null, lifetime: null, earlyData: 0 });
    for (let length = 0; length < session.length; length++)
      expect(readSession(session.subarray(0, length))).toBeNull();
  });

  it.each([
    ['0102', '0102', 0],
    ['0102', '0102aabb', 2],
    ['0102', '0103aabb', 0],
    ['0102', '', 0],
  ])('the name %s comes back as %s: %i bytes more', (sent, repeated, more) => {
    expect(bytesBehindName(hex(sent), hex(repeated))).toBe(more);
  });
});

test.each([
  ['', 'open', 'open'],
  ['15 0303 0002 0214', 'closed', 'alert 20, closed'],
  ['15 0303 0002 0214 15 0303 0002 0100', 'open', 'alert 20, alert 0, open'],
  ['16 0303 0001 00', 'open', 'record 22, open'],
  ['15 03', 'closed', 'closed'],
] as const)('the reaction %j, %s', (records, end, text) => {
  expect(reactionIn(hex(records), end)).toBe(text);
});

test('accepts only an RSA key of sufficient size', () => {
  expect(rsaKeyOf(certificateDer({ commonName: 'x' }))).toBeNull();
  expect(rsaKeyOf(Buffer.from('no certificate'))).toBeNull();
});

test('both parsers terminate on any input', () => {
  for (let round = 0; round < rounds; round++) {
    const bytes = randomBytes(round % 97);
    if (bytes.length > 5) bytes[0] = 20 + (round % 6);
    expect(() => [leakedBytes(bytes), reactionIn(bytes, 'open')]).not.toThrow();
  }
});
