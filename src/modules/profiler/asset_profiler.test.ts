import { expect, test } from 'vitest';
import { bannerOf, runModule } from '../../../test/module-trial.ts';
import type { ProfilePart } from '../../domain/asset.ts';
import type { Port } from '../../domain/host.ts';
import type { Fingerprint } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { certificateDer } from '../../knowledge/protocols/test-certificate.ts';
import assetProfiler from './asset_profiler.ts';

const run = (
  open_ports: Port[],
  service_fingerprints: Fingerprint[],
  more: Record<string, readonly unknown[]> = {},
) => runModule<ProfilePart>(assetProfiler, { open_ports, service_fingerprints, ...more });

const open = (host: string, port: number, state: Port['state'] = 'open'): Port => ({
  host,
  port,
  protocol: 'tcp',
  state,
  reason: 'syn-ack',
});

const seen = (host: string, port: number, match: string, more: Partial<Fingerprint> = {}): Fingerprint => ({
  host,
  port,
  protocol: 'tcp',
  match,
  product: null,
  vendor: null,
  version: null,
  cpe: null,
  confidence: 0.98,
  source: 'banner',
  evidence: 'x',
  alternatives: [],
  ...more,
});

test('a profile has the applications and functions of all ports', async () => {
  const host = '192.0.2.1';
  const [profile] = await run(
    [open(host, 22), open(host, 80), open(host, 9)],
    [
      seen(host, 22, 'ssh', { product: 'OpenSSH', version: '9.2p1' }),
      seen(host, 80, 'http', { product: 'nginx', version: '1.22.1' }),
    ],
  );
  expect(profile).toEqual({
    host,
    hostnames: [],
    applications: [
      { name: 'nginx', version: '1.22.1', role: 'web server' },
      { name: 'OpenSSH', version: '9.2p1', role: 'remote access' },
    ],
    functions: ['remote access', 'web server'],
    open_ports: 3,
  });
});

test('a host without fingerprint has a profile too; a port that may be filtered is not counted', async () => {
  const profiles = await run([open('192.0.2.2', 1), open('192.0.2.2', 2, 'open|filtered')], [], {
    discovered_hosts: [{ ip: '192.0.2.3', latency_ms: 1, method: 'icmp-echo' }],
    port_counts: [
      {
        host: '192.0.2.2',
        protocol: 'tcp',
        open: 1,
        closed: 0,
        filtered: 0,
        not_tried: 0,
        all_ports_open: true,
      },
    ],
  });
  const bare = { hostnames: [], applications: [], functions: [] };
  expect(profiles.sort((a, b) => (a.host < b.host ? -1 : 1))).toEqual([
    { host: '192.0.2.2', ...bare, open_ports: 1, all_ports_open: true },
    { host: '192.0.2.3', ...bare, open_ports: 0 },
  ]);
});

test('a later record of a port replaces the earlier', async () => {
  const fingerprint = (product: string) => seen('192.0.2.3', 22, 'ssh', { product });
  const [profile] = await run([], [fingerprint('a'), fingerprint('b')]);
  expect(profile?.applications).toEqual([{ name: 'b', version: null, role: 'remote access' }]);
});

test('names come from certificates and greetings, the identity from keys and the card', async () => {
  const der = certificateDer({ commonName: 'www.example.net', sans: ['www.example.net', '*.example.net'] });
  const tls = { version: 'TLSv1.3', cipher: 'x', alpn: null, chain: [der.toString('base64')] };
  const banners: Banner[] = [
    bannerOf(443, 'HTTP/1.1 200 OK\r\n\r\n', { tls }),
    bannerOf(25, '220 mail.example.net ESMTP Postfix\r\n'),
  ];
  const host = banners[0]?.host ?? '';
  const parsed = {
    host,
    port: 22,
    protocol: 'tcp',
    service: 'ssh',
    parser: 'ssh_parser',
    attributes: {
      ssh: { software: 'OpenSSH_9.2p1', comment: null, host_keys: [{ type: 'ssh-ed25519', sha256: 'abc' }] },
    },
    truncated: false,
  };
  const discovered = {
    ip: host,
    latency_ms: 1,
    method: 'arp',
    mac: '00:0C:29:12:34:56',
    hostname: 'gate.example.net',
  };
  const [profile] = await run([open(host, 443)], [], {
    banners,
    parsed_services: [parsed],
    discovered_hosts: [discovered],
  });
  expect(profile?.hostnames).toEqual(['gate.example.net', 'mail.example.net', 'www.example.net']);
  expect(profile?.mac).toBe('00:0C:29:12:34:56');
  expect(profile?.identity).toEqual([
    { kind: 'mac', value: '00:0c:29:12:34:56' },
    { kind: 'ssh_host_key', value: 'ssh-ed25519 abc' },
    { kind: 'tls_key', value: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
});

test('a certificate with hundreds of names and hostile ones fills no profile', async () => {
  const sans = [
    '<script>.example',
    'a\u202e.example',
    ...Array.from({ length: 300 }, (_, n) => `h${n}.example`),
  ];
  const tls = {
    version: 'TLSv1.3',
    cipher: 'x',
    alpn: null,
    chain: [certificateDer({ commonName: 'x', sans }).toString('base64')],
  };
  const banners = Array.from({ length: 20 }, (_, port) => bannerOf(port + 1, '', { tls }));
  const [profile] = await run([], [], { banners });
  expect(profile?.hostnames?.length).toBeLessThanOrEqual(50);
  expect(profile?.hostnames?.every((name) => /^h\d+\.example$/.test(name))).toBe(true);
});

const certificate = (options: Parameters<typeof certificateDer>[0]) => ({
  version: 'TLSv1.3',
  cipher: 'x',
  alpn: null,
  chain: [certificateDer(options).toString('base64')],
});

/** The names of a host that shows a certificate, and of what else is known of it. */
async function namesWith(
  options: Parameters<typeof certificateDer>[0],
  more: Record<string, readonly unknown[]> = {},
): Promise<string[] | undefined> {
  const banner = bannerOf(443, 'HTTP/1.1 200 OK\r\n\r\n', { tls: certificate(options) });
  const [profile] = await run([open(banner.host, 443)], [], { banners: [banner], ...more });
  return profile?.hostnames;
}

test('a host is not called after a certificate that is expired or not valid yet, nor after its common name', async () => {
  const named = { commonName: 'old.lab.test', sans: ['old.lab.test'] };
  expect(await namesWith(named)).toEqual(['old.lab.test']);
  expect(await namesWith({ ...named, notAfter: '250601000000Z' })).toEqual([]);
  expect(await namesWith({ commonName: 'old.lab.test', notAfter: '250601000000Z' })).toEqual([]);
  expect(await namesWith({ ...named, notBefore: '340101000000Z' })).toEqual([]);
  expect(await namesWith({ commonName: 'old.lab.test' })).toEqual(['old.lab.test']);
});

test('a host with a name of its own is not called after a certificate of others', async () => {
  const { host } = bannerOf(443, '');
  const requested = { targets: [{ value: 'shop.example.net', kind: 'hostname', ip: host }] };
  const given = { discovered_hosts: [{ ip: host, latency_ms: 1, method: 'arp', hostname: 'nas.local' }] };
  const foreign = { commonName: 'edge.cdn.test', sans: ['edge.cdn.test', '*.cdn.test'] };
  expect(await namesWith(foreign, requested)).toEqual(['shop.example.net']);
  expect(await namesWith(foreign, given)).toEqual(['nas.local']);
  const own = { commonName: 'x', sans: ['*.example.net', 'www.example.net'] };
  expect(await namesWith(own, requested)).toEqual(['shop.example.net', 'www.example.net']);
  expect(await namesWith({ commonName: 'nas.home.test' }, given)).toEqual(['nas.local', 'nas.home.test']);
});
