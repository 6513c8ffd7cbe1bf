import { useCallback, useEffect, useState } from 'react';
import { fetchGet } from '../../api/use-get.ts';
import { whenIndexed } from '../../components/table/when-indexed.ts';
import type { FindingRecord, HostRecord, PortRecord } from './record-types.ts';
import { worstFirst } from './result-rows.ts';

/** Rows below an unfolded host. */
export type ChildRow =
  | { kind: 'port'; record: PortRecord; isFolded: boolean }
  | { kind: 'finding'; record: FindingRecord; level: 2 | 3 }
  | { kind: 'rest'; text: string };

interface Children {
  ports: PortRecord[];
  findings: FindingRecord[];
  rest: string | null;
}

/** Records below one host that are shown at once; more are in the tabs of services and findings. */
const maxBelow = 200;

/** What is unfolded, and the records that were loaded for it. */
export function useHostChildren(scanId: string, q: string) {
  const [unfolded, setUnfolded] = useState<ReadonlyMap<number, Children | 'loading'>>(new Map());
  const [foldedPorts, setFoldedPorts] = useState<ReadonlySet<string>>(new Set());
  // Another filter shows other hosts at these places.
  useEffect(() => setUnfolded(new Map()), [scanId, q]);

  const toggleHost = useCallback(
    async (index: number, host: HostRecord) => {
      if (unfolded.has(index)) return setUnfolded(without(unfolded, index));
      setUnfolded((now) => new Map(now).set(index, 'loading'));
      const children = await childrenOf(scanId, host, q).catch(() => null);
      setUnfolded((now) => (children ? new Map(now).set(index, children) : without(now, index)));
    },
    [scanId, q, unfolded],
  );

  const togglePort = useCallback((record: PortRecord) => {
    const key = portKey(record);
    setFoldedPorts((now) => {
      const next = new Set(now);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  }, []);

  const rowsBelow = (index: number): ChildRow[] => {
    const children = unfolded.get(index);
    return children === undefined || children === 'loading' ? [] : rowsOf(children, foldedPorts);
  };

  return {
    isUnfolded: (index: number) => unfolded.has(index),
    indices: [...unfolded.keys()],
    rowsBelow,
    toggleHost,
    togglePort,
  };
}

async function childrenOf(scanId: string, host: HostRecord, q: string): Promise<Children> {
  const own = `host:${host.host}`;
  const query = q === '' ? own : `${own} (${q})`;
  const path = { scan_id: scanId };
  const [ports, findings] = await Promise.all([
    whenIndexed(() =>
      fetchGet('/api/v1/scans/{scan_id}/records', {
        path,
        query: { type: 'port', q: query, limit: maxBelow },
      }),
    ),
    whenIndexed(() =>
      fetchGet('/api/v1/scans/{scan_id}/records', {
        path,
        query: { type: 'vulnerability', q: query, limit: maxBelow, sort: worstFirst },
      }),
    ),
  ]);
  return {
    ports: ports.records as unknown as PortRecord[],
    findings: findings.records as unknown as FindingRecord[],
    rest: restText(host, ports.total, silentAmong(ports.records as unknown as PortRecord[]), findings.total),
  };
}

/** Ports that did not respond are no services. */
function silentAmong(ports: readonly PortRecord[]): number {
  return ports.filter(({ state }) => state !== 'open').length;
}

function restText(host: HostRecord, ports: number, silent: number, findings: number): string | null {
  const hidden = Math.max(0, (host.totals?.open_ports ?? 0) - (ports - silent));
  const beyond = Math.max(0, ports - maxBelow) + Math.max(0, findings - maxBelow);
  const parts = [
    hidden > 0 ? `${hidden} more ${hidden === 1 ? 'service does' : 'services do'} not match` : '',
    beyond > 0 ? `${beyond} more rows are in the tabs of services and findings` : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? parts.join(', ') : null;
}

function rowsOf({ ports, findings, rest }: Children, folded: ReadonlySet<string>): ChildRow[] {
  const rows: ChildRow[] = [];
  for (const record of ports) {
    const isFolded = folded.has(portKey(record));
    rows.push({ kind: 'port', record, isFolded });
    const own = findings.filter(({ port, protocol }) => port === record.port && protocol === record.protocol);
    if (!isFolded)
      rows.push(...own.map((finding) => ({ kind: 'finding', record: finding, level: 3 }) as const));
  }
  const ofHost = findings.filter(({ port }) => port === null);
  rows.push(...ofHost.map((finding) => ({ kind: 'finding', record: finding, level: 2 }) as const));
  if (rest !== null) rows.push({ kind: 'rest', text: rest });
  return rows;
}

function portKey({ host, port, protocol }: PortRecord): string {
  return `${host} ${port}/${protocol}`;
}

function without<T>(map: ReadonlyMap<number, T>, key: number): ReadonlyMap<number, T> {
  const next = new Map(map);
  next.delete(key);
  return next;
}
