import { constants, type KeyObject, publicEncrypt, randomBytes, X509Certificate } from 'node:crypto';

/** Bytes of a premaster secret (RFC 5246, 7.4.7.1). */
const secretBytes = 48;

/** A key of fewer bytes has no room for the forms below. */
const shortestKeyBytes = 64;

/**
 * What is wrong with the secret that a client sends. `none`: nothing; `start`: the first two bytes; `no-end`: nothing
 * ends the padding; `early-end`: the secret is too short; `version`: its first two bytes.
 */
export const paddingForms = ['none', 'start', 'no-end', 'early-end', 'version'] as const;
export type PaddingForm = (typeof paddingForms)[number];

/** The RSA key of a certificate in DER; null when it has none that can be used. */
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
 * What a client sends after the hello of a server in an exchange by RSA: its secret, padded by PKCS #1 in one of the
 * forms, the change of cipher, and noise as the encrypted end. A server has to answer all forms alike (RFC 5246,
 * 7.4.7.1); one that does not tells whether a padding is right, and so decrypts for strangers (ROBOT).
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

/** RFC 8017, 7.2.1: `00 02`, at least eight bytes that are not zero, zero, the secret. */
function paddedSecret(size: number, version: number, form: PaddingForm): Buffer {
  // Nothing in it is zero but what is made so.
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

/** What a server does once it has seen a secret: the alert that it sends, or how the connection ends. */
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
