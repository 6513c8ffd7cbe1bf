import type { HostFinding } from '../../domain/finding.ts';
import type { Host, Port, PortCounts, PortCoverage } from '../../domain/host.ts';
import {
  countsByProtocol,
  type HostRow,
  type PortRow,
  type ResultRow,
  type VulnerabilityRow,
} from '../../domain/result.ts';
import type { Fingerprint, ParsedService } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import type { SavedState } from '../../engine/node.ts';
import type { EarlierRun } from '../../engine/run.ts';
import { readCheckpoint } from '../../workspace/record/checkpoint.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';

/**
 * State of an interrupted run of a scan: the saved state of its nodes, and its rows converted back into the items
 * they were made from. Null if nothing was recorded.
 */
export async function restoreResults(folder: ScanFolder): Promise<EarlierRun | null> {
  const counts = { tcp: new Map<string, PortCoverage>(), udp: new Map<string, PortCoverage>() };
  /** Ports that are not probed again, and whether their service was identified. */
  const complete = new Map<string, boolean>();
  let rows = 0;
  for await (const row of recordIn(folder).rows()) {
    rows++;
    if (row.type === 'host') {
      const { tcp, udp } = countsByProtocol(row);
      if (tcp) counts.tcp.set(row.host, tcp);
      if (udp) counts.udp.set(row.host, udp);
    }
    if (row.type === 'port' && isComplete(row)) complete.set(`${row.host} ${row.port}`, Boolean(row.service));
  }
  const states = await readCheckpoint<SavedState>(folder);
  if (rows === 0 && states.size === 0) return null;
  return {
    states,
    items: (key) => itemsOf(folder, key),
    banners: () => bannersOf(folder),
    has: (key, record) => {
      const { host, port } = record as { host: string; port?: number };
      const identified = complete.get(`${host} ${port}`);
      if (key === 'service_fingerprints') return identified === true;
      return key === 'banners' && identified !== undefined;
    },
    counts: (protocol) => counts[protocol],
  };
}

/**
 * Silent, or identified. A response without a product may have been truncated before it was parsed, and is requested
 * again, as are ports whose probes timed out; a fragile one is left alone.
 */
function isComplete(row: PortRow): boolean {
  if (row.unidentified_reason) return row.unidentified_reason === 'fragile';
  return row.banner === '' || (typeof row.banner === 'string' && Boolean(row.service));
}

async function* itemsOf(folder: ScanFolder, key: string): AsyncGenerator<unknown> {
  const itemsOfRow = readers[key];
  if (!itemsOfRow) return;
  for await (const row of recordIn(folder).rows()) {
    yield* itemsOfRow(row);
  }
}

/** Ports that are not complete are probed again. */
async function* bannersOf(folder: ScanFolder): AsyncGenerator<Banner> {
  for await (const row of recordIn(folder).rows())
    if (row.type === 'port' && isComplete(row) && row.banner) yield bannerOf(row);
}

const readers: Record<string, (row: ResultRow) => object[]> = {
  discovered_hosts: (row) => (row.type === 'host' ? [hostOf(row)] : []),
  port_counts: (row) => (row.type === 'host' ? countsOf(row) : []),
  open_ports: (row) => (row.type === 'port' ? [portOf(row)] : []),
  parsed_services: (row) => (row.type === 'port' ? parsedOf(row) : []),
  service_fingerprints: (row) => (row.type === 'port' ? fingerprintsOf(row) : []),
  vulnerabilities: (row) => (row.type === 'vulnerability' ? [findingOf(row)] : []),
};

function hostOf({ host, latency_ms, method, mac, vendor }: HostRow): Host {
  return {
    ip: host,
    latency_ms: latency_ms ?? null,
    method: method ?? 'recorded',
    ...(mac ? { mac } : {}),
    ...(vendor ? { vendor } : {}),
  };
}

function countsOf(row: HostRow): PortCounts[] {
  const { tcp, udp } = countsByProtocol(row);
  const { host, all_ports_open = false } = row;
  return [
    ...(tcp ? [{ host, protocol: 'tcp' as const, ...tcp, all_ports_open }] : []),
    ...(udp ? [{ host, protocol: 'udp' as const, ...udp, all_ports_open: all_ports_open && !tcp }] : []),
  ];
}

function portOf({ host, port, protocol, state, reason }: PortRow): Port {
  return { host, port, protocol, state: state as Port['state'], reason };
}

/** What each parser extracted, as far as the row distinguishes them: by the protocol of its facts. */
function parsedOf({ host, port, protocol, attributes, tls, truncated = false }: PortRow): ParsedService[] {
  const facts = Object.entries({ ...attributes, ...(tls ? { tls } : {}) });
  return facts.map(([service, own]) => {
    return {
      host,
      port,
      protocol,
      service,
      parser: `${service}_parser`,
      attributes: { [service]: own },
      truncated,
    };
  });
}

/** The best banner of a port; the others, and certificates, are not in the record. */
function bannerOf({ host, port, protocol, banner, banner_b64, tls, truncated, partial }: PortRow): Banner {
  const { version, cipher, alpn } = tls ?? {};
  return {
    host,
    port,
    protocol,
    banner: banner ?? '',
    ...(banner_b64 && { banner_b64 }),
    ...(typeof version === 'string' &&
      typeof cipher === 'string' && {
        tls: { version, cipher, alpn: typeof alpn === 'string' ? alpn : null, chain: [] },
      }),
    probe: 'recorded',
    truncated: truncated ?? false,
    partial: partial ?? false,
  };
}

function findingOf({ host, port, protocol, vulnerability }: VulnerabilityRow): HostFinding {
  return { host, port, protocol, ...vulnerability };
}

function fingerprintsOf({ host, port, protocol, fingerprints }: PortRow): Fingerprint[] {
  const [claim, ...alternatives] = fingerprints ?? [];
  return claim ? [{ host, port, protocol, ...claim, alternatives }] : [];
}
