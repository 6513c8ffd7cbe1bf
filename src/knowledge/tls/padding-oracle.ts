import { constants, type KeyObject, publicEncrypt, randomBytes, X509Certificate } from 'node:crypto';

/** Length of a premaster secret (RFC 5246, 7.4.7.1), bytes. */
const secretBytes = 48;

/** Minimum key size that has room for the forms below, bytes. */
const shortestKeyBytes = 64;

/**
 * The error in the secret that the client sends. `none`: no error; `start`: wrong first two bytes; `no-end`: the
 * padding does not end; `early-end`: the secret is too short; `version`: wrong first two bytes of the secret.
 */
export const paddingForms = ['none', 'start', 'no-end', 'early-end', 'version'] as const;
export type PaddingForm = (typeof paddingForms)[number];

/** The RSA key of a DER certificate; null if it has no usable one. */
export function rsaKeyOf(der: Buffer): KeyObject | null {
  try {
    const { publicKey } = new X509Certificate(der);
    return publicKey.asymmetricKeyType === 'rsa' && keyBytes(publicKey) >= shortestKeyBytes
      ? publicKey
      : null;
  } catch {
    return null;
  }
}

/**
 * Client messages after the ServerHello in an RSA key exchange: the secret with PKCS #1 padding in one of the forms,
 * ChangeCipherSpec, and random bytes as Finished. A server must respond to all forms alike (RFC 5246, 7.4.7.1); one
 * that does not is a padding oracle and lets attackers decrypt (ROBOT).
 * @param version of the handshake, `0x0301` to `0x0303`
 */
export function paddedFlight(key: KeyObject, version: number, form: PaddingForm): Buffer {
  const encrypted = publicEncrypt(
    { key, padding: constants.RSA_NO_PADDING },
    paddedSecret(keyBytes(key), version, form),
  );
  const exchange = Buffer.concat([
    Buffer.from([16]),
    length(encrypted.length + 2, 3),
    length(encrypted.length, 2),
    encrypted,
  ]);
  return Buffer.concat([
    record(22, version, exchange),
    record(20, version, Buffer.from([1])),
    record(22, version, randomBytes(64)),
  ]);
}

/** RFC 8017, 7.2.1: `00 02`, at least eight nonzero bytes, a zero, the secret. */
function paddedSecret(size: number, version: number, form: PaddingForm): Buffer {
  // Padding must not contain zeros by chance.
  const block = Buffer.from(randomBytes(size).map((byte) => (byte === 0 ? 1 : byte)));
  const end = size - secretBytes - 1;
  block.writeUInt16BE(form === 'start' ? 0x0117 : 0x0002, 0);
  if (form === 'early-end') block[size - 2] = 0;
  if (form === 'no-end' || form === 'early-end') return block;
  block[end] = 0;
  block.writeUInt16BE(form === 'version' ? 0x0202 : version, end + 1);
  return block;
}

function keyBytes(key: KeyObject): number {
  return Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
}

function record(type: number, version: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type]), length(version, 2), length(content.length, 2), content]);
}

function length(value: number, bytes: number): Buffer {
  const field = Buffer.alloc(bytes);
  field.writeUIntBE(value, 0, bytes);
  return field;
}

/** Reaction of a server to a secret: the alert it sends, or how the connection ends. */
export function reactionIn(records: Buffer, end: 'closed' | 'open'): string {
  let rest = records;
  const alerts: string[] = [];
  while (rest.length >= 5) {
    const size = rest.readUInt16BE(3);
    const content = rest.subarray(5, 5 + size);
    alerts.push(rest[0] === 21 && content.length === 2 ? `alert ${content[1]}` : `record ${rest[0]}`);
    rest = rest.subarray(5 + size);
  }
  return [...alerts.slice(0, 4), end].join(', ');
}
