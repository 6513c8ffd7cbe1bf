import { isIP } from 'node:net';
import { isOpen, type PortRow, type ResultRow } from '../../domain/result.ts';

/**
 * Open ports as `host:port`, one per line, IPv6 in brackets; a port that is open over TCP and UDP stands there once.
 * `rows` are in the order of `RecordView.rows`.
 */
export async function* renderHostPorts(rows: AsyncIterable<ResultRow>): AsyncGenerator<string> {
  let before = '';
  for await (const row of rows) {
    if (!isOpenPort(row)) continue;
    const line = hostPortLine(row);
    if (line !== before) yield line;
    before = line;
  }
}

/** Open ports in the list format of masscan. */
export async function* renderPortList(rows: AsyncIterable<ResultRow>): AsyncGenerator<string> {
  yield listHead;
  for await (const row of rows) if (isOpenPort(row)) yield listLine(row);
  yield listEnd;
}

/** Whether a row is of a port that responded. */
export function isOpenPort(row: ResultRow): row is PortRow {
  return row.type === 'port' && isOpen(row);
}

export function hostPortLine(row: Pick<PortRow, 'host' | 'port'>): string {
  return `${hostPortText(row)}\n`;
}

/** `192.0.2.10:443`, `[2001:db8::1]:443` */
export function hostPortText({ host, port }: Pick<PortRow, 'host' | 'port'>): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

export const listHead = '#masscan\n';
export const listEnd = '# end\n';

/** `open tcp 443 192.0.2.10 1770000000`, the time in seconds since 1970. */
export function listLine({ host, port, protocol, timestamp }: PortRow): string {
  return `open ${protocol} ${port} ${host} ${Math.floor((Date.parse(timestamp) || 0) / 1000)}\n`;
}
