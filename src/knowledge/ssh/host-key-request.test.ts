import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { parseSsh } from '../protocols/ssh.ts';
import { groupSizeRequest, keyExchangeRequest, readGroupBits, readHostKey } from './host-key-request.ts';

function sshString(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function reply(type: string): Buffer {
  const key = Buffer.concat([sshString(Buffer.from(type)), sshString(Buffer.alloc(32, 7))]);
  return Buffer.concat([
    Buffer.from([31]),
    sshString(key),
    sshString(Buffer.alloc(32)),
    sshString(Buffer.alloc(64)),
  ]);
}

function packets(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32BE(at)) {
    const length = bytes.readUInt32BE(at);
    const padding = bytes[at + 4] as number;
    expect((4 + length) % 8).toBe(0);
    expect(padding).toBeGreaterThanOrEqual(4);
    found.push(bytes.subarray(at + 5, at + 4 + length - padding));
  }
  return found;
}

test('the request is two packets: the algorithm lists and a 32-byte public key', () => {
  const [init, share, ...others] = packets(keyExchangeRequest(Buffer.from('curve25519-sha256')));
  expect(others).toEqual([]);
  expect(init?.[0]).toBe(20);
  expect(init?.toString('latin1')).toContain('curve25519-sha256');
  expect(share?.[0]).toBe(30);
  expect(share).toHaveLength(1 + 4 + 32);
  // The same parser reads the lists of client and server.
  const padded = keyExchangeRequest(Buffer.alloc(0));
  expect(parseSsh(Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), padded]))?.facts.host_key_types?.[0]).toBe(
    'ssh-ed25519',
  );
});

test('reads the key of the reply and its fingerprint as ssh-keygen prints it', () => {
  const payload = reply('ssh-ed25519');
  const blob = payload.subarray(5, 5 + payload.readUInt32BE(1));
  const print = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
  expect(readHostKey(payload)).toEqual({ type: 'ssh-ed25519', sha256: print });
});

const number = (bits: number) => {
  const digits = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  digits[0] = 0xff >> ((8 - (bits % 8)) % 8);
  return sshString(Buffer.concat([Buffer.from([0]), digits]));
};

test.each([
  ['ssh-rsa', [sshString(Buffer.from([1, 0, 1])), number(1023)], 1023],
  ['ssh-dss', [number(1024), number(160), number(8), number(1024)], 1024],
  ['ecdsa-sha2-nistp256', [sshString(Buffer.from('nistp256')), number(512)], undefined],
] as const)('the bits of a key of the kind %s', (type, numbers, bits) => {
  const key = Buffer.concat([sshString(Buffer.from(type)), ...numbers]);
  expect(readHostKey(Buffer.concat([Buffer.from([31]), sshString(key)]))?.bits).toBe(bits);
});

test.each([
  ['curve25519-sha256,diffie-hellman-group14-sha1', 'curve25519-sha256', 32],
  ['diffie-hellman-group1-sha1,diffie-hellman-group14-sha1', 'diffie-hellman-group14-sha1', 101],
  ['diffie-hellman-group1-sha1', 'diffie-hellman-group1-sha1', 101],
])('given %s, requests %s', (received, exchange, share) => {
  const [init, first] = packets(keyExchangeRequest(Buffer.from(received), 'rsa'));
  expect(init?.toString('latin1')).toContain(exchange);
  expect(init?.toString('latin1')).not.toContain('ed25519');
  expect(first).toHaveLength(1 + 4 + share);
});

test('requests the shortest prime and measures it', () => {
  const [init, request] = packets(groupSizeRequest(Buffer.from('diffie-hellman-group-exchange-sha1')));
  expect(init?.toString('latin1')).toContain('diffie-hellman-group-exchange-sha1');
  expect(request?.toString('hex')).toBe('22000004000000040000002000');
  const group = Buffer.concat([Buffer.from([31]), number(1024), number(2)]);
  expect(readGroupBits(group)).toBe(1024);
  expect(readHostKey(group)).toBeNull();
  expect(readGroupBits(Buffer.concat([group, Buffer.from([0])]))).toBeNull();
  expect(readGroupBits(reply('ssh-ed25519'))).toBeNull();
  for (let length = 0; length < group.length; length++)
    expect(readGroupBits(group.subarray(0, length))).toBeNull();
});

test('other replies yield no key', () => {
  const whole = reply('ssh-ed25519');
  expect(readHostKey(Buffer.alloc(0))).toBeNull();
  expect(readHostKey(Buffer.from([1, 2, 3]))).toBeNull();
  expect(readHostKey(reply('<b>'))).toBeNull();
  expect(readHostKey(reply('x'.repeat(65)))).toBeNull();
  for (let length = 0; length < 5 + 40; length++) expect(readHostKey(whole.subarray(0, length))).toBeNull();
  const huge = Buffer.from(whole);
  huge.writeUInt32BE(0xffff_ffff, 1);
  expect(readHostKey(huge)).toBeNull();
});
