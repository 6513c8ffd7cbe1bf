import { expect, test } from 'vitest';
import type { SystemEvidence } from '../../domain/asset.ts';
import type { Fingerprint } from '../../domain/service.ts';
import { SystemClaims, systemClaimsOfFact, systemClaimsOfFingerprint } from './host-system.ts';
import { systemOfRevision, systemOfWindowsBuild } from './system-rules.ts';

const seen = (port: number, match: string, more: Partial<Fingerprint> = {}): Fingerprint => ({
  host: '192.0.2.1',
  port,
  protocol: 'tcp',
  match,
  product: 'x',
  vendor: null,
  version: null,
  cpe: null,
  confidence: 0.98,
  source: 'banner',
  evidence: 'proof',
  alternatives: [],
  ...more,
});

const debian12 = { family: 'linux', distribution: 'debian', version: '12' };
const ubuntu = { family: 'linux', distribution: 'ubuntu', version: '22.04' };
const windows = { family: 'windows', distribution: null, version: null };

function evaluate(...claims: SystemEvidence[][]) {
  const collected = new SystemClaims();
  for (const each of claims) collected.add(each);
  return collected.verdict();
}
const hint = (port: number, match: string, os: Fingerprint['os']) =>
  systemClaimsOfFingerprint(seen(port, match, { os, evidence: `proof ${match}` }));

test('agreeing ports raise the confidence; the same port twice does not', () => {
  const one = evaluate(hint(22, 'ssh', debian12));
  expect(one).toMatchObject(debian12);
  expect(one?.confidence).toBeGreaterThan(0.8);
  expect(evaluate(hint(22, 'ssh', debian12), hint(25, 'smtp', debian12))?.confidence).toBeGreaterThan(
    one?.confidence ?? 1,
  );
  expect(evaluate(hint(22, 'ssh', debian12), hint(22, 'ssh', debian12))).toEqual(one);
});

test('a container that speaks of another system does not win over the host, and costs confidence', () => {
  const verdict = evaluate(hint(22, 'ssh', debian12), hint(80, 'http', ubuntu));
  expect(verdict).toMatchObject(debian12);
  expect(verdict?.confidence).toBeLessThan(evaluate(hint(22, 'ssh', debian12))?.confidence ?? 0);
  const torn = evaluate(hint(22, 'ssh', debian12), hint(3389, 'rdp', windows));
  expect(torn?.confidence).toBeLessThan(0.7);
});

test('both sides of a conflict are kept as evidence, the weightiest first, and no more than a few', () => {
  const claims = new SystemClaims();
  claims.add(hint(80, 'http', windows));
  claims.add(hint(22, 'ssh', debian12));
  expect(claims.evidence()).toMatchObject([
    { ...debian12, source: '22/tcp', evidence: 'proof ssh' },
    { ...windows, source: '80/tcp' },
  ]);
  for (let port = 1000; port < 2000; port++) claims.add(hint(port, 'http', debian12));
  expect(claims.evidence()).toHaveLength(24);
  expect(claims.verdict()).toMatchObject(debian12);
});

test.each([
  ['Debian-2+deb12u3', debian12],
  ['1~bpo11+1', { family: 'linux', distribution: 'debian', version: '11' }],
  ['1:10.11.8+maria~deb12', debian12],
  ['Ubuntu-3ubuntu0.10', { family: 'linux', distribution: 'ubuntu' }],
  ['0ubuntu0.22.04.1', ubuntu],
  ['38.el9_4', { family: 'linux', distribution: 'rhel', version: '9' }],
  ['3.fc39', { family: 'linux', distribution: 'fedora', version: '39' }],
  ['Raspbian-5', { family: 'linux', distribution: 'raspbian' }],
  ['Raspbian-2+deb12u3', { family: 'linux', distribution: 'raspbian', version: '12' }],
  ['Debian-2+deb12u7', debian12],
  ['Debian-7+deb13u1', { family: 'linux', distribution: 'debian', version: '13' }],
  ['Debian-2+deb12u2~bpo11+1', { family: 'linux', distribution: 'debian', version: '11' }],
  ['p2', null],
])('the revision %s', (revision, system) => {
  expect(systemOfRevision(revision)).toEqual(system);
});

test.each([
  ['10.0.20348', { family: 'windows', distribution: 'windows server', version: '2022' }],
  ['10.0.19045', { family: 'windows', distribution: 'windows', version: '10' }],
  // Server 2019 and Windows 10 share this build.
  ['10.0.17763', { family: 'windows', version: '10.0.17763' }],
  ['x', null],
])('the Windows build %s', (build, system) => {
  expect(systemOfWindowsBuild(build)).toEqual(system);
});

test.each([
  ['ssh.software', 'OpenSSH_for_Windows_9.5', 'windows', null, null],
  ['ssh.software', 'OpenSSH_9.5 FreeBSD-20231004', 'freebsd', 'freebsd', '14.0'],
  [
    'snmp.sysdescr',
    'Cisco IOS Software, C2960 Software, Version 15.0(2)SE4, x',
    'cisco ios',
    'cisco ios',
    '15.0(2)SE4',
  ],
  ['product', 'VMware ESXi', 'esxi', 'vmware esxi', null],
  ['ntlm.version', '10.0.20348', 'windows', 'windows server', '2022'],
])('%s "%s" speaks for a system', (key, text, family, distribution, version) => {
  const verdict = evaluate(systemClaimsOfFact({ key, text, source: '1/tcp' }));
  expect(verdict).toMatchObject({ family, distribution, version });
});

test('hostile texts are cut, and name no system by themselves', () => {
  const claims = systemClaimsOfFact({
    key: 'snmp.sysdescr',
    text: `Linux ${'x'.repeat(100_000)}`,
    source: '161/udp',
  });
  expect(claims[0]?.evidence.length).toBeLessThanOrEqual(160);
  expect(systemClaimsOfFact({ key: '__proto__', text: 'x', source: '1/tcp' })).toEqual([]);
});
