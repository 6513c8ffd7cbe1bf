import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from '../../store/open.ts';
import { createToken } from './create-token.ts';
import { firstScanToken } from './first-scan-token.ts';
import { listTokens } from './list-tokens.ts';
import { revokeToken } from './revoke-token.ts';
import { rotateToken } from './rotate-token.ts';
import { allows, tokenIdOf, verifyToken } from './verify-token.ts';

let dir: string;
let store: Store;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-tokens-'));
  store = await openStore(join(dir, 'service.db'));
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

const isGood = async (token: string, now = new Date()) =>
  verifyToken(token, await store.tokens.find(tokenIdOf(token) ?? ''), now);

describe('tokens', () => {
  it('have the documented form, are good, and are nowhere stored', async () => {
    const { token, record, warnings } = await createToken(store, {
      name: 'ci',
      scopes: ['scan:read'],
      expiry: '90d',
    });
    expect(token).toMatch(/^svc_[a-z0-9]{6}_[A-Za-z0-9_-]{43}$/);
    expect(warnings).toEqual([]);
    expect(await isGood(token)).toBe(true);
    expect(await isGood(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`)).toBe(false);
    expect(JSON.stringify([record, await listTokens(store), await store.tokens.list()])).not.toContain(
      token.slice(11),
    );
  });

  it('expire, are revoked and rotated', async () => {
    const { token, record } = await createToken(store, { name: 'ci', scopes: ['admin'], expiry: '1h' });
    const later = new Date(Date.now() + 3_601_000);
    expect(await isGood(token, later)).toBe(false);
    expect((await listTokens(store, later))[0]?.status).toBe('expired');

    const second = await rotateToken(store, record.id, null);
    expect([await isGood(token), await isGood(second)]).toEqual([false, true]);
    const third = await rotateToken(store, record.id, '10m');
    expect([await isGood(second), await isGood(third)]).toEqual([true, true]);
    expect(await isGood(second, new Date(Date.now() + 601_000))).toBe(false);

    await revokeToken(store, record.id);
    await revokeToken(store, record.id);
    expect(await isGood(third)).toBe(false);
    expect((await listTokens(store))[0]?.status).toBe('revoked');
    await expect(rotateToken(store, record.id, null)).rejects.toMatchObject({ code: 'conflict' });
    await expect(revokeToken(store, 'nobody')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('of two administrators that are revoked at once leave one', async () => {
    const order = { name: 'x', scopes: ['admin'], expiry: '1h' };
    const ids = [await createToken(store, order), await createToken(store, order)].map(
      ({ record }) => record.id,
    );
    const ended = await Promise.allSettled(
      ids.map((id) => revokeToken(store, id, { sparesLastAdmin: true })),
    );
    expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = ended.find(({ status }) => status === 'rejected');
    expect(refused).toMatchObject({ reason: { code: 'conflict', details: { reason: 'last_admin_token' } } });
    expect((await listTokens(store)).map(({ status }) => status).sort()).toEqual(['active', 'revoked']);
  });

  it('are refused with every problem named; without expiry there is a warning', async () => {
    const order = createToken(store, { name: ' ', scopes: ['scan:raed'], expiry: '90' });
    await expect(order).rejects.toMatchObject({
      code: 'invalid_request',
      details: { fields: [{ field: 'name' }, { field: 'scopes' }, { field: 'expiry' }] },
    });
    await expect(order).rejects.toThrow(/did you mean scan:read/);
    expect((await createToken(store, { name: 'x', scopes: ['admin'], expiry: null })).warnings).toHaveLength(
      1,
    );
  });

  it('allow what one of their scopes allows; admin allows all', () => {
    expect(allows(['scan:read'], ['workspace:read', 'scan:read'])).toBe(true);
    expect(allows(['scan:read'], ['scan:write'])).toBe(false);
    expect(allows(['admin'], ['audit:read'])).toBe(true);
  });
});

describe('the token of the first scan', () => {
  const hours = (count: number) => new Date(Date.now() + count * 3_600_000);
  const namedSo = { name: 'first-scan', scopes: ['scan:read', 'scan:write'] };
  const statuses = async (now: Date) => (await listTokens(store, now)).map(({ status }) => status);

  it('is one after seven starts; what the start before printed still works', async () => {
    const tokens: string[] = [];
    for (let start = 0; start < 7; start++) tokens.push(await firstScanToken(store, hours(start)));
    expect(await statuses(hours(6))).toEqual(['active']);
    const good = await Promise.all(tokens.map((token) => isGood(token, hours(7))));
    expect(good).toEqual([false, false, false, false, false, true, true]);
    expect(await isGood(tokens[5] ?? '', hours(29.5))).toBe(false);
    expect(await isGood(tokens[6] ?? '', hours(29.5))).toBe(true);
    expect(await statuses(hours(31))).toEqual(['expired']);
    await firstScanToken(store, hours(31));
    expect(await statuses(hours(31))).toEqual(['expired', 'active']);
  });

  it('revokes those that earlier versions left, and no token of a person', async () => {
    for (let start = 0; start < 3; start++) await createToken(store, { ...namedSo, expiry: '24h' });
    const lasting = await createToken(store, { ...namedSo, expiry: '90d' });
    const wider = await createToken(store, { ...namedSo, scopes: ['admin'], expiry: '24h' });
    await firstScanToken(store);
    const listed = await listTokens(store);
    expect(listed.filter(({ status }) => status === 'active')).toHaveLength(3);
    expect([await isGood(lasting.token), await isGood(wider.token)]).toEqual([true, true]);
  });
});
