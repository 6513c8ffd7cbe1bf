import { createHash, timingSafeEqual } from 'node:crypto';
import type { TokenRecord } from '../../store/tokens.ts';

/** Scopes of a token; `admin` implies all others. */
export const tokenScopes = [
  'scan:read',
  'scan:write',
  'scan:execute',
  'workspace:read',
  'workspace:write',
  'job:read',
  'job:write',
  'plugin:read',
  'plugin:write',
  'plugin:manage',
  'dag:write',
  'metrics:read',
  'audit:read',
  'admin',
] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** The public part of `svc_<id>_<secret>`: the ID of the record. */
const tokenForm = /^svc_([a-z0-9]{4,16})_[A-Za-z0-9_-]{43}$/;

/** The ID inside a token, or null if the text is not a token. */
export function tokenIdOf(token: string): string | null {
  return tokenForm.exec(token)?.[1] ?? null;
}

/** SHA-256 of the whole token, hex: all that is ever stored of it. */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}

export type TokenState = 'active' | 'expired' | 'revoked';

export function tokenState(record: TokenRecord, now: Date): TokenState {
  if (record.revoked_at !== null) return 'revoked';
  if (record.expires_at !== null && Date.parse(record.expires_at) <= now.getTime()) return 'expired';
  return 'active';
}

/** Whether a token matches the record and is usable now. Constant time for wrong secrets and missing records. */
export function verifyToken(token: string, record: TokenRecord | null, now: Date): boolean {
  const digest = tokenDigest(token);
  const current = sameDigest(digest, record?.digest ?? null);
  const previous = sameDigest(digest, record?.previous_digest ?? null);
  if (record === null || tokenState(record, now) !== 'active') return false;
  return current || (previous && Date.parse(record.previous_until ?? '') > now.getTime());
}

/** Whether a token is the newest one of the record, even if expired or revoked. */
export function ownsSecret(token: string, record: TokenRecord | null): boolean {
  return sameDigest(tokenDigest(token), record?.digest ?? null);
}

/** Whether these scopes include any one of `required`. */
export function allows(scopes: readonly string[], required: readonly TokenScope[]): boolean {
  return scopes.includes('admin') || required.some((scope) => scopes.includes(scope));
}

function sameDigest(digest: string, stored: string | null): boolean {
  const expected = Buffer.from(stored?.length === digest.length ? stored : '0'.repeat(digest.length));
  return timingSafeEqual(Buffer.from(digest), expected) && stored !== null;
}
