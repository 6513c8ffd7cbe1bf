import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { noFindings } from '../src/domain/finding.ts';
import type { ResultRow } from '../src/domain/result.ts';
import type { ResultSource } from '../src/engine/module.ts';

const timestamp = '2026-11-21T12:00:00.000Z';

const rows: ResultRow[] = [
  { type: 'host', timestamp, host: '127.0.0.1', state: 'up', latency_ms: 0.1 },
  {
    type: 'port',
    timestamp,
    host: '127.0.0.1',
    port: 22,
    protocol: 'tcp',
    state: 'open',
    reason: 'syn-ack',
    banner: 'SSH-2.0-x\r\n',
  },
];

/** The result of a scan of one host, and a folder for reports that goes when the test is over. */
export function smallResult(): ResultSource & { reportsDir: string } {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-report-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return {
    scanId: '20261121-120000-a1b2c3',
    targets: ['127.0.0.1'],
    request: null,
    startedAt: '2026-11-21T11:59:59.000Z',
    stages: () => [],
    evaluated: true,
    reportsDir: join(folder, 'reports'),
    templatesDir: join(folder, 'templates'),
    failure: () => null,
    warnings: () => [],
    async *rows() {
      yield* rows;
    },
    summary: async () => ({
      type: 'summary',
      timestamp,
      host: null,
      scan_id: '20261121-120000-a1b2c3',
      status: 'completed',
      partial: false,
      live_hosts: 1,
      open_ports: 1,
      vulnerabilities: 0,
      addresses_scanned: 1,
      excluded: 0,
      severity_counts: noFindings(),
      duration_seconds: 1,
      catalogue_version: 'test',
    }),
  };
}
