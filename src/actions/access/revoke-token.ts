import { PortolanError } from '../../domain/errors.ts';
import type { Store } from '../../store/open.ts';
import type { TokenRecord } from '../../store/tokens.ts';
import { tokenState } from './verify-token.ts';

interface Revocation {
  /** Refuses to revoke the last token that administers the whole service: nobody could create another one. */
  sparesLastAdmin?: boolean;
  now?: Date;
}

/**
 * Revokes a token for good; idempotent.
 * @throws PortolanError `not_found`; `conflict` for the last token of an administrator, with `details.reason`
 */
export async function revokeToken(
  store: Store,
  id: string,
  { sparesLastAdmin = false, now = new Date() }: Revocation = {},
): Promise<void> {
  await store.transaction(async ({ tokens }) => {
    const record = await tokens.find(id);
    if (record === null) throw new PortolanError('not_found', `There is no token "${id}".`);
    if (record.revoked_at !== null) return;
    if (sparesLastAdmin && administers(record, now)) {
      const others = (await tokens.list()).filter((other) => other.id !== id && administers(other, now));
      if (others.length === 0) throw lastAdmin(id);
    }
    await tokens.update(id, { revoked_at: now.toISOString() });
  });
}

/** Whether a token may create others for the whole service. */
function administers(record: TokenRecord, now: Date): boolean {
  return record.tenant === null && record.scopes.includes('admin') && tokenState(record, now) === 'active';
}

function lastAdmin(id: string): PortolanError {
  return new PortolanError(
    'conflict',
    `The token "${id}" is the last active one with the scope admin: without it nobody could manage the service over the ` +
      'API. Create another one first, or force it.',
    { reason: 'last_admin_token' },
  );
}
