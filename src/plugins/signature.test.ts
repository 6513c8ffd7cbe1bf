import { describe, expect, it } from 'vitest';
import { createSigningKeys, evaluateSignature, requireTrust, signFile } from './signature.ts';

const keys = createSigningKeys();
const bytes = Buffer.from('a package');
const order = { publisher: 'Acme', expiresAt: null };
const signature = signFile(bytes, keys.privateKey, order);
const rules = (more = {}) => ({
  require_signature: true,
  trusted_publishers: [{ fingerprint: keys.fingerprint, name: 'Acme Ltd', bound: false }],
  revoked_publishers: [] as string[],
  ...more,
});
const judge = (change: object = {}, more = {}, content = bytes) =>
  evaluateSignature(content, JSON.stringify({ ...signature, ...change }), rules(more));

describe('a signature', () => {
  it('of a trusted publisher holds, with the configured name', () => {
    expect(judge()).toEqual({
      state: 'trusted',
      publisher: 'Acme Ltd',
      fingerprint: keys.fingerprint,
      bound: true,
      reason: null,
    });
  });

  it('fails for every flipped byte of the file', () => {
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      expect(judge({}, {}, changed).state).toBe('invalid');
    }
    const other = signFile(Buffer.from('other'), keys.privateKey, order);
    expect(judge({ signature: other.signature }).state).toBe('invalid');
    // A correct sum beside the signature of another file.
    expect(
      evaluateSignature(bytes, JSON.stringify({ ...other, sha256: signature.sha256 }), rules()).state,
    ).toBe('invalid');
  });

  it('of another key is not trusted, and cannot borrow the trusted key', () => {
    const foreign = createSigningKeys();
    const theirs = signFile(bytes, foreign.privateKey, order);
    expect(judge(theirs)).toMatchObject({ state: 'untrusted', fingerprint: foreign.fingerprint });
    expect(judge({ ...theirs, public_key: signature.public_key }).state).toBe('invalid');
  });

  it('expires and is revoked', () => {
    const short = signFile(bytes, keys.privateKey, { publisher: 'Acme', expiresAt: new Date(1000) });
    expect(evaluateSignature(bytes, JSON.stringify(short), rules(), 999).state).toBe('trusted');
    expect(evaluateSignature(bytes, JSON.stringify(short), rules(), 1000).state).toBe('expired');
    expect(judge({}, { revoked_publishers: [keys.fingerprint.toUpperCase()] }).state).toBe('revoked');
  });

  it('binds publisher and expiry: neither can be changed, added or removed', () => {
    const short = signFile(bytes, keys.privateKey, { publisher: 'Acme', expiresAt: new Date(1000) });
    const forged = (change: object) =>
      evaluateSignature(bytes, JSON.stringify({ ...short, ...change }), rules(), 0);
    expect(forged({})).toMatchObject({ state: 'trusted', bound: true });
    for (const change of [
      { expires_at: '2999-01-01T00:00:00Z' },
      { expires_at: undefined },
      { publisher: 'Other' },
      { binding: short.signature },
      { binding: signature.binding },
    ])
      expect(forged(change).state, JSON.stringify(change)).toBe('invalid');
    expect(judge({ expires_at: '2999-01-01T00:00:00Z' }).state).toBe('invalid');
  });

  it('of other tools, without a binding, holds and expires, unless its publisher binds', () => {
    const plain = (expires_at: string) => ({ binding: undefined, expires_at });
    expect(judge(plain('2999-01-01T00:00:00Z'))).toMatchObject({ state: 'trusted', bound: false });
    expect(judge(plain('2020-01-01T00:00:00Z')).state).toBe('expired');
    const binds = {
      trusted_publishers: [{ fingerprint: keys.fingerprint, name: 'Acme Ltd', bound: true }],
    };
    expect(judge(plain('2999-01-01T00:00:00Z'), binds)).toMatchObject({
      state: 'invalid',
      reason: expect.stringContaining('binding'),
    });
    expect(judge({}, binds).state).toBe('trusted');
  });

  it.each([
    { algorithm: 'none' },
    { public_key: '' },
    { signature: 'AAAA' },
    { sha256: null },
    { publisher: 7 },
    { expires_at: 'soon' },
    { expires_at: '2999-01-01T00:00:00Z\n' },
    { expires_at: ['2999-01-01T00:00:00Z'] },
    { binding: 'AAAA' },
    { binding: null },
  ])('with %j is malformed', (change) => {
    expect(judge(change).state).toBe('invalid');
    for (const text of ['', 'null', '[]', '{'])
      expect(evaluateSignature(bytes, text, rules()).state).toBe('invalid');
  });
});

describe('trust', () => {
  const refusal = (verdict: ReturnType<typeof judge>, more = {}) => {
    try {
      requireTrust('it', verdict, rules(more));
      return null;
    } catch (error) {
      return error;
    }
  };

  it('is refused with code and fingerprint', () => {
    expect(refusal(judge())).toBeNull();
    const revoked = judge({}, { revoked_publishers: [keys.fingerprint] });
    expect(refusal(revoked)).toMatchObject({
      code: 'permission',
      message: expect.stringContaining(keys.fingerprint),
      details: { state: 'revoked', fingerprint: keys.fingerprint },
    });
    expect(refusal(evaluateSignature(bytes, null, rules()))).toMatchObject({
      details: { state: 'unsigned' },
    });
    expect(refusal(judge({}, { trusted_publishers: [] }))).toMatchObject({ details: { state: 'untrusted' } });
  });

  it('is not required unless configured, but a broken signature is refused always', () => {
    const free = { require_signature: false };
    expect(refusal(evaluateSignature(bytes, null, rules()), free)).toBeNull();
    expect(refusal(judge({}, { trusted_publishers: [] }), free)).toBeNull();
    expect(refusal(judge({ sha256: '0'.repeat(64) }), free)).toMatchObject({ details: { state: 'invalid' } });
  });
});
