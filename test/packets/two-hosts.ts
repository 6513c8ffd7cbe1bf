import { spawnSync } from 'node:child_process';
import { type Packet, type Run, Wire } from '../lab/wire.ts';

/** The part of a scan's JSON that is looked at here. */
export interface ScanRecord {
  status: string;
  summary: { live_hosts: number; open_ports: number; coverage: PortStates };
  warnings: { code: string; message: string }[];
  results: { host: string; ports: { port: number; reason: string }[]; port_counts: PortStates }[];
}

export type PortStates = Record<'planned' | 'open' | 'closed' | 'filtered' | 'not_tried', number>;

/** What these tests need and this machine lacks, or null. */
const lacking =
  process.getuid?.() === 0
    ? ['ip', 'nft', 'tcpdump', 'setpriv'].find((tool) => spawnSync('which', [tool]).status !== 0)
    : 'root (network namespaces)';

export const canRun = lacking === undefined;
if (!canRun) console.log(`skipped: raw packets over a link: this machine lacks ${lacking}`);

/** Sweeps by raw packets and nothing before. */
export const syn = ['--dag', 'port-scan', '--no-discover', '--scan-type', 'syn'];

let made = 0;

/** Two hosts on one link, for this test file alone. */
export function twoHosts(): Wire {
  made += 1;
  return new Wire(`ptl${process.pid}-${made}`);
}

export function recordOf({ stdout, stderr, exitCode }: Run): ScanRecord {
  if (stdout.trim() === '') throw new Error(`no result, exit ${exitCode}: ${stderr.slice(-2000)}`);
  return JSON.parse(stdout) as ScanRecord;
}

/** SYNs by `HOST PORT`. */
export function triesOf(packets: readonly Packet[]): Map<string, number> {
  const tries = new Map<string, number>();
  for (const { host, port, kind } of packets) {
    if (kind !== 'syn') continue;
    const endpoint = `${host} ${port}`;
    tries.set(endpoint, (tries.get(endpoint) ?? 0) + 1);
  }
  return tries;
}

/** Open ports as `HOST PORT`, one entry for each time they are named. */
export function openOf({ results }: ScanRecord): string[] {
  return results.flatMap(({ host, ports }) => ports.map(({ port }) => `${host} ${port}`));
}
