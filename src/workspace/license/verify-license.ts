import { createPublicKey, type KeyObject } from 'node:crypto';
import { open } from 'node:fs/promises';
import { compactVerify } from 'jose';
import { PortolanError } from '../../domain/errors.ts';
import {
  type LicenseClaims,
  type LicenseFeature,
  type LicensePlan,
  licenseFeatures,
  licensePlans,
} from '../../domain/license.ts';

/** Maximum size of a license or key file, bytes. */
const maxLicenseBytes = 16 * 1024;
/** Latest end of a license, epoch seconds: the maximum of a date (year 9999). */
const latestEnd = 253_402_300_799;
/** IDs of customers and licenses, which are shown and logged. */
export const licenseIdForm = /^[\p{L}\p{N}][\p{L}\p{N} ._@:/+-]{0,127}$/u;

/**
 * Parses a license: a JWT (RFC 7519) signed with Ed25519 (RFC 8037). Does not check whether it has expired.
 * @throws PortolanError `license_required` with the reason; never with the license itself
 */
export async function verifyLicense(license: string, key: KeyObject): Promise<LicenseClaims> {
  let payload: Uint8Array;
  try {
    ({ payload } = await compactVerify(license.trim(), key, { algorithms: ['EdDSA'] }));
  } catch {
    throw badLicense('it is not signed with the key of license.public_key');
  }
  return readClaims(payload);
}

function readClaims(payload: Uint8Array): LicenseClaims {
  let claims: Record<string, unknown>;
  try {
    claims = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload)) as typeof claims;
  } catch {
    throw badLicense('its claims are not JSON');
  }
  if (typeof claims !== 'object' || claims === null) throw badLicense('its claims are not an object');
  const { iat, exp } = { iat: readTime(claims['iat'], 'iat'), exp: readTime(claims['exp'], 'exp') };
  if (exp <= iat) throw badLicense('it ends before it starts');
  return {
    customer_id: readId(claims['customer_id'], 'customer_id'),
    license_id: readId(claims['license_id'], 'license_id'),
    plan: readPlan(claims['plan']),
    features: readFeatures(claims['features']),
    iat,
    exp,
  };
}

function readId(value: unknown, name: string): string {
  if (typeof value === 'string' && licenseIdForm.test(value)) return value;
  throw badLicense(`its claim ${name} is missing or malformed`);
}

function readTime(value: unknown, name: string): number {
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= latestEnd) return Number(value);
  throw badLicense(`its claim ${name} is missing or malformed`);
}

function readPlan(value: unknown): LicensePlan {
  const plan = licensePlans.find((known) => known === value);
  if (plan) return plan;
  throw badLicense(`its plan is not one of ${licensePlans.join(', ')}`);
}

/** Features of later versions do not make a license invalid. */
function readFeatures(value: unknown): LicenseFeature[] {
  if (!Array.isArray(value)) throw badLicense('its claim features is missing or malformed');
  return licenseFeatures.filter((feature) => value.includes(feature));
}

function badLicense(reason: string): PortolanError {
  return new PortolanError('license_required', `Invalid license: ${reason}.`);
}

/**
 * An Ed25519 public key: PEM, a JWK (RFC 8037), or its 32 bytes in hex, base64 or base64url; or the path of a file
 * with one of them.
 * @throws PortolanError `configuration`
 */
export async function readPublicKey(setting: string): Promise<KeyObject> {
  const inline = parsePublicKey(setting);
  if (inline) return inline;
  const parsed = parsePublicKey(await readKeyFile(setting));
  if (parsed) return parsed;
  throw badKey(`the file ${setting} contains no Ed25519 public key`);
}

async function readKeyFile(file: string): Promise<string> {
  // A text with line breaks is not a path, and should not be repeated.
  if (/[\n{]|-----/.test(file)) throw badKey('it is not an Ed25519 public key');
  try {
    return await readSmallFile(file);
  } catch (error) {
    throw badKey(`cannot read the file ${file}: ${(error as Error).message}`);
  }
}

/** @returns null for a text that is not a public key */
function parsePublicKey(text: string): KeyObject | null {
  const trimmed = text.trim();
  if (/PRIVATE KEY-----/.test(trimmed) || /"d"\s*:/.test(trimmed)) {
    throw badKey('it contains a private key, which belongs to the license issuer; use the public key');
  }
  try {
    const key = toKey(trimmed);
    return key?.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}

function toKey(text: string): KeyObject | null {
  if (text.startsWith('-----BEGIN')) return createPublicKey(text);
  if (text.startsWith('{')) return createPublicKey({ key: JSON.parse(text), format: 'jwk' });
  const bytes = rawBytes(text);
  if (bytes === null) return null;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') };
  return createPublicKey({ key: jwk, format: 'jwk' });
}

/** The 32 bytes of a raw key (RFC 8032). */
function rawBytes(text: string): Buffer | null {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : null;
}

function badKey(reason: string): PortolanError {
  return new PortolanError('configuration', `license.public_key: ${reason}`);
}

/** The text of a license or key file. @throws Error of the system, or if the file is too large */
export async function readSmallFile(file: string): Promise<string> {
  await using handle = await open(file, 'r');
  const { buffer, bytesRead } = await handle.read(
    Buffer.alloc(maxLicenseBytes + 1),
    0,
    maxLicenseBytes + 1,
    0,
  );
  if (bytesRead > maxLicenseBytes) throw new Error(`it is larger than ${maxLicenseBytes} bytes`);
  return buffer.toString('utf8', 0, bytesRead);
}
