import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  type CipherSuite,
  cipherSuites,
  flawsOf,
  hasForwardSecrecy,
  suiteName,
  suiteNamed,
  suitesFor,
} from './suites.ts';

const named = (name: string) => suiteNamed(name) as CipherSuite;

/** `0xC0,0x2F - TLS_... - ...`, one line per suite of OpenSSL. */
const openssl = spawnSync('openssl', ['ciphers', '-V', '-stdname', 'ALL:COMPLEMENTOFALL:@SECLEVEL=0']);

describe('the table of suites', () => {
  it.skipIf(openssl.status !== 0)('has the names and numbers of OpenSSL', () => {
    const lines = openssl.stdout.toString().trim().split('\n');
    const theirs = lines.map((line) => {
      const [, high, low, name] = /0x(..),0x(..) - (\S+)/.exec(line) ?? [];
      return `${high}${low} ${name}`.toLowerCase();
    });
    expect(theirs.length).toBeGreaterThan(100);
    const ours = new Set(
      [...cipherSuites().values()].map(({ id, name }) =>
        `${id.toString(16).padStart(4, '0')} ${name}`.toLowerCase(),
      ),
    );
    expect(theirs.filter((each) => !ours.has(each) && !/gost|unknown/.test(each))).toEqual([]);
  });

  it.each([
    [0x0003, 'TLS_RSA_EXPORT_WITH_RC4_40_MD5'],
    [0x001b, 'TLS_DH_anon_WITH_3DES_EDE_CBC_SHA'],
    [0x002b, 'TLS_KRB5_EXPORT_WITH_RC4_40_MD5'],
    [0x0066, 'TLS_DHE_DSS_WITH_RC4_128_SHA'],
    [0x00a7, 'TLS_DH_anon_WITH_AES_256_GCM_SHA384'],
    [0x00b9, 'TLS_RSA_PSK_WITH_NULL_SHA384'],
    [0x00c5, 'TLS_DH_anon_WITH_CAMELLIA_256_CBC_SHA256'],
    [0x1303, 'TLS_CHACHA20_POLY1305_SHA256'],
    [0xc019, 'TLS_ECDH_anon_WITH_AES_256_CBC_SHA'],
    [0xc022, 'TLS_SRP_SHA_DSS_WITH_AES_256_CBC_SHA'],
    [0xc032, 'TLS_ECDH_RSA_WITH_AES_256_GCM_SHA384'],
    [0xc03b, 'TLS_ECDHE_PSK_WITH_NULL_SHA384'],
    [0xc04f, 'TLS_ECDH_RSA_WITH_ARIA_256_CBC_SHA384'],
    [0xc063, 'TLS_ECDH_RSA_WITH_ARIA_256_GCM_SHA384'],
    [0xc071, 'TLS_ECDHE_PSK_WITH_ARIA_256_CBC_SHA384'],
    [0xc093, 'TLS_RSA_PSK_WITH_CAMELLIA_256_GCM_SHA384'],
    [0xc09b, 'TLS_ECDHE_PSK_WITH_CAMELLIA_256_CBC_SHA384'],
    [0xc0ab, 'TLS_PSK_DHE_WITH_AES_256_CCM_8'],
    [0xc0b5, 'TLS_SHA384_SHA384'],
    [0xccae, 'TLS_RSA_PSK_WITH_CHACHA20_POLY1305_SHA256'],
    [0x1337, '0x1337'],
  ])('0x%s is %s', (id, name) => {
    expect(suiteName(id)).toBe(name);
  });

  it.each([
    ['TLS_RSA_EXPORT_WITH_DES40_CBC_SHA', 40],
    ['TLS_RSA_EXPORT_WITH_RC2_CBC_40_MD5', 40],
    ['TLS_RSA_EXPORT1024_WITH_RC4_56_SHA', 56],
    ['TLS_RSA_WITH_DES_CBC_SHA', 56],
    ['TLS_RSA_WITH_3DES_EDE_CBC_SHA', 112],
    ['TLS_RSA_WITH_IDEA_CBC_SHA', 128],
    ['TLS_RSA_WITH_AES_128_CCM_8', 128],
    ['TLS_ECDHE_RSA_WITH_ARIA_256_GCM_SHA384', 256],
    ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 256],
    ['TLS_SHA256_SHA256', 0],
    ['TLS_RSA_WITH_NULL_SHA256', 0],
  ])('%s has a key of %i bits', (name, bits) => {
    expect(named(name).bits).toBe(bits);
  });

  it('every suite that encrypts has a key', () => {
    const none = [...cipherSuites().values()].filter(
      ({ bits, name }) => bits === 0 && !/NULL|TLS_SHA/.test(name),
    );
    expect(none).toEqual([]);
  });

  it.each([
    ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', [], true],
    ['TLS_AES_128_GCM_SHA256', [], true],
    ['TLS_RSA_WITH_AES_128_GCM_SHA256', [], false],
    ['TLS_ECDH_RSA_WITH_AES_128_CBC_SHA', ['cbc'], false],
    ['TLS_DHE_RSA_EXPORT_WITH_DES40_CBC_SHA', ['export', 'cbc'], true],
    ['TLS_DH_anon_EXPORT_WITH_RC4_40_MD5', ['anonymous', 'export', 'rc4'], true],
    ['TLS_RSA_WITH_DES_CBC_SHA', ['des', 'cbc'], false],
    ['TLS_RSA_WITH_IDEA_CBC_SHA', ['3des', 'cbc'], false],
  ])('%s: %j, forward secrecy %s', (name, flaws, secrecy) => {
    expect(flawsOf(named(name))).toEqual(flaws);
    expect(hasForwardSecrecy(named(name))).toBe(secrecy);
  });

  it('returns the suites each version may use, common ones first', () => {
    const names = (version: Parameters<typeof suitesFor>[0]) => suitesFor(version).map(({ name }) => name);
    expect(names('TLSv1.3')).toContain('TLS_AES_128_CCM_8_SHA256');
    expect(names('TLSv1.3')).not.toContain('TLS_RSA_WITH_AES_128_CBC_SHA');
    expect(names('TLSv1.1')).not.toContain('TLS_RSA_WITH_AES_128_GCM_SHA256');
    expect(names('SSLv3').indexOf('TLS_RSA_WITH_RC4_128_SHA')).toBeLessThan(100);
    expect(names('TLSv1.2').indexOf('TLS_PSK_WITH_AES_128_CBC_SHA')).toBeGreaterThan(100);
  });
});
