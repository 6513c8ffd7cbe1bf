import type { HostRow, PortRow, SeverityCounts, VulnerabilityRow } from './result-rows.ts';

/** A host with what the index counted: of the whole host, and of what matches the query. */
export interface HostRecord extends HostRow {
  totals?: {
    open_ports: number;
    services: { port: number; protocol: string; service?: string | null }[];
    severity_counts: SeverityCounts;
  };
  matching?: { ports: number; findings: number };
}

export interface PortRecord extends PortRow {
  totals?: { severity_counts: SeverityCounts };
}

export interface FindingRecord extends VulnerabilityRow {
  /** Of equal findings of the host, in a joined list. */
  ports?: { port: number; protocol: string }[];
}
