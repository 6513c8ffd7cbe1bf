import { type ListQuery, listScans, type ScanList } from '../../actions/scans/list-scans.ts';
import type { ListedScan } from '../../domain/listed-scan.ts';
import { isDeadCommandLine } from '../../scan-run/finalize/interrupt-scan.ts';
import type { Store } from '../../store/open.ts';
import { namedClient } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { scanListShape } from '../session/server-responses.ts';
import { withStore } from '../session/session.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import type { ListSorting } from '../terminal/list-order.ts';

export interface ScanListFlags extends ServerFlags {
  format: string;
  status?: string;
  since?: string;
  limit: number;
  sort: ListSorting;
}

type Compare = (a: ListedScan, b: ListedScan) => number;

const byText = (text: (scan: ListedScan) => string): Compare => {
  return (a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
};

/** Sort orders; ties are newest first. */
const orders: Record<ListSorting, Compare | null> = {
  newest: null,
  oldest: byText((scan) => scan.created_at),
  status: byText((scan) => scan.status),
  profile: byText((scan) => scan.profile),
  name: byText((scan) => scan.name ?? '\uffff'),
  hosts: (a, b) => b.results.live_hosts - a.results.live_hosts,
  ports: (a, b) => b.results.open_ports - a.results.open_ports,
  findings: (a, b) => b.results.vulnerabilities - a.results.vulnerabilities,
};

type Fetch = (query: ListQuery) => Promise<ScanList>;

/** The scans selected by the flags, local or on the named server. */
export async function findScans(flags: ScanListFlags, global: GlobalFlags): Promise<ScanList> {
  const { status, since, limit, sort } = flags;
  const query = { ...(status && { status }), ...(since && { since }) };
  const order = orders[sort];
  const find = (fetch: Fetch) =>
    order === null ? fetch({ ...query, limit }) : sorted(fetch, query, limit, order);
  const client = await namedClient(flags, global);
  if (!client)
    return await withStore(global, async ({ store }) =>
      withInterrupted(store, await find((page) => listScans(store, page))),
    );
  return await find((page) => client.call('GET', `/api/v1/scans?${parameters(page)}`, scanListShape));
}

/** A scan of a command that was killed stays stored as running until a server takes over the workspace. */
async function withInterrupted(store: Store, list: ScanList): Promise<ScanList> {
  const scans = list.scans.map(async (scan) => {
    if (scan.status !== 'running') return scan;
    const executor = await store.scans.executor(scan.scan_id);
    if (!isDeadCommandLine(executor, store.executor)) return scan;
    return { ...scan, progress: { ...scan.progress, interrupted: true } };
  });
  return { ...list, scans: await Promise.all(scans) };
}

/** Maximum page size. */
const pageSize = 1000;

/** Reads all pages, with only the scans to show in memory. */
async function sorted(fetch: Fetch, query: ListQuery, limit: number, order: Compare): Promise<ScanList> {
  let kept: ListedScan[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await fetch({ ...query, limit: pageSize, ...(cursor && { cursor }) });
    kept = [...kept, ...page.scans].toSorted(order).slice(0, limit);
    if (page.next_cursor === null) return { ...page, scans: kept, limit, offset: 0 };
    cursor = page.next_cursor;
  }
}

function parameters(query: ListQuery): string {
  const given = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  return new URLSearchParams(given).toString();
}
