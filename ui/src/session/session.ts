import { useSyncExternalStore } from 'react';
import { ApiError } from '../api/api-error.ts';
import type { Data } from '../api/api-types.ts';
import { type Credentials, credentials, setCredentials } from '../api/credentials.ts';
import { requestData } from '../api/request.ts';

export interface Session {
  /** `open`: the server requires no token. */
  state: 'unknown' | 'signed-out' | 'signed-in' | 'open';
  tokenId: string | null;
  name: string | null;
  scopes: readonly string[];
  /** The tenant of the token; null for a token of the whole service. */
  tenant: string | null;
  /** Tenants that the token may act for; null where the service has none. */
  tenants: readonly string[] | null;
  /** ISO 8601; null for a token without an end. */
  expiresAt: string | null;
  /** Why nobody is signed in, in words; null at the first visit. */
  reason: string | null;
}

type CheckedToken = Data<'/api/v1/session', 'post'>;

/** Of this tab only: never in localStorage, never in a URL. */
const tokenKey = 'portolan.token';
const tenantKey = 'portolan.tenant';

const nobody: Session = {
  state: 'signed-out',
  tokenId: null,
  name: null,
  scopes: [],
  tenant: null,
  tenants: null,
  expiresAt: null,
  reason: null,
};

let session: Session = { ...nobody, state: 'unknown' };
const listeners = new Set<() => void>();

export function useSession(): Session {
  return useSyncExternalStore(subscribe, () => session);
}

/** Whether the token may do what needs any one of these scopes. */
export function useCan(...scopes: string[]): boolean {
  const { scopes: held } = useSession();
  return held.includes('admin') || scopes.some((scope) => held.includes(scope));
}

/** Checks the token of this tab, or whether the server needs one. @throws ApiError `unreachable` */
export async function openSession(): Promise<void> {
  const token = sessionStorage.getItem(tokenKey);
  setCredentials(credentialsOf(token));
  try {
    change(await checked());
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    signOut(token === null ? null : expired);
  }
}

/** @throws ApiError with the server's reason when the token is not valid */
export async function signIn(token: string): Promise<void> {
  setCredentials({ token, tenant: null });
  try {
    const opened = await checked();
    sessionStorage.setItem(tokenKey, token);
    change(opened);
  } catch (error) {
    setCredentials({ token: null, tenant: null });
    throw error;
  }
}

const expired = 'This token has expired or was revoked.';

/** @param reason shown above the field of the login; null for somebody who left by choice */
export function signOut(reason: string | null = null): void {
  sessionStorage.removeItem(tokenKey);
  sessionStorage.removeItem(tenantKey);
  setCredentials({ token: null, tenant: null });
  change({ ...nobody, reason });
}

/** A response said that the token is not valid any more. */
export function tokenRejected(): void {
  if (session.state === 'signed-in' || session.state === 'open') signOut(expired);
}

/** The tenant that requests of this tab are for, where the token is of the whole service. */
export function chosenTenant(): string | null {
  return sessionStorage.getItem(tenantKey);
}

/** The page must be loaded again afterwards: everything that it shows is of the other tenant. */
export function chooseTenant(tenant: string | null): void {
  if (tenant === null) sessionStorage.removeItem(tenantKey);
  else sessionStorage.setItem(tenantKey, tenant);
  setCredentials(credentialsOf(credentials().token));
}

async function checked(): Promise<Session> {
  const { token_id, name, scopes, tenant, expires_at, tenants } = await requestData<CheckedToken>(
    'POST',
    '/api/v1/session',
  );
  const state = token_id === null ? 'open' : 'signed-in';
  chooseAllowedTenant(tenant, tenants);
  return { state, tokenId: token_id, name, scopes, tenant, tenants, expiresAt: expires_at, reason: null };
}

/** Every request names a tenant where there are some: that of the token, else the one of this tab, else the first. */
function chooseAllowedTenant(own: string | null, tenants: readonly string[] | null): void {
  const chosen = chosenTenant();
  if (own !== null || tenants === null) chooseTenant(own);
  else if (chosen === null || !tenants.includes(chosen)) chooseTenant(tenants[0] ?? null);
}

function credentialsOf(token: string | null): Credentials {
  return { token, tenant: sessionStorage.getItem(tenantKey) };
}

function change(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
