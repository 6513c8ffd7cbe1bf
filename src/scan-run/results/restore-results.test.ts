import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Finding } from '../../domain/finding.ts';
import type { ResultRow } from '../../domain/result.ts';
import { writeCheckpoint } from '../../workspace/record/checkpoint.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import { ScanFolder } from '../../workspace/scan-folder.ts';
import { restoreResults } from './restore-results.ts';

const timestamp = '2026-11-21T12:00:00.000Z';
const port = {
  type: 'port',
  timestamp,
  host: '127.0.0.1',
  protocol: 'tcp',
  state: 'open',
  reason: 'syn-ack',
} as const;
const finding: Finding = {
  id: 'redis-no-auth',
  title: 'x',
  severity: 'high',
  cvss: null,
  kev: false,
  epss: null,
  cpe: null,
  affected: null,
  detected: null,
  confidence: 0.9,
  backport_note: null,
  class: 'likely',
  evidence: 'x',
  remediation: '',
  references: [],
  plugin: 'misconfig_checker',
};
const claim = {
  match: 'ssh',
  product: 'OpenSSH',
  vendor: 'openbsd',
  version: '9.2p1',
  cpe: null,
  confidence: 0.9,
  source: 'banner',
  evidence: 'SSH-2.0-x',
};

async function folderWith(rows: ResultRow[]): Promise<ScanFolder> {
  const path = mkdtempSync(join(tmpdir(), 'portolan-recall-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const folder = new ScanFolder(path);
  const record = await openRecord(folder);
  for (const row of rows) await record.append(row);
  await record.seal();
  await record.close();
  return folder;
}

async function all(items: AsyncIterable<unknown>): Promise<unknown[]> {
  return await Array.fromAsync(items);
}

it('turns rows back into the items they were made from', async () => {
  const folder = await folderWith([
    {
      type: 'host',
      timestamp,
      host: '127.0.0.1',
      state: 'up',
      latency_ms: 0.1,
      method: 'arp',
      mac: '00:0c:29:00:00:01',
    },
    {
      type: 'host',
      timestamp,
      host: '127.0.0.2',
      state: 'up',
      port_counts: { open: 0, closed: 3, filtered: 0, not_tried: 0 },
    },
    {
      type: 'host',
      timestamp,
      host: '127.0.0.3',
      state: 'up',
      port_counts: { open: 1, closed: 5, filtered: 0, not_tried: 0 },
      udp_port_counts: { open: 1, closed: 2, filtered: 0, not_tried: 0 },
    },
    {
      type: 'host',
      timestamp,
      host: '127.0.0.4',
      state: 'up',
      port_counts: { open: 0, closed: 2, filtered: 0, not_tried: 0 },
      udp_port_counts: { open: 0, closed: 2, filtered: 0, not_tried: 0 },
    },
    {
      ...port,
      port: 22,
      banner: 'SSH-2.0-x',
      fingerprints: [claim],
      service: { name: 'ssh', ...claim },
      attributes: { ssh: { software: 'x' } },
      tls: { version: 'TLSv1.3' },
    },
    { type: 'vulnerability', timestamp, host: port.host, port: 22, protocol: 'tcp', vulnerability: finding },
    { ...port, port: 23, banner: '' },
    { ...port, port: 24, banner: 'what is this' },
    { ...port, port: 25 },
    { ...port, port: 26, banner: '', unidentified_reason: 'timeout' },
    { ...port, port: 27, banner: '', unidentified_reason: 'fragile' },
  ]);
  await writeCheckpoint(folder, { icmp: { completed: true, done: 2, state: null } as { done: number } });
  const earlier = await restoreResults(folder);
  if (!earlier) throw new Error('nothing was recalled');

  expect(earlier.states.get('icmp')).toEqual({ completed: true, done: 2, state: null });
  expect(await all(earlier.items('discovered_hosts'))).toMatchObject([
    { ip: '127.0.0.1', mac: '00:0c:29:00:00:01' },
    { ip: '127.0.0.2' },
    { ip: '127.0.0.3' },
    { ip: '127.0.0.4' },
  ]);
  expect(await all(earlier.items('port_counts'))).toMatchObject([
    { host: '127.0.0.2', protocol: 'tcp', closed: 3, all_ports_open: false },
    { host: '127.0.0.3', protocol: 'tcp', open: 0, closed: 3 },
    { host: '127.0.0.3', protocol: 'udp', open: 1, closed: 2 },
    { host: '127.0.0.4', protocol: 'udp', open: 0, closed: 2 },
  ]);
  expect(await all(earlier.items('open_ports'))).toHaveLength(6);
  expect(await all(earlier.items('service_fingerprints'))).toEqual([
    { host: '127.0.0.1', port: 22, protocol: 'tcp', ...claim, alternatives: [] },
  ]);
  expect(await all(earlier.items('vulnerabilities'))).toEqual([
    { host: port.host, port: 22, protocol: 'tcp', ...finding },
  ]);
  expect(await all(earlier.items('banners'))).toEqual([]);
  expect(await all(earlier.banners())).toEqual([
    {
      host: '127.0.0.1',
      port: 22,
      protocol: 'tcp',
      banner: 'SSH-2.0-x',
      probe: 'recorded',
      truncated: false,
      partial: false,
    },
  ]);
  expect(await all(earlier.items('parsed_services'))).toMatchObject([
    { port: 22, service: 'ssh', parser: 'ssh_parser', attributes: { ssh: { software: 'x' } } },
    { port: 22, service: 'tls', parser: 'tls_parser', attributes: { tls: { version: 'TLSv1.3' } } },
  ]);

  expect(Object.fromEntries(earlier.counts('tcp'))).toEqual({
    '127.0.0.2': { open: 0, closed: 3, filtered: 0, not_tried: 0 },
    '127.0.0.3': { open: 0, closed: 3, filtered: 0, not_tried: 0 },
  });
  expect(Object.fromEntries(earlier.counts('udp'))).toEqual({
    '127.0.0.3': { open: 1, closed: 2, filtered: 0, not_tried: 0 },
    '127.0.0.4': { open: 0, closed: 2, filtered: 0, not_tried: 0 },
  });
  const recorded = [22, 23, 24, 25, 26, 27].filter((number) =>
    earlier.has('banners', { host: '127.0.0.1', port: number }),
  );
  expect(recorded).toEqual([22, 23, 27]);
  const identified = [22, 23, 24, 25, 26, 27].filter((number) =>
    earlier.has('service_fingerprints', { host: '127.0.0.1', port: number }),
  );
  expect(identified).toEqual([22]);
});

it('restores nothing at the first start and only rows if the checkpoint is damaged', async () => {
  expect(await restoreResults(await folderWith([]))).toBeNull();
  const folder = await folderWith([{ ...port, port: 22 }]);
  writeFileSync(join(folder.path, 'checkpoint.json'), '{"nodes": ');
  expect((await restoreResults(folder))?.states.size).toBe(0);
});
