import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import { sha256Of } from './package-archive.ts';

/** Maximum size of a signature file, bytes. */
export const maxSignatureBytes = 16 * 1024;
/** 64 bytes in base64. */
const signatureForm = /^[A-Za-z0-9+/]{86}==$/;
/** Text of a publisher that is shown and logged, characters. */
const maxPublisher = 100;

/** `<file>.sig`. */
export interface SignatureFile {
  algorithm: 'ed25519';
  /** Raw key, base64. */
  public_key: string;
  /** Base64; over the 32 bytes of the SHA-256 of the file. */
  signature: string;
  /** Of the file, hex. */
  sha256: string;
  publisher: string;
  /** ISO 8601 UTC. */
  expires_at?: string;
  /** Base64; signature over sha256, expires_at and publisher, which `signature` does not cover. */
  binding?: string;
}

export type SignatureState = 'trusted' | 'unsigned' | 'untrusted' | 'expired' | 'revoked' | 'invalid';

/** What a signature is worth now; never stored. */
export interface SignatureVerdict {
  state: SignatureState;
  publisher: string | null;
  fingerprint: string | null;
  /** Whether publisher and expiry are signed, too. */
  bound: boolean;
  /** Null if trusted or unsigned. */
  reason: string | null;
}

/** Whose signatures count. */
export type PublisherRules = Pick<
  Config['plugins'],
  'trusted_publishers' | 'revoked_publishers' | 'require_signature'
>;

export function createSigningKeys(): { publicKey: string; privateKey: string; fingerprint: string } {
  const pair = generateKeyPairSync('ed25519');
  return {
    privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    fingerprint: sha256Of(rawKey(pair.publicKey)),
  };
}

/** @throws PortolanError `usage` if the key is not a private Ed25519 key */
export function signFile(
  bytes: Uint8Array,
  privateKey: string,
  { publisher, expiresAt }: { publisher: string; expiresAt: Date | null },
): SignatureFile {
  const key = readPrivateKey(privateKey);
  const digest = createHash('sha256').update(bytes).digest();
  const signed: SignatureFile = {
    algorithm: 'ed25519',
    public_key: rawKey(createPublicKey(key)).toString('base64'),
    signature: sign(null, digest, key).toString('base64'),
    sha256: digest.toString('hex'),
    publisher: publisher.slice(0, maxPublisher),
    ...(expiresAt && { expires_at: expiresAt.toISOString() }),
  };
  return { ...signed, binding: sign(null, boundText(signed), key).toString('base64') };
}

/** Four lines; the last one may be anything, the others have a fixed form. */
function boundText({ sha256, expires_at = '', publisher }: SignatureFile): Buffer {
  return Buffer.from(`portolan-plugin-signature-1\n${sha256}\n${expires_at}\n${publisher}`);
}

function readPrivateKey(text: string): KeyObject {
  try {
    const key = createPrivateKey(text);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Below: the text may be secret and is not repeated.
  }
  throw new PortolanError('usage', 'the key is not a private Ed25519 key (PEM); see portolan plugin keygen');
}

function rawKey(key: KeyObject): Buffer {
  return Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url');
}

/** @param signature text of the signature file; null = unsigned */
export function evaluateSignature(
  bytes: Uint8Array,
  signature: string | null,
  rules: PublisherRules,
  now = Date.now(),
): SignatureVerdict {
  const nobody = { publisher: null, fingerprint: null, bound: false };
  if (signature === null) return { state: 'unsigned', ...nobody, reason: null };
  const read = parseSignature(signature);
  if (typeof read === 'string') return { state: 'invalid', ...nobody, reason: read };
  const raw = Buffer.from(read.public_key, 'base64');
  const fingerprint = sha256Of(raw);
  const trusted = rules.trusted_publishers.find((each) => each.fingerprint.toLowerCase() === fingerprint);
  // A name in the file may be anything: of trusted publishers the configured name is shown.
  const publisher = trusted?.name ?? read.publisher;
  const bound = read.binding !== undefined;
  const verdict = (state: SignatureState, reason: string | null) => ({
    state,
    publisher,
    fingerprint,
    bound,
    reason,
  });
  if (!matches(bytes, read, raw)) return verdict('invalid', 'the signature does not match the file');
  if (!bindingMatches(read, raw))
    return verdict('invalid', 'publisher or expires_at were changed after signing');
  if (rules.revoked_publishers.some((each) => each.toLowerCase() === fingerprint)) {
    return verdict('revoked', 'its publisher is revoked');
  }
  if (read.expires_at !== undefined && Date.parse(read.expires_at) <= now) {
    return verdict('expired', `its signature expired on ${read.expires_at}`);
  }
  if (trusted?.bound && !bound) {
    return verdict(
      'invalid',
      'it lacks the field binding, which plugins.trusted_publishers requires of its publisher',
    );
  }
  return trusted
    ? verdict('trusted', null)
    : verdict('untrusted', 'its publisher is not in plugins.trusted_publishers');
}

function matches(bytes: Uint8Array, { sha256, signature }: SignatureFile, raw: Buffer): boolean {
  const digest = createHash('sha256').update(bytes).digest();
  return digest.toString('hex') === sha256 && verifies(digest, signature, raw);
}

function bindingMatches(read: SignatureFile, raw: Buffer): boolean {
  return read.binding === undefined || verifies(boundText(read), read.binding, raw);
}

function verifies(message: Buffer, signature: string, raw: Buffer): boolean {
  try {
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
      format: 'jwk',
    });
    return verify(null, message, key, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}

/** SHA-256 of the file that a signature file is about, unchecked; null if it is malformed. */
export function signedHash(text: string | null): string | null {
  const read = text === null ? '' : parseSignature(text);
  return typeof read === 'string' ? null : read.sha256;
}

/** @returns why it is malformed, for anything but a signature file */
function parseSignature(text: string): SignatureFile | string {
  let read: Partial<Record<keyof SignatureFile, unknown>> | null;
  try {
    read = JSON.parse(text) as typeof read;
  } catch {
    return 'the signature file is not JSON';
  }
  if (typeof read !== 'object' || read === null) return 'the signature file is not an object';
  if (read.algorithm !== 'ed25519') return 'the algorithm of the signature is not ed25519';
  const has = (key: keyof SignatureFile, form: RegExp) => form.test(String(read[key]));
  if (!has('public_key', /^[A-Za-z0-9+/]{43}=$/)) return 'public_key is not an Ed25519 key in base64';
  if (!has('signature', signatureForm)) return 'signature is not an Ed25519 signature in base64';
  if (!has('sha256', /^[0-9a-f]{64}$/)) return 'sha256 is not a SHA-256 in hex';
  if (typeof read.publisher !== 'string' || read.publisher.length > maxPublisher)
    return 'publisher is malformed';
  const { expires_at: end } = read;
  // Printable: a line break would let it run into the publisher of the bound text.
  if (
    end !== undefined &&
    !(typeof end === 'string' && /^[ -~]{1,40}$/.test(end) && !Number.isNaN(Date.parse(end)))
  ) {
    return 'expires_at is not a time';
  }
  if (read.binding !== undefined && !has('binding', signatureForm))
    return 'binding is not an Ed25519 signature in base64';
  return read as SignatureFile;
}

/**
 * Refuses what must not be installed or loaded: altered, expired or revoked always; unsigned and untrusted where
 * signatures are required.
 * @throws PortolanError `permission` with state and fingerprint
 */
export function requireTrust(what: string, verdict: SignatureVerdict, rules: PublisherRules): void {
  const { state, fingerprint, reason } = verdict;
  const refused =
    ['invalid', 'expired', 'revoked'].includes(state) || (rules.require_signature && state !== 'trusted');
  if (!refused) return;
  const by = fingerprint === null ? '' : ` (publisher ${fingerprint})`;
  const why = reason ?? 'it is not signed and plugins.require_signature is set';
  throw new PortolanError('permission', `${what} refused, signature ${state}: ${why}${by}`, {
    state,
    fingerprint,
  });
}
