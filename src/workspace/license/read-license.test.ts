import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLicenseKeys, issueLicense } from '../../actions/access/issue-license.ts';
import { loadConfig } from '../../config/load.ts';
import { licenseFeatures } from '../../domain/license.ts';
import { licenseFile, readLicense } from './read-license.ts';
import { readPublicKey, verifyLicense } from './verify-license.ts';

const keys = createLicenseKeys();
const order = {
  customer: 'Acme Ltd',
  plan: 'team',
  features: ['jobs', 'metrics'],
  expiry: '365d',
  licenseId: null,
};

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-license-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

function configWith(flags: Record<string, unknown>) {
  return loadConfig({
    env: { HOME: dir },
    systemFile: join(dir, 'none.yaml'),
    flags: { 'workspace.dir': join(dir, 'ws'), ...flags },
  }).config;
}

async function installed(license: string, flags: Record<string, unknown> = {}) {
  const config = configWith({ 'license.enforce': true, 'license.public_key': keys.publicKey, ...flags });
  await mkdir(join(dir, 'ws/config'), { recursive: true });
  await writeFile(licenseFile(config), `${license}\n`);
  return await readLicense(config);
}

const forge = (claims: Record<string, unknown>, alg = 'EdDSA', key = keys.privateKey) =>
  import('node:crypto').then(({ createPrivateKey }) =>
    new SignJWT(claims).setProtectedHeader({ alg }).sign(createPrivateKey(key)),
  );

describe('an installed license', () => {
  it('gives its plan and its features, and nothing more', async () => {
    const license = await installed((await issueLicense(order, keys.privateKey)).license);
    expect(license.report()).toMatchObject({
      enforced: true,
      plan: 'team',
      valid: true,
      features: ['jobs', 'metrics'],
    });
    expect(license.requestsPerMinute()).toBe(100);
    license.demand('jobs');
    expect(() => license.demand('ui')).toThrow(
      expect.objectContaining({ code: 'license_required', details: { feature: 'ui' } }),
    );
    expect(() => license.demandModules(['json_reporter', 'pdf_reporter'])).toThrow(/pdf_reporter/);
    license.demandModules(['json_reporter']);
  });

  it('falls back to the free plan when its grace time is over', async () => {
    const license = await installed(
      (await issueLicense({ ...order, expiry: '1h' }, keys.privateKey)).license,
    );
    const at = (days: number) => Date.now() + days * 86_400_000;
    expect([license.plan(at(1)), license.features(at(1))]).toEqual(['team', ['jobs', 'metrics']]);
    expect([license.plan(at(8)), license.features(at(8))]).toEqual(['free', []]);
    expect(license.requestsPerMinute(at(8))).toBe(60);
    expect(license.report(at(8)).valid).toBe(false);
  });

  it('is not asked for unless licenses are enforced', async () => {
    const license = await readLicense(configWith({}));
    expect(license.report()).toEqual({
      enforced: false,
      plan: 'enterprise',
      valid: false,
      expires_at: null,
      features: [...licenseFeatures],
      grace_until: null,
    });
    expect(license.notice()).toBeNull();
    for (const feature of licenseFeatures) license.demand(feature);
  });

  it('that is missing, torn or too large is told and gives nothing', async () => {
    const flags = { 'license.enforce': true, 'license.public_key': keys.publicKey };
    const missing = await readLicense(configWith(flags));
    expect([missing.plan(), missing.notice()?.text]).toEqual(['free', 'no license is installed']);
    const { license } = await issueLicense(order, keys.privateKey);
    for (const bad of ['', 'garbage', license.slice(0, -10), 'x'.repeat(20_000), '\0'.repeat(100)]) {
      const read = await installed(bad);
      expect(read.isValid()).toBe(false);
      expect(read.notice()?.text).toBeTruthy();
      if (bad.length > 20) expect(read.notice()?.text).not.toContain(bad.slice(0, 20));
    }
  });
});

describe('verification', () => {
  const verify = async (license: string) => verifyLicense(license, await readPublicKey(keys.publicKey));
  const good = {
    customer_id: 'a',
    license_id: 'l',
    plan: 'team',
    features: ['jobs'],
    iat: 1,
    exp: 2_000_000_000,
  };

  it('takes only what the key has signed, with the one algorithm', async () => {
    expect(await verify(await forge(good))).toEqual(good);
    const foreign = await forge(good, 'EdDSA', createLicenseKeys().privateKey);
    await expect(verify(foreign)).rejects.toMatchObject({ code: 'license_required' });
    await expect(verify(new UnsecuredJWT(good).encode())).rejects.toThrow('not signed');
    await expect(verify(await forge(good, 'Ed25519'))).rejects.toThrow('not signed');
    // The public key used as a shared secret: what a verifier that trusts the header would accept.
    const hmac = await new SignJWT(good)
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(keys.publicKey.padEnd(32, '.')));
    await expect(verify(hmac)).rejects.toThrow('not signed');
    const [head, , signature] = (await forge(good)).split('.');
    const richer = Buffer.from(JSON.stringify({ ...good, plan: 'enterprise' })).toString('base64url');
    await expect(verify([head, richer, signature].join('.'))).rejects.toThrow('not signed');
  });

  it.each([
    ['plan', { plan: 'platinum' }],
    ['features', { features: 'jobs' }],
    ['customer_id', { customer_id: '\u001b[2J' }],
    ['license_id', { license_id: 7 }],
    ['exp', { exp: undefined }],
    ['iat', { iat: -1 }],
    ['before it starts', { exp: 1 }],
  ])('refuses a signed license with a bad %s', async (word, change) => {
    await expect(verify(await forge({ ...good, ...change }))).rejects.toThrow(word);
  });

  it('passes over features that it does not know', async () => {
    const claims = await verify(await forge({ ...good, features: ['teleport', 'ui'] }));
    expect(claims.features).toEqual(['ui']);
  });
});

describe('license.public_key', () => {
  it('is PEM, a file, a JWK or the raw bytes', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const jwk = publicKey.export({ format: 'jwk' });
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const file = join(dir, 'key.pem');
    await writeFile(file, pem);
    const hex = Buffer.from(String(jwk.x), 'base64url').toString('hex');
    for (const form of [pem, file, JSON.stringify(jwk), String(jwk.x), hex]) {
      expect((await readPublicKey(form)).equals(publicKey)).toBe(true);
    }
  });

  it('is refused in words that never repeat a private key', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const wrong = [
      keys.privateKey,
      'nonsense',
      rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    ];
    for (const text of wrong) {
      const refusal = readPublicKey(text);
      await expect(refusal).rejects.toMatchObject({ code: 'configuration' });
      await expect(refusal).rejects.toThrow(/license\.public_key: /);
    }
    await expect(readPublicKey(keys.privateKey)).rejects.not.toThrow(keys.privateKey.split('\n')[1]);
    await expect(readPublicKey(keys.privateKey)).rejects.toThrow('private key');
  });
});

describe('issuing', () => {
  it('names every problem of the order', async () => {
    const bad = { customer: '', plan: 'gold', features: ['job'], expiry: '5', licenseId: 'a\nb' };
    const refusal = issueLicense(bad, keys.privateKey);
    await expect(refusal).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(refusal).rejects.toThrow(/plan .*customer .*license-id .*did you mean jobs\?.*expiry/);
  });

  it('gives the plan enterprise every feature unless it is told which', async () => {
    const features = async (plan: string) =>
      (await issueLicense({ ...order, plan, features: null }, keys.privateKey)).claims.features;
    expect(await features('enterprise')).toEqual([...licenseFeatures]);
    expect(await features('business')).toEqual([]);
  });

  it('refuses a key of another kind', async () => {
    await expect(issueLicense(order, 'x')).rejects.toMatchObject({ code: 'usage' });
    await expect(issueLicense(order, keys.publicKey)).rejects.toMatchObject({ code: 'usage' });
  });
});
