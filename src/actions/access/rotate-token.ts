import { invalidRequest, PortolanError } from '../../domain/errors.ts';
import { parseDuration } from '../../domain/time/duration.ts';
import type { Store } from '../../store/open.ts';
import { mintToken } from './create-token.ts';
import { tokenDigest, tokenState } from './verify-token.ts';

/**
 * Gives a token a new secret; ID, name and scopes stay. The old secret expires at once, or after `grace` (duration
 * text).
 * @returns the new token, which cannot be read again
 * @throws PortolanError `not_found`, `conflict` for an expired or revoked token, `invalid_request` for an invalid
 * grace
 */
export async function rotateToken(
  store: Store,
  id: string,
  grace: string | null,
  now = new Date(),
): Promise<string> {
  const graceMs = grace === null ? 0 : parseDuration(grace);
  if (graceMs === null) {
    const reason = 'must be a duration such as 10m';
    throw invalidRequest(`grace ${reason}`, [{ field: 'grace', reason }]);
  }
  return await store.transaction(async (inside) => {
    const record = await inside.tokens.find(id);
    if (record === null) throw new PortolanError('not_found', `There is no token "${id}".`);
    const state = tokenState(record, now);
    if (state !== 'active')
      throw new PortolanError('conflict', `The token "${id}" is ${state}; create a new one.`);
    const token = mintToken(id);
    await inside.tokens.update(id, {
      digest: tokenDigest(token),
      previous_digest: graceMs > 0 ? record.digest : null,
      previous_until: graceMs > 0 ? new Date(now.getTime() + graceMs).toISOString() : null,
    });
    return token;
  });
}
