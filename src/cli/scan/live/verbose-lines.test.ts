import { describe, expect, it } from 'vitest';
import type { HostRow, PortRow } from '../../../domain/result.ts';
import type { StageRecord } from '../../../domain/scan.ts';
import { noTraffic } from '../../../domain/traffic.ts';
import type { LiveScan } from '../../../scan-run/messages.ts';
import { VerboseLines } from './verbose-lines.ts';

const host = {
  type: 'host',
  host: '127.0.7.10',
  state: 'up',
  method: 'icmp-echo',
  latency_ms: 1.14,
} as HostRow;
const port = {
  type: 'port',
  host: '127.0.7.10',
  port: 22,
  protocol: 'tcp',
  state: 'open',
  reason: 'syn-ack',
} as PortRow;
const service = { name: 'ssh', product: 'OpenSSH', version: '9.2p1', confidence: 0.98 };
const live = (stages: Partial<StageRecord>[], limit: number) =>
  ({ stages, progress: { rate_limit: limit } }) as LiveScan;

function record(isVery: boolean) {
  const lines: string[] = [];
  let now = 0;
  const verbose = new VerboseLines((line) => lines.push(line), { isVery, clock: () => now });
  return { lines, verbose, at: (ms: number) => void (now = ms) };
}

describe('VerboseLines', () => {
  it('says each thing once, with its time', () => {
    const { lines, verbose, at } = record(false);
    verbose.start({ scan_id: '20261122-221414-87f5cc', targets: ['a'], profile: 'quick' }, '22');
    at(12);
    verbose.row(host);
    verbose.row({ ...host, hostnames: ['mail'] });
    verbose.row(port);
    at(310);
    verbose.row({ ...port, service: { ...service, vendor: null, cpe: null } });
    verbose.update(live([{ instance_id: 'scan', status: 'running' }], 1000));
    at(61_200);
    const coverage = { open: 1, closed: 992, filtered: 0, not_tried: 0 };
    verbose.update(live([{ instance_id: 'scan', status: 'completed', coverage }], 2000));
    verbose.traffic({ ...noTraffic(), sent: 1000, raw: { ...noTraffic().raw, retransmitted: 1 } });
    verbose.end();
    expect(lines).toEqual([
      '  0.00 s  scan 20261122-221414-87f5cc: 1 target, profile quick, ports 22',
      '  0.01 s  127.0.7.10 up: icmp-echo, 1.1 ms',
      '  0.01 s  127.0.7.10:22 open: syn-ack',
      '  0.31 s  127.0.7.10:22 ssh, OpenSSH 9.2p1 (0.98)',
      ' 61.20 s  scan done: 1 open, 992 closed',
      ' 61.20 s  sent 1,000 packets, 1 retry',
    ]);
  });

  it('says more with -vv, and no control character', () => {
    const { lines, verbose } = record(true);
    verbose.update(live([{ instance_id: 'scan', status: 'running', method: 'raw packets' }], 1000));
    verbose.update(live([], 2000));
    verbose.row({
      ...port,
      host: '::1',
      protocol: 'udp',
      unidentified_reason: 'timeout',
      reason: 'a\x1b[31m',
    });
    expect(lines.map((line) => line.slice(10))).toEqual([
      'scan started: raw packets',
      'rate 1,000/s to 2,000/s',
      '[::1]:22/udp open: a\\x1b[31m',
      '[::1]:22 not identified: timeout',
    ]);
  });
});
