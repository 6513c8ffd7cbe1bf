import { randomBytes } from 'node:crypto';
import { type FieldProblem, invalidRequest, PortolanError } from '../../domain/errors.ts';
import { tenantPattern } from '../../domain/tenant.ts';
import { nearest } from '../../domain/text/nearest.ts';
import { parseDuration } from '../../domain/time/duration.ts';
import type { Store } from '../../store/open.ts';
import type { TokenRecord } from '../../store/tokens.ts';
import { allows, type TokenScope, tokenDigest, tokenScopes } from './verify-token.ts';

export interface TokenRequest {
  name: string;
  scopes: string[];
  /** Duration text such as `90d`; null = the token never expires. */
  expiry: string | null;
  /** What the client calls `expiry`, for problems. */
  expiryField?: string;
  /** The only tenant of the token; null = none. */
  tenant?: string | null;
  /** The existing tenants. */
  tenants?: { enabled: boolean; tenants: readonly string[] };
  /** The token of the client, whose rights the new one must not exceed; null or absent = no limit. */
  grantor?: Pick<TokenRecord, 'scopes' | 'tenant'> | null;
}

export interface CreatedToken {
  /** The token itself, available only here. */
  token: string;
  record: TokenRecord;
  warnings: string[];
}

const idLength = 6;
const idAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
const secretBytes = 32;

/**
 * Creates a token; only its digest is stored.
 * @throws PortolanError `invalid_request`; `insufficient_scope`, `tenant_forbidden` for more rights than the client's
 */
export async function createToken(
  store: Store,
  order: TokenRequest,
  now = new Date(),
): Promise<CreatedToken> {
  const expiresAt = checkOrder(order, now);
  checkGrant(order);
  const id = await freeId(store);
  const token = mintToken(id);
  const record: TokenRecord = {
    id,
    name: order.name.trim(),
    digest: tokenDigest(token),
    previous_digest: null,
    previous_until: null,
    scopes: [...new Set(order.scopes)],
    tenant: order.tenant ?? null,
    created_at: now.toISOString(),
    expires_at: expiresAt,
    last_used_at: null,
    revoked_at: null,
  };
  await store.tokens.insert(record);
  return { token, record, warnings: remarks(order, record) };
}

function remarks({ tenants }: TokenRequest, { expires_at, tenant, scopes }: TokenRecord): string[] {
  const found: string[] = [];
  if (expires_at === null) found.push('the token never expires; set an expiry such as 90d to limit it');
  if (tenant !== null && !tenants?.enabled) {
    found.push('multi_tenant.enabled is not set: a token limited to a tenant cannot read any scan');
  }
  if (tenant === null && tenants?.enabled && !scopes.includes('admin')) {
    found.push('a token without a tenant and without the scope admin cannot read the scans of any tenant');
  }
  return found;
}

/** `svc_<id>_` and 256 random bits in base64url. */
export function mintToken(id: string): string {
  return `svc_${id}_${randomBytes(secretBytes).toString('base64url')}`;
}

function checkOrder(order: TokenRequest, now: Date): string | null {
  const fields: FieldProblem[] = [];
  const name = order.name.trim();
  if (name === '' || name.length > 100 || /\p{Cc}/u.test(name)) {
    fields.push({ field: 'name', reason: 'must be 1 to 100 printable characters' });
  }
  if (order.scopes.length === 0) fields.push({ field: 'scopes', reason: 'must name at least one scope' });
  for (const scope of order.scopes) {
    if (!(tokenScopes as readonly string[]).includes(scope))
      fields.push({ field: 'scopes', reason: unknownScope(scope) });
  }
  const tenantProblem = badTenant(order);
  if (tenantProblem) fields.push({ field: 'tenant', reason: tenantProblem });
  const lifetime = order.expiry === null ? null : parseDuration(order.expiry);
  if (order.expiry !== null && (lifetime === null || lifetime <= 0)) {
    fields.push({ field: order.expiryField ?? 'expiry', reason: 'must be a duration such as 90d or 12h' });
  }
  if (fields.length > 0) {
    throw invalidRequest(fields.map(({ field, reason }) => `${field} ${reason}`).join('; '), fields);
  }
  return lifetime === null ? null : new Date(now.getTime() + lifetime).toISOString();
}

function checkGrant({ scopes, tenant = null, grantor = null }: TokenRequest): void {
  if (grantor === null) return;
  if (grantor.tenant !== null && tenant !== grantor.tenant) {
    const text = "The new token would not be limited to the tenant of the client's token.";
    throw new PortolanError('tenant_forbidden', text);
  }
  const wider = scopes.filter((scope) => !allows(grantor.scopes, [scope as TokenScope]));
  if (wider.length === 0) return;
  const text = `The client's token lacks the scope ${wider.join(', ')}, so it cannot grant it.`;
  throw new PortolanError('insufficient_scope', text, { required_scopes: wider });
}

/** Why a token cannot be limited to the tenant, or null. */
function badTenant({ tenant, tenants }: TokenRequest): string | null {
  if (tenant === null || tenant === undefined) return null;
  if (!tenantPattern.test(tenant)) return 'must be at most 63 lower-case letters, digits and dashes';
  if (!tenants?.enabled || tenants.tenants.includes(tenant)) return null;
  const guess = nearest(tenant, tenants.tenants);
  return guess ? `is not in multi_tenant.tenants; did you mean ${guess}?` : 'is not in multi_tenant.tenants';
}

function unknownScope(scope: string): string {
  const guess = nearest(scope, tokenScopes);
  const hint = guess ? `did you mean ${guess}?` : `known scopes: ${tokenScopes.join(', ')}`;
  return `"${scope}" is not a scope; ${hint}`;
}

async function freeId(store: Store): Promise<string> {
  for (;;) {
    const id = Array.from(randomBytes(idLength), (byte) => idAlphabet[byte % idAlphabet.length]).join('');
    if ((await store.tokens.find(id)) === null) return id;
  }
}
