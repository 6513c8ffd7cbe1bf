import type { Store } from '../../store/open.ts';
import type { TokenRecord } from '../../store/tokens.ts';
import { type TokenState, tokenState } from './verify-token.ts';

/** The public fields of a token. */
export type TokenSummary = Pick<
  TokenRecord,
  'id' | 'name' | 'scopes' | 'tenant' | 'created_at' | 'expires_at' | 'last_used_at'
> & { status: TokenState };

/** All tokens, oldest first. */
export async function listTokens(store: Store, now = new Date()): Promise<TokenSummary[]> {
  return (await store.tokens.list()).map((record) => summarize(record, now));
}

function summarize(record: TokenRecord, now: Date): TokenSummary {
  const { id, name, scopes, tenant, created_at, expires_at, last_used_at } = record;
  return { id, name, scopes, tenant, created_at, expires_at, last_used_at, status: tokenState(record, now) };
}
