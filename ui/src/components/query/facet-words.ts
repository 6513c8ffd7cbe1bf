import { type FieldRecord, queryFieldOf } from '../../../../src/domain/query/query-fields.ts';
import type { FieldValue } from './query-edit.ts';

/** Words of a facet: its head, and what stands for rows that have no value. */
interface FacetWords {
  head: string;
  none: string;
}

const words: Readonly<Record<string, FacetWords>> = {
  severity: { head: 'Severity', none: 'no severity' },
  port: { head: 'Port', none: 'no port' },
  product: { head: 'Product', none: 'no product' },
  version: { head: 'Version', none: 'no version' },
  service: { head: 'Service', none: 'no service' },
  state: { head: 'State', none: 'no state' },
  os: { head: 'System', none: 'not known' },
  device: { head: 'Device', none: 'not known' },
  class: { head: 'How sure', none: 'no class' },
  kev: { head: 'Exploited', none: 'not known' },
  host: { head: 'Host', none: 'no host' },
  plugin: { head: 'Found by', none: 'not known' },
  protocol: { head: 'Protocol', none: 'no protocol' },
};

/** Head of a facet. */
export function facetHead(field: string): string {
  return words[field]?.head ?? field;
}

const units: Readonly<Record<FieldRecord, string>> = {
  host: 'hosts',
  port: 'services',
  vulnerability: 'findings',
  tuple: 'records',
};

/** What the counts of a facet are of: a product counts the services that run it, whatever the table lists. */
export function facetUnit(field: string): string {
  return field === 'host' ? units.port : units[queryFieldOf(field)?.record ?? 'tuple'];
}

/** A value in words. */
export function facetValueText(field: string, value: FieldValue): string {
  if (value === null || value === '') return words[field]?.none ?? 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}
