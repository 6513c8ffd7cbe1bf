import { expect, test } from 'vitest';
import { bannerOf, runModule } from '../../../test/module-trial.ts';
import type { ProfilePart } from '../../domain/asset.ts';
import deviceClassifier from './device_classifier.ts';

const host = '192.0.2.1';
const open = (port: number) => ({ host, port, protocol: 'tcp', state: 'open', reason: 'syn-ack' });
const seen = (port: number, match: string, product: string | null, os?: object) => {
  const nothing = { vendor: null, version: null, cpe: null, evidence: 'x', alternatives: [] };
  return { host, port, protocol: 'tcp', match, product, ...nothing, confidence: 0.9, source: 'banner', os };
};

async function classify(inputs: Record<string, readonly unknown[]>) {
  const [profile] = await runModule<ProfilePart>(deviceClassifier, inputs);
  return profile;
}

test('a Debian with a web server and SSH is a server', async () => {
  const debian = { family: 'linux', distribution: 'debian', version: '12' };
  const profile = await classify({
    open_ports: [open(22), open(80)],
    service_fingerprints: [seen(22, 'ssh', 'OpenSSH', debian), seen(80, 'http', 'nginx')],
  });
  expect(profile).toMatchObject({ host, device_type: 'server' });
  expect(profile?.device_evidence?.map(({ rule }) => rule)).toEqual([
    'device.functions',
    'device.system-linux-debian',
  ]);
});

test('pages, cards and ports name the kind of a device', async () => {
  const printer = await classify({
    open_ports: [open(80), open(515), open(9100)],
    banners: [bannerOf(80, 'HTTP/1.1 200 OK\r\n\r\n<title>Brother MFC-L2710DW series</title>')],
    discovered_hosts: [
      { ip: host, latency_ms: 1, method: 'arp', mac: '00:1b:a9:00:00:01', vendor: 'Brother' },
    ],
  });
  expect(printer?.device_type).toBe('printer');
  expect(printer?.device_evidence?.map(({ source }) => source).sort()).toEqual([
    '80/tcp',
    'network',
    'ports',
  ]);
});

test('a silent host is of no known kind', async () => {
  expect(await classify({ open_ports: [open(4242)] })).toEqual({ host, device_type: 'unknown' });
});

test('a host that accepts every port is no printer', async () => {
  const counts = {
    host,
    protocol: 'tcp',
    open: 3,
    closed: 0,
    filtered: 0,
    not_tried: 0,
    all_ports_open: true,
  };
  const profile = await classify({ open_ports: [open(515), open(9100)], port_counts: [counts] });
  expect(profile?.device_type).toBe('unknown');
  const revoked = { ...counts, all_ports_open: false };
  const printer = await classify({ open_ports: [open(515), open(9100)], port_counts: [counts, revoked] });
  expect(printer?.device_type).toBe('printer');
});
