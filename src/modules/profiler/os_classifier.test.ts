import { expect, test } from 'vitest';
import { bannerOf, runModule } from '../../../test/module-trial.ts';
import type { ProfilePart } from '../../domain/asset.ts';
import type { StackTraits } from '../../domain/host.ts';
import type { Fingerprint } from '../../domain/service.ts';
import { claimsOf, resolveClaims } from '../../knowledge/rules/claims.ts';
import { builtinRules } from '../../knowledge/rules/rule-catalog.ts';
import osClassifier from './os_classifier.ts';

const kinds = ['banner', 'http', 'tls'] as const;

/** The banners of one host with the fingerprints that they give. */
async function classify(responses: [port: number, answer: string][], config: Record<string, unknown> = {}) {
  const banners = responses.map(([port, response]) => bannerOf(port, response));
  const fingerprints = banners
    .map((banner) =>
      resolveClaims(banner, claimsOf(banner, builtinRules, kinds), { minConfidence: 0.5, maxProtocols: 3 }),
    )
    .filter((fingerprint): fingerprint is Fingerprint => fingerprint !== null);
  const inputs = { open_ports: [], service_fingerprints: fingerprints, banners };
  const profiles = await runModule<ProfilePart>(osClassifier, inputs, config);
  expect(profiles.length).toBeLessThanOrEqual(1);
  return profiles[0];
}

test.each([
  ['SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n', 'linux', 'debian', '12'],
  ['SSH-2.0-OpenSSH_6.7p1 Debian-5+deb8u8\r\n', 'linux', 'debian', '8'],
  ['SSH-2.0-OpenSSH_7.4p1 Debian-10+deb9u7\r\n', 'linux', 'debian', '9'],
  ['SSH-2.0-OpenSSH_7.9p1 Debian-10+deb10u4\r\n', 'linux', 'debian', '10'],
  ['SSH-2.0-OpenSSH_8.4p1 Debian-5+deb11u5\r\n', 'linux', 'debian', '11'],
  ['SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7\r\n', 'linux', 'debian', '12'],
  ['SSH-2.0-OpenSSH_10.0p2 Debian-7\r\n', 'linux', 'debian', '13'],
  ['SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2~bpo11+1\r\n', 'linux', 'debian', '11'],
  ['SSH-2.0-OpenSSH_9.2p1 Raspbian-2+deb12u3\r\n', 'linux', 'raspbian', '12'],
  ['SSH-2.0-OpenSSH_7.4p1 Raspbian-10\r\n', 'linux', 'raspbian', '9'],
  ['SSH-2.0-OpenSSH_6.6.1p1 Ubuntu-2ubuntu2.13\r\n', 'linux', 'ubuntu', '14.04'],
  ['SSH-2.0-OpenSSH_8.2p1 Ubuntu-4ubuntu0.11\r\n', 'linux', 'ubuntu', '20.04'],
  ['SSH-2.0-OpenSSH_8.9p1 Ubuntu-3ubuntu0.10\r\n', 'linux', 'ubuntu', '22.04'],
  ['SSH-2.0-OpenSSH_9.6p1 Ubuntu-3ubuntu13.5\r\n', 'linux', 'ubuntu', '24.04'],
  ['SSH-2.0-OpenSSH_9.7 FreeBSD-20240806\r\n', 'freebsd', null, null],
  ['SSH-2.0-OpenSSH_9.5 FreeBSD-20231004\r\n', 'freebsd', 'freebsd', '14.0'],
  ['SSH-2.0-OpenSSH_for_Windows_9.5\r\n', 'windows', null, null],
  ['SSH-2.0-Cisco-1.25\r\n', 'cisco ios', null, null],
])('%j', async (response, family, distribution, version) => {
  const profile = await classify([[22, response]]);
  expect(profile?.os).toMatchObject({ family, distribution, version });
  expect(profile?.os_evidence?.[0]).toMatchObject({ source: '22/tcp', family });
});

test.each([
  ['Apache/2.4.6 (CentOS) OpenSSL/1.0.2k-fips', 'centos', '7'],
  ['Apache/2.4.37 (centos)', 'centos', '8'],
  ['Apache/2.4.37 (Red Hat Enterprise Linux) OpenSSL/1.1.1k', 'rhel', '8'],
  ['Apache/2.4.63 (Rocky Linux)', 'rocky', '10'],
  ['Apache/2.4.52 (Ubuntu)', 'ubuntu', '22.04'],
  ['nginx/1.24.0 (Ubuntu)', 'ubuntu', '24.04'],
  // Of several releases.
  ['nginx/1.18.0 (Ubuntu)', 'ubuntu', null],
  ['Apache/2.4.65 (Debian)', 'debian', null],
])('the web server %s', async (server, distribution, version) => {
  const profile = await classify([[80, `HTTP/1.1 200 OK\r\nServer: ${server}\r\n\r\n`]]);
  expect(profile?.os).toMatchObject({ family: 'linux', distribution, version });
});

test('several ports agree on one system', async () => {
  const profile = await classify([
    [22, 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n'],
    [25, '220 mail.example.net ESMTP Postfix (Debian/GNU)\r\n'],
    [80, 'HTTP/1.1 200 OK\r\nServer: Apache/2.4.57 (Debian)\r\n\r\n'],
  ]);
  expect(profile?.os).toMatchObject({ family: 'linux', distribution: 'debian', version: '12' });
  expect(profile?.os?.confidence).toBeGreaterThan(0.95);
});

test('names no system below the requested certainty and keeps its evidence', async () => {
  const dropbear: [number, string][] = [[22, 'SSH-2.0-dropbear_2022.83\r\n']];
  expect((await classify(dropbear, { min_confidence: 20 }))?.os).toMatchObject({ family: 'linux' });
  const strict = await classify(dropbear, { min_confidence: 90 });
  expect(strict?.os).toBeNull();
  expect(strict?.os_evidence).toMatchObject([{ family: 'linux', rule: 'system.ssh-dropbear' }]);
});

test('a host that says nothing has no system', async () => {
  expect(await classify([[80, 'HTTP/1.1 200 OK\r\n\r\n']])).toBeUndefined();
});

const windowsStack = {
  hops: 126,
  window: 65_535,
  mss: 1460,
  scale: 8,
  options: ['mss', 'nop', 'ws', 'sack', 'ts'],
  dont_fragment: true,
  ecn: false,
};
const countsWith = (stack: StackTraits) => [
  {
    host: '192.0.2.1',
    protocol: 'tcp',
    open: 1,
    closed: 0,
    filtered: 0,
    not_tried: 0,
    all_ports_open: false,
    stack,
  },
];

test('names a system by its SYN response if nothing else does, with the router hops', async () => {
  const [profile] = await runModule<ProfilePart>(osClassifier, { port_counts: countsWith(windowsStack) });
  expect(profile?.os).toMatchObject({ family: 'windows', distribution: null, confidence: 0.55 });
  expect(profile?.os_evidence).toMatchObject([
    { source: 'syn-ack', evidence: expect.stringMatching(/^ttl 128, 2 routers, window 65535, /) },
  ]);
});

test('a SYN response never overrides a banner and stays among the evidence', async () => {
  const banner = bannerOf(22, 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7\r\n', { host: '192.0.2.1' });
  const found = resolveClaims(banner, claimsOf(banner, builtinRules, kinds), {
    minConfidence: 0.5,
    maxProtocols: 3,
  });
  const inputs = { service_fingerprints: found ? [found] : [], banners: [banner] };
  const [without] = await runModule<ProfilePart>(osClassifier, inputs);
  const [against] = await runModule<ProfilePart>(osClassifier, {
    ...inputs,
    port_counts: countsWith(windowsStack),
  });
  expect(against?.os).toEqual(without?.os);
  expect(against?.os).toMatchObject({ family: 'linux', distribution: 'debian', version: '12' });
  expect(against?.os_evidence?.some(({ family }) => family === 'windows')).toBe(true);
  const linuxStack = { ...windowsStack, hops: 64, options: ['mss', 'sack', 'ts', 'nop', 'ws'] };
  const [agreeing] = await runModule<ProfilePart>(osClassifier, {
    ...inputs,
    port_counts: countsWith(linuxStack),
  });
  expect(agreeing?.os?.confidence).toBeGreaterThan(without?.os?.confidence ?? 1);
});

test('the maker of the card speaks too', async () => {
  const discovered_hosts = [
    { ip: '192.0.2.9', latency_ms: 1, method: 'arp', mac: '00:0c:42:00:00:01', vendor: 'MikroTik' },
  ];
  const [profile] = await runModule<ProfilePart>(osClassifier, { discovered_hosts });
  expect(profile?.os).toMatchObject({ family: 'linux', distribution: 'routeros' });
  expect(profile?.os_evidence).toMatchObject([{ source: 'network', evidence: 'MikroTik' }]);
});
