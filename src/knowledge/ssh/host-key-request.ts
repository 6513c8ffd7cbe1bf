import { createHash, randomBytes } from 'node:crypto';

/** A host key as the server sent it. */
export interface SshHostKey {
  /** `ssh-ed25519`, `rsa-sha2-512`, ... as the key itself names it */
  type: string;
  /** Base64 without padding, as `ssh-keygen -l` prints it. */
  sha256: string;
  /** Of RSA and DSA keys. */
  bits?: number;
}

/** Key exchanges to request, the first that the server supports; servers without any of them get no request. */
export const offeredExchange = /curve25519-sha256|diffie-hellman-group(?:1|14|16|18)-sha/;

const exchanges = [
  'curve25519-sha256',
  'curve25519-sha256@libssh.org',
  'diffie-hellman-group14-sha256',
  'diffie-hellman-group16-sha512',
  'diffie-hellman-group18-sha512',
  'diffie-hellman-group14-sha1',
  'diffie-hellman-group1-sha1',
];

/** Key exchanges in which the server chooses the prime (RFC 4419, RFC 8268). */
const groupExchanges = ['diffie-hellman-group-exchange-sha256', 'diffie-hellman-group-exchange-sha1'];

/** Maximum size of a host key, bytes. */
const hostKeyLimit = 16_384;

const kexinit = 20;
const exchangeInit = 30;
const exchangeReply = 31;
const groupRequest = 34;

const rsaKeys = 'rsa-sha2-512,rsa-sha2-256,ssh-rsa';
const everyKey = `ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,${rsaKeys},ssh-dss`;

const lists = [
  ...Array<string>(2).fill(
    'aes128-ctr,aes192-ctr,aes256-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com,' +
      'chacha20-poly1305@openssh.com,aes128-cbc,aes256-cbc,3des-cbc,blowfish-cbc,arcfour',
  ),
  ...Array<string>(2).fill(
    'hmac-sha2-256,hmac-sha2-512,hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha1,hmac-md5',
  ),
  ...Array<string>(2).fill('none,zlib@openssh.com,zlib'),
  '',
  '',
];

/** Size of the public share in a Diffie-Hellman exchange, bytes: less than the shortest prime (1024 bits). */
const shareBytes = 100;

/**
 * Client algorithm lists and the first key exchange message in one (RFC 4253 sections 7.1 and 8, RFC 8731 section 3).
 * The server replies with its host key; the client neither finishes the exchange nor logs in.
 * @param received bytes from the server so far: its lists show which exchanges it supports
 * @param keys `rsa`: only a key of that kind
 */
export function keyExchangeRequest(received: Buffer, keys: 'every' | 'rsa' = 'every'): Buffer {
  const exchange = firstKnown(exchanges, received);
  // Nearly any 32 bytes are a valid curve25519 key, and nearly any number a valid DH share; no secret is needed.
  const share = exchange.startsWith('curve')
    ? randomBytes(32)
    : Buffer.concat([Buffer.from([1]), randomBytes(shareBytes)]);
  const first = Buffer.concat([Buffer.from([exchangeInit]), sshString(share)]);
  return Buffer.concat([packet(algorithms(exchange, keys === 'rsa' ? rsaKeys : everyKey)), packet(first)]);
}

/** Requested prime size, bits: minimum, preferred, maximum (RFC 4419 section 3). */
const groupSizes = [1024, 1024, 8192];

/** Requests the shortest prime that the server accepts; the server sends it, and the exchange ends there. */
export function groupSizeRequest(received: Buffer): Buffer {
  const request = Buffer.alloc(13);
  request[0] = groupRequest;
  for (const [at, bits] of groupSizes.entries()) request.writeUInt32BE(bits, 1 + 4 * at);
  return Buffer.concat([packet(algorithms(firstKnown(groupExchanges, received), everyKey)), packet(request)]);
}

function firstKnown(names: readonly string[], received: Buffer): string {
  const text = received.toString('latin1');
  return names.find((name) => text.includes(name)) ?? (names[0] as string);
}

function algorithms(exchange: string, keys: string): Buffer {
  const all = [exchange, keys, ...lists].map((list) => sshString(Buffer.from(list, 'latin1')));
  return Buffer.concat([Buffer.from([kexinit]), randomBytes(16), ...all, Buffer.alloc(5)]);
}

/** The host key in the reply payload, or null (RFC 8731 section 3). */
export function readHostKey(payload: Buffer): SshHostKey | null {
  if (payload[0] !== exchangeReply) return null;
  const key = readString(payload, 1);
  const name = key && readString(key, 0);
  if (!key || key.length > hostKeyLimit || !name || name.length > 64) return null;
  const type = name.toString('latin1');
  if (!/^[a-z0-9@._-]+$/.test(type)) return null;
  const bits = keyBits(type, key, 4 + name.length);
  const sha256 = createHash('sha256')
    .update(key)
    .digest('base64')
    .replace(/={1,2}$/, '');
  return { type, sha256, ...(bits === null ? {} : { bits }) };
}

/** RFC 4253 section 6.6: in RSA keys the exponent precedes the modulus; in DSA keys the prime comes first. */
function keyBits(type: string, key: Buffer, at: number): number | null {
  if (type !== 'ssh-rsa' && type !== 'ssh-dss') return null;
  const first = readString(key, at);
  if (first === null || type === 'ssh-dss') return first && numberBits(first);
  const modulus = readString(key, at + 4 + first.length);
  return modulus && numberBits(modulus);
}

/** Size of the prime in the reply to `groupSizeRequest` (RFC 4419 section 3), bits, or null. */
export function readGroupBits(payload: Buffer): number | null {
  if (payload[0] !== exchangeReply) return null;
  const prime = readString(payload, 1);
  const generator = prime && readString(payload, 5 + prime.length);
  if (!prime || !generator || payload.length !== 9 + prime.length + generator.length) return null;
  return numberBits(prime);
}

/** Bits of a number without its leading zeros (RFC 4251 section 5); null = incomplete. */
function numberBits(number: Buffer): number | null {
  const first = number.findIndex((byte) => byte !== 0);
  return first === -1 ? null : 8 * (number.length - first) + 24 - Math.clz32(number[first] as number);
}

/** An unencrypted packet (RFC 4253 section 6): a multiple of 8 bytes with at least 4 of padding. */
function packet(payload: Buffer): Buffer {
  const padding = 12 - ((payload.length + 5 + 4) % 8);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(1 + payload.length + padding);
  head[4] = padding;
  return Buffer.concat([head, payload, randomBytes(padding)]);
}

function sshString(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function readString(bytes: Buffer, at: number): Buffer | null {
  if (bytes.length - at < 4) return null;
  const length = bytes.readUInt32BE(at);
  return length > bytes.length - at - 4 ? null : bytes.subarray(at + 4, at + 4 + length);
}
