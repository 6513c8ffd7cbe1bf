/**
 * The standard DataContext keys. `identity` lists the fields that identify a record; `work` marks keys whose records
 * cause packets, so that a record from two producers is delivered once.
 */
export const dataKeys = {
  targets: { identity: ['value', 'ip'], work: false, required: ['value', 'kind'] },
  discovered_hosts: { identity: ['ip'], work: true, required: ['ip', 'method'] },
  open_ports: { identity: ['host', 'port', 'protocol'], work: true, required: ['host', 'port', 'protocol'] },
  port_counts: { identity: ['host', 'protocol'], work: false, required: ['host', 'protocol'] },
  banners: {
    identity: ['host', 'port', 'protocol', 'probe'],
    work: false,
    required: ['host', 'port', 'banner'],
  },
  parsed_services: {
    identity: ['host', 'port', 'protocol', 'parser'],
    work: false,
    required: ['host', 'port', 'service'],
  },
  service_fingerprints: {
    identity: ['host', 'port', 'protocol'],
    work: false,
    required: ['host', 'port', 'confidence'],
  },
  asset_profiles: { identity: ['host'], work: false, required: ['host'] },
  vulnerabilities: { identity: ['id', 'host', 'port'], work: false, required: ['id', 'host'] },
  compliance_violations: {
    identity: ['host', 'port', 'framework', 'control'],
    work: false,
    required: ['host', 'framework', 'control'],
  },
  compliance_controls: {
    identity: ['host', 'framework', 'control'],
    work: false,
    required: ['framework', 'control', 'status'],
  },
} as const satisfies Record<
  string,
  { identity: readonly string[]; work: boolean; required: readonly string[] }
>;

export type StandardKey = keyof typeof dataKeys;

export function isStandardKey(key: string): key is StandardKey {
  return Object.hasOwn(dataKeys, key);
}

/** Identity of a record as text, equal for two records that describe the same thing; null for keys without identity. */
export function itemIdentity(key: string, record: unknown): string | null {
  if (!isStandardKey(key) || typeof record !== 'object' || record === null) return null;
  const fields = record as Record<string, unknown>;
  return dataKeys[key].identity.map((name) => String(fields[name] ?? '')).join('\u0000');
}

/**
 * Merges records of one identity, field by field: non-null values win; if both have one, the record of higher
 * confidence wins, or the later one if equal.
 */
export function mergeRecords<T>(earlier: T, later: T): T {
  const weaker = confidenceOf(later) >= confidenceOf(earlier) ? earlier : later;
  const stronger = weaker === earlier ? later : earlier;
  const merged: Record<string, unknown> = { ...(weaker as Record<string, unknown>) };
  for (const [field, value] of Object.entries(stronger as Record<string, unknown>)) {
    if (value !== null && value !== undefined) merged[field] = value;
  }
  return merged as T;
}

function confidenceOf(record: unknown): number {
  const value = (record as { confidence?: unknown } | null)?.confidence;
  return typeof value === 'number' ? value : 0;
}
