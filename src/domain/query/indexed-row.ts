import type { FindingClass, Severity } from '../finding.ts';
import type { KeyedVersionScheme } from '../version-order.ts';
import type { FieldName } from './query-fields.ts';

export type RecordType = 'host' | 'port' | 'vulnerability' | 'compliance' | 'extra' | 'error';

/**
 * One tuple of host, port and finding, flat: a value for each field of a query. Null or an empty list = absent. A
 * port without findings is a tuple, as is a finding without a port, and a host with neither. Compliance, extra and error
 * rows are tuples of their own.
 */
export interface IndexedRow extends Record<FieldName, IndexedValue> {
  /** Address as text, canonical. */
  host: string | null;
  name: readonly string[];
  os: string | null;
  device: string | null;
  /** Hardware address, vendor of the interface. */
  mac: readonly string[];

  /** Of the port; of the finding if no port is recorded. */
  port: number | null;
  protocol: string | null;
  state: string | null;
  reason: string | null;
  service: string | null;
  product: string | null;
  vendor: string | null;
  version: string | null;
  cpe: string | null;
  banner: string | null;
  title: string | null;
  tls: readonly string[];
  certificate: readonly string[];

  id: string | null;
  finding: string | null;
  severity: Severity | null;
  class: FindingClass | null;
  cvss: number | null;
  epss: number | null;
  kev: boolean | null;
  /** Text and key. */
  action: readonly string[];
  plugin: readonly string[];
  detected: string | null;

  /** ISO 8601 UTC with milliseconds: of the finding, else of the port, else of the host. */
  seen: string | null;
  /** The records of the tuple. */
  type: readonly RecordType[];

  /** How `version` compares; not a field of queries. */
  version_scheme: KeyedVersionScheme;
}

export type IndexedValue = string | number | boolean | null | readonly string[];

/** A tuple of nothing. */
export const emptyRow: IndexedRow = {
  host: null,
  name: [],
  os: null,
  device: null,
  mac: [],
  port: null,
  protocol: null,
  state: null,
  reason: null,
  service: null,
  product: null,
  vendor: null,
  version: null,
  cpe: null,
  banner: null,
  title: null,
  tls: [],
  certificate: [],
  id: null,
  finding: null,
  severity: null,
  class: null,
  cvss: null,
  epss: null,
  kev: null,
  action: [],
  plugin: [],
  detected: null,
  seen: null,
  type: [],
  version_scheme: 'dotted',
};
