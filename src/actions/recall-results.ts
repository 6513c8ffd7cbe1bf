import type { Host, Port, PortCounts } from '../domain/host.ts';
import type { HostRow, PortRow, ResultRow } from '../domain/result.ts';
import type { Fingerprint } from '../domain/service.ts';
import type { SavedState } from '../engine/node.ts';
import type { EarlierRun } from '../engine/run.ts';
import { readCheckpoint } from '../workspace/checkpoint.ts';
import { mergedRows } from '../workspace/record-reader.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';

/**
 * What an interrupted run of a scan left behind: the saved state of its nodes, and its rows turned back into the items
 * they were made from. Null when nothing was recorded.
 */
export async function recallResults(folder: ScanFolder): Promise<EarlierRun | null> {
  const done = { port_counts: new Set<string>(), banners: new Set<string>() };
  let rows = 0;
  for await (const row of mergedRows(folder)) {
    rows++;
    if (row.type === 'host' && row.port_counts) done.port_counts.add(row.host);
    if (row.type === 'port' && isAnswered(row)) done.banners.add(`${row.host} ${row.port}`);
  }
  const states = await readCheckpoint<SavedState>(folder);
  if (rows === 0 && states.size === 0) return null;
  return {
    states,
    items: (key) => itemsOf(folder, key),
    has: (key, record) => {
      const { host, port } = record as { host: string; port?: number };
      if (key === 'port_counts') return done.port_counts.has(host);
      return key === 'banners' && done.banners.has(`${host} ${port}`);
    },
  };
}

/** Silent, or named. An answer without a name may have been cut off before it was read, and is asked for again. */
function isAnswered(row: PortRow): boolean {
  return row.banner === '' || (typeof row.banner === 'string' && Boolean(row.service));
}

async function* itemsOf(folder: ScanFolder, key: string): AsyncGenerator<unknown> {
  const itemOf = readers[key];
  if (!itemOf) return;
  for await (const row of mergedRows(folder)) {
    const item = itemOf(row);
    if (item) yield item;
  }
}

const readers: Record<string, (row: ResultRow) => object | null> = {
  discovered_hosts: (row) => (row.type === 'host' ? hostOf(row) : null),
  port_counts: (row) => (row.type === 'host' ? countsOf(row) : null),
  open_ports: (row) => (row.type === 'port' ? portOf(row) : null),
  service_fingerprints: (row) => (row.type === 'port' ? fingerprintOf(row) : null),
};

function hostOf({ host, latency_ms, method }: HostRow): Host {
  return { ip: host, latency_ms: latency_ms ?? null, method: method ?? 'recorded' };
}

function countsOf({ host, port_counts, all_ports_open }: HostRow): PortCounts | null {
  if (!port_counts) return null;
  return { host, protocol: 'tcp', ...port_counts, all_ports_open: all_ports_open ?? false };
}

function portOf({ host, port, protocol, state, reason }: PortRow): Port {
  return { host, port, protocol, state: state as Port['state'], reason };
}

function fingerprintOf({ host, port, protocol, fingerprints }: PortRow): Fingerprint | null {
  const [claim, ...alternatives] = fingerprints ?? [];
  return claim ? { host, port, protocol, ...claim, alternatives } : null;
}
