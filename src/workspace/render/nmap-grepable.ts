import { type HostRow, isOpen, type PortRow, type ResultRow, type SummaryRow } from '../../domain/result.ts';
import { visibleText } from '../../domain/text/visible.ts';
import { serviceNameOf } from '../../knowledge/ports.ts';
import { generator } from './generator.ts';
import { inPieces } from './pieces.ts';

interface OpenHost {
  address: string;
  row: HostRow | null;
  ports: string[];
  /** Of these, ports that did not respond: their host counts them as filtered. */
  silent: number;
}

/**
 * The grepable lines of nmap: per host one with its status and one with its open ports, fields separated by tabs. `rows`
 * are in the order of `RecordView.rows`; one host at a time is in memory.
 * @param summary null = it is the last row
 */
export async function* renderNmapGrepable(
  rows: AsyncIterable<ResultRow>,
  summary: SummaryRow | null,
): AsyncGenerator<string> {
  yield* inPieces(document(rows, summary));
}

async function* document(rows: AsyncIterable<ResultRow>, summary: SummaryRow | null): AsyncGenerator<string> {
  yield `# ${generator.name} ${generator.version}, grepable lines of nmap\n`;
  let last = summary;
  const open: OpenHost[] = [];
  for await (const row of rows) {
    if (row.type === 'summary') last = row;
    if (row.type !== 'host' && row.type !== 'port') continue;
    if (row.type === 'host' || open[0]?.address !== row.host) {
      const host = { address: row.host, row: row.type === 'host' ? row : null, ports: [], silent: 0 };
      for (const before of open.splice(0, 1, host)) yield hostLines(before);
    }
    const [host] = open;
    if (row.type !== 'port' || !host) continue;
    host.ports.push(portField(row));
    if (!isOpen(row)) host.silent += 1;
  }
  for (const host of open) yield hostLines(host);
  if (last) yield closing(last);
}

function hostLines({ address, row, ports, silent }: OpenHost): string {
  const host = `Host: ${field(address)} (${field(row?.hostnames?.[0] ?? '')})`;
  const ignored = ignoredState(row, silent);
  const system = row?.os
    ? [row.os.family, row.os.distribution, row.os.version].filter(Boolean).join(' ')
    : '';
  const facts = [
    ...(ports.length > 0 ? [`Ports: ${ports.join(', ')}`] : []),
    ...(ignored === null ? [] : [`Ignored State: ${ignored}`]),
    ...(system === '' ? [] : [`OS: ${field(system)}`]),
  ];
  const status = `${host}\tStatus: Up\n`;
  return facts.length === 0 ? status : `${status}${[host, ...facts].join('\t')}\n`;
}

/** The state of most ports that are not listed, and their number. */
function ignoredState(row: HostRow | null, silent: number): string | null {
  const { closed = 0, filtered: all = 0 } = row?.port_counts ?? {};
  const filtered = Math.max(0, all - silent);
  if (closed + filtered === 0) return null;
  return closed >= filtered ? `closed (${closed})` : `filtered (${filtered})`;
}

/** port/state/protocol/owner/service/RPC/version/ */
function portField({ port, state, protocol, service, tls }: PortRow): string {
  const name = service?.name ?? serviceNameOf(port, protocol) ?? '';
  const tunnel = tls && name !== '' && !/^https$|^ssl/.test(name) ? `ssl|${name}` : name;
  const version = [service?.product, service?.version].filter(Boolean).join(' ');
  return [port, state, protocol, '', tunnel, '', version, '']
    .map((part) => (part === '' ? '' : field(String(part))))
    .join('/');
}

function closing({ timestamp, addresses_scanned, live_hosts, duration_seconds }: SummaryRow): string {
  const total = Math.max(addresses_scanned, live_hosts);
  const counted = `${total} IP address${total === 1 ? '' : 'es'} (${live_hosts} host${live_hosts === 1 ? '' : 's'} up)`;
  return `# ${generator.name} done at ${timestamp}: ${counted} scanned in ${duration_seconds.toFixed(2)} seconds\n`;
}

/** Text that separates nothing: `/` and `,` as in nmap, control characters visible. */
function field(text: string): string {
  return visibleText(text).replaceAll('/', '|').replaceAll(', ', ' ');
}
