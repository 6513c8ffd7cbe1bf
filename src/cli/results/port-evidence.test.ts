import { describe, expect, it } from 'vitest';
import { port } from '../../../test/result-rows.ts';
import type { PortRow } from '../../domain/result.ts';
import { portEvidence } from './port-evidence.ts';

const at = Date.parse('2026-10-06T00:00:00Z');
const of = (more: Partial<PortRow>) => portEvidence(port(80, more), at);
const service = (name: string, product: string | null, version: string | null = null) => ({
  name,
  product,
  vendor: null,
  version,
  cpe: null,
  confidence: 0.9,
});
const page = (http: object, more: Partial<PortRow> = {}) =>
  of({
    banner: 'HTTP/1.1 200 OK\r\n\r\n<html>',
    attributes: { http: { status: 200, reason: 'OK', ...http } },
    ...more,
  });

describe('the evidence of a port', () => {
  it('is the title, the redirect, the status or the server of a page', () => {
    expect(page({ title: ' Grafana ' })).toBe('"Grafana"');
    expect(page({ status: 302, location: 'https://x/', title: 'Moved' })).toBe('to https://x/');
    expect(page({ status: 401, reason: 'Unauthorized', title: 'Sign in' })).toBe(
      '"Sign in", 401 Unauthorized',
    );
    expect(page({ status: 404, title: '404 Not Found' })).toBe('"404 Not Found"');
    expect(page({ server: 'nginx/1.18.0' })).toBe('nginx/1.18.0');
    expect(page({ server: 'nginx/1.18.0' }, { service: service('http', 'nginx', '1.18.0') })).toBe('');
    expect(page({})).toBe('');
    expect(of({ banner: 'HTTP/1.1 200 OK\r\nServer: x\r\n\r\n' })).toBe('Server: x');
    expect(of({ banner: 'HTTP/1.1 200 OK\r\n\r\n<html>' })).toBe('');
  });

  it('names the pages of further names, and counts the rest', () => {
    const site = (name: string, http?: object, tls?: object) => ({ name, http, tls });
    const sites = [
      site('v2.test', { status: 200, title: 'Two' }),
      site('v3.test', { status: 404, reason: 'Not Found' }, { certificate: { subject: 'CN=v3.test' } }),
      site('v4.test'),
      site('v5.test', { status: 302, location: 'https://x/' }),
    ];
    expect(of({ attributes: { http: { status: 200, title: 'One' }, sites } })).toBe(
      '"One", v2.test "Two", v3.test 404 Not Found, certificate CN=v3.test, v4.test without a response, 1 more name',
    );
  });

  it('says that clients need a certificate', () => {
    const tls = { client_certificate: 'required', certificate: { subject: 'CN=vault.example' } };
    const claim = { match: 'tls', evidence: 'TLSv1.2 TLS_AES_128' } as NonNullable<
      PortRow['fingerprints']
    >[number];
    expect(of({ banner: '', tls, fingerprints: [claim] })).toBe(
      'certificate vault.example, client certificate required',
    );
    expect(of({ banner: '', tls: { client_certificate: 'required' } })).toBe('client certificate required');
    const ending = { ...tls, certificate: { ...tls.certificate, not_after: '2026-10-08T00:00:00Z' } };
    expect(of({ banner: '', tls: ending })).toBe(
      'client certificate required, certificate vault.example ends in 2 days',
    );
  });

  it('names a certificate that ends soon, or one that is all there is', () => {
    const tls = (not_after: string) => ({
      certificate: { subject: 'C=DE, CN=web-1', sans: ['a'], not_after },
    });
    expect(page({ title: 'A' }, { tls: tls('2026-10-16T12:00:00Z') })).toBe(
      '"A", certificate web-1 ends in 10 days',
    );
    expect(page({ title: 'A' }, { tls: tls('2026-10-05T12:00:00Z') })).toBe('"A", certificate web-1 expired');
    expect(page({ title: 'A' }, { tls: tls('2027-10-05T12:00:00Z') })).toBe('"A"');
    expect(of({ banner: '', tls: tls('2027-10-05T12:00:00Z') })).toBe('certificate web-1');
    expect(of({ banner: '', tls: { certificate: { error: 'x' } } })).toBe('');
  });

  it('is what a greeting says beyond product and version', () => {
    const ssh = service('ssh', 'OpenSSH', '9.2p1');
    const banner = 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n';
    const claim = { match: 'ssh', source: 'banner', evidence: banner, ...ssh };
    expect(of({ service: ssh, banner, fingerprints: [{ ...claim, revision: 'Debian-2+deb12u2' }] })).toBe(
      'Debian-2+deb12u2',
    );
    expect(of({ service: ssh, banner })).toBe(banner.trim());
    expect(of({ service: ssh, banner: 'SSH-2.0-OpenSSH_9.2p1\r\n' })).toBe('');
    expect(of({ service: service('ftp', 'vsftpd', '2.3.4'), banner: '220 (vsFTPd 2.3.4)\r\n' })).toBe('');
    const smtp = { hostname: 'mail.example.net' };
    expect(of({ banner: '220 mail.example.net ESMTP', attributes: { smtp } })).toBe('mail.example.net');
    expect(of({ banner: '-NOAUTH Authentication required.\r\n' })).toBe('password required');
    expect(of({ banner: '', fingerprints: [{ ...claim, evidence: 'seen' }] })).toBe('seen');
    expect(
      of({ banner: '', fingerprints: [{ ...claim, evidence: 'PO\0\0\0\x05\xff\x2b' }], service: ssh }),
    ).toBe('');
  });

  it.each([
    [
      'redis',
      'Redis',
      '7.0.15',
      '$587\r\n# Server\r\nredis_version:7.0.15\r\n',
      'redis_version:7.0.15',
      'no password asked',
    ],
    ['memcached', 'memcached', '1.6.18', 'VERSION 1.6.18\r\n', '1.6.18', ''],
    [
      'mqtt',
      'Mosquitto',
      '2.0.11',
      ' \\x02\\x00\\x13$SYS/broker/versionmosquitto version 2.0.11',
      'mosquitto version 2.0.11',
      '',
    ],
    ['smb', 'Samba', null, '\\x00\\x00\\x00\\xca\\xfeSMB@\\x00', '6.1.0', ''],
    [
      'ldap',
      'OpenLDAP',
      null,
      '0\\x82\\x01o\\x04\\x0bobjectClass1\\x16\\x04\\x03top0"\\x04\\x0enamingContexts1\\x10\\x04\\x0edc=lab,dc=test0u\\x04\\x12',
      'objectClass: OpenLDAProotDSE',
      'serves dc=lab,dc=test',
    ],
    ['ldap', null, null, '0\\x84\\x00\\x00\\x00\\x10\\x02\\x01\\x01', 'LDAP message 4', 'LDAP message 4'],
    ['vnc', null, null, 'RFB 003.008\n', 'RFB 3.8', 'RFB 003.008'],
  ])('of the binary protocol %s (%s) is in words', (name, product, version, banner, evidence, words) => {
    const claim = { match: name, source: 'banner', evidence, ...service(name, product, version) };
    expect(of({ service: claim, banner, fingerprints: [claim] })).toBe(words);
  });

  it('says why there is none', () => {
    expect(of({ banner: '' })).toBe('silent');
    expect(of({ banner: '', unidentified_reason: 'timeout' })).toBe('not identified: timeout');
    expect(of({ unidentified_reason: 'tarpit' })).toBe('not probed: tarpit');
    expect(of({ unidentified_reason: 'fragile' })).toBe('left alone: fragile device');
    expect(of({ banner: '', unidentified_reason: 'unproven' })).toBe('unproven: no sign of life');
    expect(of({ banner: '', reason: 'syn-ack-zero-window' })).toBe('unproven: no sign of life');
    expect(of({ banner: '', unidentified_reason: 'constructor' as 'cut' })).toBe(
      'not identified: constructor',
    );
    expect(of({})).toBe('');
  });

  it('takes any shape of what a target or a plugin made', () => {
    for (const odd of [null, 1, 'x', [], { status: 'x' }, { status: 200, title: 5, server: [] }]) {
      const tls = { certificate: odd } as Record<string, unknown>;
      expect(of({ banner: 'b', attributes: { http: odd, smtp: odd }, tls })).toMatch(/^b?$/);
    }
  });
});
