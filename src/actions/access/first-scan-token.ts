import type { Store } from '../../store/open.ts';
import type { TokenRecord } from '../../store/tokens.ts';
import { createToken, mintToken } from './create-token.ts';
import { tokenDigest, tokenState } from './verify-token.ts';

const name = 'first-scan';
const scopes = ['scan:read', 'scan:write'];
/** Life of the token, hours. */
const lifeHours = 24;

/**
 * The token of the first scan, valid for 24 hours. At most one is active: each start renews it and revokes older ones.
 * The one that the start before printed stays valid until its own end.
 */
export async function firstScanToken(store: Store, now = new Date()): Promise<string> {
  return await store.transaction(async (tx) => {
    const [newest, ...older] = (await tx.tokens.list())
      .filter((record) => isFirstScanToken(record, now))
      .toReversed();
    for (const { id } of older) await tx.tokens.update(id, { revoked_at: now.toISOString() });
    if (newest) return await renew(tx, newest, now);
    return (await createToken(tx, { name, scopes, expiry: `${lifeHours}h` }, now)).token;
  });
}

/** One that a start made: a person's token of that name has other scopes or lives longer. */
function isFirstScanToken(record: TokenRecord, now: Date): boolean {
  return (
    record.name === name &&
    record.tenant === null &&
    record.scopes.join() === scopes.join() &&
    record.expires_at !== null &&
    record.expires_at <= endOfLife(now) &&
    tokenState(record, now) === 'active'
  );
}

async function renew({ tokens }: Store, record: TokenRecord, now: Date): Promise<string> {
  const token = mintToken(record.id);
  await tokens.update(record.id, {
    digest: tokenDigest(token),
    previous_digest: record.digest,
    previous_until: record.expires_at,
    expires_at: endOfLife(now),
  });
  return token;
}

function endOfLife(now: Date): string {
  return new Date(now.getTime() + lifeHours * 3_600_000).toISOString();
}
