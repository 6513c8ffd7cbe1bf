import { expect, test } from 'vitest';
import { bannerOf, runModule } from '../../../test/module-trial.ts';
import type { ProfilePart } from '../../domain/asset.ts';
import type { Fingerprint } from '../../domain/service.ts';
import { builtinCatalogue } from '../../knowledge/catalogue.ts';
import { claimsOf, settle } from '../../knowledge/claims.ts';
import osClassifier from './os_classifier.ts';

const kinds = ['banner', 'http', 'tls'] as const;

/** The banners of one host with the fingerprints that they give. */
async function classify(answers: [port: number, answer: string][], config: Record<string, unknown> = {}) {
  const banners = answers.map(([port, answer]) => bannerOf(port, answer));
  const fingerprints = banners
    .map((banner) =>
      settle(banner, claimsOf(banner, builtinCatalogue, kinds), { minConfidence: 0.5, maxProtocols: 3 }),
    )
    .filter((fingerprint): fingerprint is Fingerprint => fingerprint !== null);
  const inputs = { open_ports: [], service_fingerprints: fingerprints, banners };
  const profiles = await runModule<ProfilePart>(osClassifier, inputs, config);
  expect(profiles.length).toBeLessThanOrEqual(1);
  return profiles[0];
}

test.each([
  ['SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n', 'linux', 'debian', '12'],
  ['SSH-2.0-OpenSSH_8.9p1 Ubuntu-3ubuntu0.10\r\n', 'linux', 'ubuntu', '22.04'],
  ['SSH-2.0-OpenSSH_9.5 FreeBSD-20231004\r\n', 'freebsd', 'freebsd', '14.0'],
  ['SSH-2.0-OpenSSH_for_Windows_9.5\r\n', 'windows', null, null],
  ['SSH-2.0-Cisco-1.25\r\n', 'cisco ios', null, null],
])('%j', async (answer, family, distribution, version) => {
  const profile = await classify([[22, answer]]);
  expect(profile?.os).toMatchObject({ family, distribution, version });
  expect(profile?.os_evidence?.[0]).toMatchObject({ source: '22/tcp', family });
});

test('several ports settle on one system', async () => {
  const profile = await classify([
    [22, 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n'],
    [25, '220 mail.example.net ESMTP Postfix (Debian/GNU)\r\n'],
    [80, 'HTTP/1.1 200 OK\r\nServer: Apache/2.4.57 (Debian)\r\n\r\n'],
  ]);
  expect(profile?.os).toMatchObject({ family: 'linux', distribution: 'debian', version: '12' });
  expect(profile?.os?.confidence).toBeGreaterThan(0.95);
});

test('what is less certain than asked for is not named, and its evidence is kept', async () => {
  const dropbear: [number, string][] = [[22, 'SSH-2.0-dropbear_2022.83\r\n']];
  expect((await classify(dropbear, { min_confidence: 20 }))?.os).toMatchObject({ family: 'linux' });
  const strict = await classify(dropbear, { min_confidence: 90 });
  expect(strict?.os).toBeNull();
  expect(strict?.os_evidence).toMatchObject([{ family: 'linux', rule: 'system.ssh-dropbear' }]);
});

test('a host that says nothing has no system', async () => {
  expect(await classify([[80, 'HTTP/1.1 200 OK\r\n\r\n']])).toBeUndefined();
});

test('the maker of the card speaks too', async () => {
  const discovered_hosts = [
    { ip: '192.0.2.9', latency_ms: 1, method: 'arp', mac: '00:0c:42:00:00:01', vendor: 'MikroTik' },
  ];
  const [profile] = await runModule<ProfilePart>(osClassifier, { discovered_hosts });
  expect(profile?.os).toMatchObject({ family: 'linux', distribution: 'routeros' });
  expect(profile?.os_evidence).toMatchObject([{ source: 'network', evidence: 'MikroTik' }]);
});
