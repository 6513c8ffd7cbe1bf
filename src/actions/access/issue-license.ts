import { createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { type FieldProblem, invalidRequest, PortolanError } from '../../domain/errors.ts';
import {
  type LicenseClaims,
  type LicenseFeature,
  licenseFeatures,
  licensePlans,
} from '../../domain/license.ts';
import { nearest } from '../../domain/text/nearest.ts';
import { parseDuration } from '../../domain/time/duration.ts';
import { licenseIdForm } from '../../workspace/license/verify-license.ts';

export interface LicenseRequest {
  customer: string;
  plan: string;
  /** Null = all for the plan enterprise, none for the others. */
  features: string[] | null;
  /** Duration text such as `365d`. */
  expiry: string;
  /** Null = random. */
  licenseId: string | null;
}

/** A new Ed25519 key pair as PEM texts. */
export function createLicenseKeys(): { publicKey: string; privateKey: string } {
  return generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}

/** Signs a license. @throws PortolanError `invalid_request` with every problem, `usage` for an invalid key */
export async function issueLicense(
  order: LicenseRequest,
  privateKeyPem: string,
  now = new Date(),
): Promise<{ license: string; claims: LicenseClaims }> {
  const claims = decideClaims(order, now);
  const license = await new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
    .sign(readPrivateKey(privateKeyPem));
  return { license, claims };
}

function readPrivateKey(pem: string): KeyObject {
  let key: KeyObject | null;
  try {
    key = createPrivateKey(pem);
  } catch {
    key = null;
  }
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw new PortolanError('usage', 'not an Ed25519 private key; create one with portolan license keygen');
}

function decideClaims(order: LicenseRequest, now: Date): LicenseClaims {
  const problems: FieldProblem[] = [];
  const plan = licensePlans.find((known) => known === order.plan);
  if (!plan) problems.push({ field: 'plan', reason: `must be one of ${licensePlans.join(', ')}` });
  const customer = checkedId('customer', order.customer, problems);
  const licenseId = checkedId('license-id', order.licenseId ?? `lic-${randomUUID()}`, problems);
  const features = checkedFeatures(
    order.features ?? (plan === 'enterprise' ? licenseFeatures : []),
    problems,
  );
  const lifetime = parseDuration(order.expiry);
  if (lifetime === null || lifetime < 1000) {
    problems.push({ field: 'expiry', reason: 'must be a duration such as 365d' });
  }
  if (!plan || lifetime === null || problems.length > 0) {
    throw invalidRequest(problems.map(({ field, reason }) => `${field} ${reason}`).join('; '), problems);
  }
  const iat = Math.floor(now.getTime() / 1000);
  const exp = iat + Math.floor(lifetime / 1000);
  return { customer_id: customer, license_id: licenseId, plan, features, iat, exp };
}

function checkedId(field: string, text: string, problems: FieldProblem[]): string {
  const id = text.trim();
  const reason = 'must be 1 to 128 letters, digits, spaces or ._@:/+-, starting with a letter or digit';
  if (!licenseIdForm.test(id)) problems.push({ field, reason });
  return id;
}

function checkedFeatures(names: readonly string[], problems: FieldProblem[]): LicenseFeature[] {
  for (const name of names) {
    if ((licenseFeatures as readonly string[]).includes(name)) continue;
    const guess = nearest(name, licenseFeatures);
    const hint = guess ? `did you mean ${guess}?` : `known features: ${licenseFeatures.join(', ')}`;
    problems.push({ field: 'features', reason: `"${name}" is not a feature; ${hint}` });
  }
  return licenseFeatures.filter((feature) => names.includes(feature));
}
