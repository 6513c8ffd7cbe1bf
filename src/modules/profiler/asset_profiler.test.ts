import { expect, test } from 'vitest';
import { runModule } from '../../../test/module-trial.ts';
import type { AssetProfile } from '../../domain/asset.ts';
import type { Port } from '../../domain/host.ts';
import type { Fingerprint } from '../../domain/service.ts';
import assetProfiler from './asset_profiler.ts';

const run = (open_ports: Port[], service_fingerprints: Fingerprint[]) =>
  runModule<AssetProfile>(assetProfiler, { open_ports, service_fingerprints });

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

const debian12 = { family: 'linux', distribution: 'debian', version: '12' };

test('a profile has system, applications and functions of all ports', async () => {
  const host = '192.0.2.1';
  const [profile] = await run(
    [open(host, 22), open(host, 80), open(host, 9)],
    [
      seen(host, 22, 'ssh', { product: 'OpenSSH', version: '9.2p1', os: debian12 }),
      seen(host, 80, 'http', { product: 'nginx', version: '1.22.1' }),
    ],
  );
  expect(profile).toMatchObject({
    host,
    device_type: 'server',
    os: debian12,
    applications: [
      { name: 'nginx', version: '1.22.1', role: 'web server' },
      { name: 'OpenSSH', version: '9.2p1', role: 'remote access' },
    ],
    functions: ['remote access', 'web server'],
    open_ports: 3,
  });
  expect(profile?.os?.confidence).toBeGreaterThan(0.8);
});

test('a host without fingerprint has a profile too; a port that may be filtered is not counted', async () => {
  expect(await run([open('192.0.2.2', 1), open('192.0.2.2', 2, 'open|filtered')], [])).toEqual([
    {
      host: '192.0.2.2',
      hostnames: [],
      device_type: 'unknown',
      os: null,
      applications: [],
      functions: [],
      open_ports: 1,
    },
  ]);
});

test('agreeing hints raise the confidence, contradicting ones lower it, and a later record replaces the earlier', async () => {
  const host = '192.0.2.3';
  const hint = (port: number, os: Fingerprint['os']) => seen(host, port, 'ssh', { product: 'x', os });
  const confidence = async (...hints: Fingerprint[]) => (await run([], hints))[0]?.os?.confidence ?? 0;
  const one = await confidence(hint(22, debian12));
  expect(await confidence(hint(22, debian12), hint(23, debian12))).toBeGreaterThan(one);
  const windows = { family: 'windows', distribution: null, version: null };
  expect(await confidence(hint(22, debian12), hint(23, windows))).toBeLessThan(one);
  expect(await confidence(hint(22, windows), hint(22, debian12))).toBe(one);
});
