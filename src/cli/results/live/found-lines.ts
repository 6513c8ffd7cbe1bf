import { countsAs } from '../../../domain/finding-order.ts';
import type { PortRow, ResultRow, VulnerabilityRow } from '../../../domain/result.ts';
import { hostPortText } from '../../../workspace/render/port-lists.ts';
import { printable } from '../../terminal/draw/printable.ts';

/** `HIGH  127.0.7.10:8080  CVE-2021-41773  Encoded dots in a path` */
export function findingLine({ host, port, vulnerability }: VulnerabilityRow): string {
  const { id, title } = vulnerability;
  const place = port === null ? host : hostPortText({ host, port });
  return printable([countsAs(vulnerability).toUpperCase(), place, id, title].filter(Boolean).join('  '));
}

export function isSevere({ vulnerability }: VulnerabilityRow): boolean {
  const severity = countsAs(vulnerability);
  return severity === 'critical' || severity === 'high';
}

/** What a scan finds, one line each, for those who watch it in a pipe. */
export class FoundLines {
  /** What was said of each port and finding. */
  readonly #said = new Map<string, string>();

  /** @returns empty if it says nothing new */
  take(row: ResultRow): string {
    if (row.type === 'vulnerability')
      return this.#once(`${row.host} ${row.port} ${row.vulnerability.id}`, findingLine(row));
    if (row.type !== 'port') return '';
    return this.#once(`${row.host} ${row.port} ${row.protocol}`, portLine(row));
  }

  #once(key: string, line: string): string {
    if (this.#said.get(key) === line) return '';
    this.#said.set(key, line);
    return `${line}\n`;
  }
}

/** `127.0.7.10:22  open`, later `127.0.7.10:22  ssh, OpenSSH 9.2p1` */
function portLine({ host, port, protocol, state, service }: PortRow): string {
  const product = [service?.product, service?.version].filter(Boolean).join(' ');
  const what = service ? [service.name, product].filter(Boolean).join(', ') : (state ?? 'open');
  return printable(`${hostPortText({ host, port })}${protocol === 'udp' ? '/udp' : ''}  ${what}`);
}
