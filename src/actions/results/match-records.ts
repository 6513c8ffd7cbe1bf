import { indexedRemainder, indexedRow, recordTuples } from '../../domain/query/index-rows.ts';
import { matchQuery } from '../../domain/query/match-query.ts';
import type { Query } from '../../domain/query/query.ts';
import type { HostRow, PortRow, ResultRow, VulnerabilityRow } from '../../domain/result.ts';

export interface RecordCounts {
  hosts: number;
  ports: number;
  findings: number;
}

/** How many hosts, ports and findings match a query, of how many. */
export interface QueryMatches {
  matches: RecordCounts;
  totals: RecordCounts;
}

/**
 * The rows that match a query, in order: hosts with a tuple of host, port and finding that satisfies the whole query, and
 * of their ports and findings those in such a tuple; other rows that satisfy it themselves. No summary.
 * @param rows in the order of the record
 * @param counted is added to as rows are read
 */
export async function* matchingRows(
  rows: AsyncIterable<ResultRow>,
  query: Query | null,
  counted: QueryMatches,
): AsyncGenerator<ResultRow> {
  let block: HostRecords | null = null;
  for await (const row of rows) {
    switch (row.type) {
      case 'summary':
        break;
      case 'host':
      case 'port':
      case 'vulnerability':
        if (block !== null && (row.type === 'host' || block.address !== row.host)) {
          yield* block.matching(query, counted);
          block = null;
        }
        block ??= new HostRecords(row.host);
        block.add(row);
        break;
      default:
        if (matchQuery(query, indexedRemainder(row))) yield row;
    }
  }
  if (block !== null) yield* block.matching(query, counted);
}

export function noMatches(): QueryMatches {
  return { matches: { hosts: 0, ports: 0, findings: 0 }, totals: { hosts: 0, ports: 0, findings: 0 } };
}

/** The rows of one host, in order. */
class HostRecords {
  readonly address: string;
  #host: HostRow | null = null;
  readonly #members: (PortRow | VulnerabilityRow)[] = [];

  constructor(address: string) {
    this.address = address;
  }

  add(row: HostRow | PortRow | VulnerabilityRow): void {
    if (row.type === 'host') this.#host = row;
    else this.#members.push(row);
  }

  matching(query: Query | null, { matches, totals }: QueryMatches): ResultRow[] {
    const ports = this.#members.filter((row) => row.type === 'port');
    const findings = this.#members.filter((row) => row.type === 'vulnerability');
    totals.hosts += 1;
    totals.ports += ports.length;
    totals.findings += findings.length;
    const found = new Set<ResultRow>();
    let hasMatch = false;
    for (const { host, port, finding } of recordTuples(this.#host, ports, findings)) {
      if (!matchQuery(query, indexedRow(host, port, finding))) continue;
      hasMatch = true;
      if (port) found.add(port);
      if (finding) found.add(finding);
    }
    if (!hasMatch) return [];
    matches.hosts += 1;
    matches.ports += ports.filter((row) => found.has(row)).length;
    matches.findings += findings.filter((row) => found.has(row)).length;
    return [...(this.#host ? [this.#host] : []), ...this.#members.filter((row) => found.has(row))];
  }
}
