import { randomBytes } from 'node:crypto';
import { scanRequest } from '../src/domain/fixtures/scan-request.ts';
import type { ResultRow, SummaryRow } from '../src/domain/result.ts';
import { newScanId, type Scan, type ScanRequest } from '../src/domain/scan.ts';
import { initialProgress } from '../src/domain/scan-progress.ts';
import { openStore } from '../src/store/open.ts';
import { openRecord } from '../src/workspace/record/record-writer.ts';
import { openWorkspace } from '../src/workspace/workspace.ts';

/** Fills a workspace with finished scans, a minute apart, as the server would have left them. @returns the newest id */
export async function fillWorkspace(dir: string, scans: number): Promise<string> {
  const workspace = await openWorkspace(dir);
  const store = await openStore(workspace.storeFile);
  let newest = '';
  try {
    for (let from = 0; from < scans; from += 500) {
      await store.transaction(async (inside) => {
        for (let i = from; i < Math.min(scans, from + 500); i++) {
          const request = requestOf(new Date(Date.now() - (scans - i) * 60_000));
          newest = request.scan_id;
          await workspace.scan(newest).create(request);
          await inside.scans.insert(request);
          await inside.scans.update(newest, finishedScan(request));
        }
      });
    }
  } finally {
    await store.close();
  }
  return newest;
}

/** Adds a finished scan with so many rows: a host and its ports in turns of ten. @returns its id */
export async function recordOfRows(dir: string, rows: number): Promise<string> {
  const workspace = await openWorkspace(dir);
  const store = await openStore(workspace.storeFile);
  const request = requestOf(new Date());
  const folder = workspace.scan(request.scan_id);
  try {
    await folder.create(request);
    const record = await openRecord(folder);
    for (let i = 0; i < rows; i++) await record.append(rowOf(i, request.created_at));
    await record.finish(summaryOf(request, rows));
    await record.close();
    await store.scans.insert(request);
    await store.scans.update(request.scan_id, finishedScan(request));
  } finally {
    await store.close();
  }
  return request.scan_id;
}

function rowOf(i: number, timestamp: string): ResultRow {
  const n = Math.floor(i / 10);
  const host = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
  if (i % 10 === 0) return { type: 'host', timestamp, host, state: 'up', latency_ms: 0.4 };
  return {
    type: 'port',
    timestamp,
    host,
    port: 8000 + (i % 10),
    protocol: 'tcp',
    state: 'open',
    reason: 'syn-ack',
    service: { name: 'http', product: 'nginx', vendor: 'f5', version: '1.24.0', cpe: null, confidence: 0.9 },
    banner: 'HTTP/1.1 200 OK\r\nServer: nginx/1.24.0\r\n',
    banner_b64: null,
    truncated: false,
    tls: null,
    fingerprints: [],
    attributes: {},
  };
}

const none = { critical: 0, high: 0, medium: 0, low: 0, info: 0 };

function requestOf(createdAt: Date): ScanRequest {
  return scanRequest({
    scan_id: newScanId(createdAt, randomBytes),
    created_at: createdAt.toISOString(),
    targets: ['10.0.0.0/24'],
    name: 'nightly',
    tags: ['office', 'nightly'],
  });
}

/** What the end of a scan stores: one stage a node of the profile, as a real one has. */
function finishedScan({ created_at }: ScanRequest): Partial<Scan> {
  const stages = ['icmp', 'tcp_ping', 'ports', 'banners', 'http', 'ssh', 'fingerprint', 'profile', 'report'];
  return {
    status: 'completed',
    started_at: created_at,
    completed_at: new Date(Date.parse(created_at) + 30_000).toISOString(),
    results: { live_hosts: 12, open_ports: 48, vulnerabilities: 0 },
    progress: {
      ...initialProgress(),
      percent: 100,
      phase: 'done',
      hosts_done: 254,
      hosts_total: 254,
      paused: false,
      rate: 0,
      eta_seconds: 0,
      resumes: 0,
      shards: { total: 1, done: 1, running: 0 },
    },
    stages: stages.map((name) => ({
      instance_id: name,
      module_type: `${name}_module`,
      status: 'completed',
      started_at: created_at,
      completed_at: created_at,
      items_in: 254,
      items_out: 48,
      error: null,
    })),
  };
}

function summaryOf({ scan_id, created_at }: ScanRequest, rows: number): SummaryRow {
  return {
    type: 'summary',
    timestamp: created_at,
    host: null,
    scan_id,
    status: 'completed',
    partial: false,
    live_hosts: rows / 10,
    open_ports: (rows / 10) * 9,
    vulnerabilities: 0,
    addresses_scanned: rows / 10,
    excluded: 0,
    severity_counts: none,
    duration_seconds: 60,
    catalogue_version: '2026-11-21',
  };
}
