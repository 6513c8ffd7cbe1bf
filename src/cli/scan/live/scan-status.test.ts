import { describe, expect, it } from 'vitest';
import type { PortRow, ResultRow } from '../../../domain/result.ts';
import type { ScanProgress, StageRecord } from '../../../domain/scan.ts';
import { initialProgress } from '../../../domain/scan-progress.ts';
import { type LiveReport, RunningStatus } from './scan-status.ts';
import { statusLine, statusLines } from './status-lines.ts';

const plain = { columns: 80, terminal: true, color: false, ascii: false };

function stage(module_type: string, fields: Partial<StageRecord> = {}): StageRecord {
  return { module_type, status: 'running', ...fields } as StageRecord;
}

function news(progress: Partial<ScanProgress>, stages: StageRecord[], open = 0, hosts = 1): LiveReport {
  const results = { live_hosts: hosts, open_ports: open, vulnerabilities: 0 };
  return { progress: { ...initialProgress(), rate: 990, rate_limit: 1000, ...progress }, results, stages };
}

function port(number: number, fields: Partial<PortRow> = {}): ResultRow {
  const place = { host: '127.0.7.10', port: number, protocol: 'tcp' as const };
  return { type: 'port', timestamp: '', ...place, state: 'open', reason: 'syn-ack', ...fields };
}

const service = { name: 'redis', product: 'Redis', vendor: null, version: null, cpe: null, confidence: 1 };
const sweep = (tried: number) => ({ tried, not_tried: 1000 - tried, unit: 'ports' as const });

function linesOf(status: RunningStatus, now: number, columns = 79, rows = 24): string[] {
  const facts = status.facts(now);
  return facts ? statusLines(facts, { columns, rows }, plain, true) : [];
}

describe('the status of one scan', () => {
  const status = new RunningStatus(0);
  const working = [stage('syn_scanner'), stage('banner_grabber')];
  for (let second = 1; second <= 6; second++)
    status.update(news(sweep(second * 100), working, 2), second * 1000);
  status.row(port(8080));
  status.row(port(6379, { service, banner: '' }));

  it('has the newest ports, a line for each stage that runs and totals with the basis of the estimate', () => {
    expect(linesOf(status, 6000)).toEqual([
      '127.0.7.10:8080  http-alt',
      '127.0.7.10:6379  redis',
      'ports      600 of 1,000 tried  60 %  2 open',
      'services   1 of 2 tried  1 identified',
      '990 packets/s, limit 1,000  6 s  about 4 s left: ports',
    ]);
  });

  it('has bars and reasons in a wide window, and one line in a narrow one', () => {
    const wide = linesOf(status, 6000, 119);
    expect(wide[0]).toBe('127.0.7.10:8080  http-alt  syn-ack');
    expect(wide[2]).toBe('ports      600 of 1,000 tried  60 %  ━━━━━━━━━━━━━━──────────  2 open');
    expect(linesOf(status, 6000, 55)).toEqual(['60 % of 1,000 ports  2 open  990/s  about 4 s left']);
    expect(linesOf(status, 6000, 30)).toEqual(['60 %  2 open']);
  });

  it('gives open ports a third of the window', () => {
    expect(linesOf(status, 6000, 79, 4)[0]).toBe('127.0.7.10:6379  redis');
  });

  it('says what it waits for when all ports are tried, without a percentage', () => {
    status.update(
      news(sweep(1000), [stage('syn_scanner', { status: 'completed' }), stage('banner_grabber')], 2),
      7000,
    );
    expect(linesOf(status, 7000).slice(2)).toEqual([
      'finishing  1 of 2 services waits for a response',
      '990 packets/s, limit 1,000  7 s',
    ]);
  });
});

describe('the status of a big scan', () => {
  const stages = [
    stage('icmp_discovery', { done: 40, total: 100 }),
    stage('tcp_probe_discovery', { done: 30, total: 100 }),
    stage('syn_scanner'),
  ];
  const known = { hosts_total: 10_000, tried: 90, not_tried: 10, unit: 'ports' as const };

  it('has no percentage of work that grows, no overall one, and no estimate in the first 5 s', () => {
    const status = new RunningStatus(0);
    status.update(news(known, stages, 3, 412), 1000);
    expect(linesOf(status, 4000)).toEqual([
      'discovery  3,000 of 10,000 addresses  30 %  412 up',
      'ports      90 of 100 tried on 412 hosts  3 open',
      '990 packets/s, limit 1,000  4 s  no estimate yet',
    ]);
  });

  it('never counts down', () => {
    const status = new RunningStatus(0);
    status.update(news(known, stages, 3, 412), 1000);
    status.update(news({ ...known, tried: 80 }, stages.slice(1), 2, 400), 2000);
    const [discovery, ports] = linesOf(status, 3000);
    expect(discovery).toContain('412 up');
    expect(ports).toContain('3 open');
  });

  it('says that the scan is paused', () => {
    const status = new RunningStatus(0);
    status.update(news({ ...known, paused: true, rate: 0 }, stages, 3, 412), 1000);
    expect(linesOf(status, 60_000).at(-1)).toBe('0 packets/s, limit 1,000  1 min  paused');
  });
});

it('statusLine of a server without stages has what there is', () => {
  const status = new RunningStatus(0);
  const { stages: _stages, ...others } = news(sweep(500), []);
  status.update(others, 1000);
  const facts = status.facts(6000);
  expect(facts && statusLine(facts)).toBe('50 % of 1,000 ports  0 open  990/s  no estimate yet');
});
