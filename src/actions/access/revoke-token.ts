import { PortolanError } from '../../domain/errors.ts';
import type { Store } from '../../store/open.ts';

/** Revokes a token for good; idempotent. @throws PortolanError `not_found` */
export async function revokeToken(store: Store, id: string, now = new Date()): Promise<void> {
  const record = await store.tokens.find(id);
  if (record === null) throw new PortolanError('not_found', `There is no token "${id}".`);
  if (record.revoked_at === null) await store.tokens.update(id, { revoked_at: now.toISOString() });
}
