import { findingClasses, severities } from '../finding.ts';

/**
 * What the values of a field are. `address` also takes names; `severity` and `class` are words with an order; `choice` is
 * one of a few words; `state` is text with well-known values.
 */
export type FieldKind =
  | 'address'
  | 'boolean'
  | 'choice'
  | 'class'
  | 'number'
  | 'port'
  | 'severity'
  | 'state'
  | 'text'
  | 'time'
  | 'version';

/** How plain text after `field:` matches: the whole value, whole words in it, or any part of it. Never by case. */
export type TextMatch = 'whole' | 'words' | 'part';

/** The record that holds a field; `tuple`: each of them does. */
export type FieldRecord = 'host' | 'port' | 'vulnerability' | 'tuple';

export interface QueryField {
  name: FieldName;
  kind: FieldKind;
  record: FieldRecord;
  /** Of texts, and of the name part of an address. */
  match: TextMatch;
  /** It may have several values; a condition holds if one of them matches. */
  list: boolean;
  aliases: readonly string[];
  /** All values of a closed field, the well-known ones of `state`; highest first where they have an order. */
  values: readonly string[];
  help: string;
}

export const queryFieldNames = [
  'host',
  'name',
  'port',
  'protocol',
  'state',
  'reason',
  'service',
  'product',
  'vendor',
  'version',
  'cpe',
  'banner',
  'title',
  'os',
  'device',
  'mac',
  'tls',
  'certificate',
  'id',
  'finding',
  'severity',
  'class',
  'cvss',
  'epss',
  'kev',
  'action',
  'plugin',
  'detected',
  'seen',
  'type',
] as const;
export type FieldName = (typeof queryFieldNames)[number];

type Entry = Pick<QueryField, 'kind' | 'record' | 'help'> & Partial<QueryField>;

const entries: Record<FieldName, Entry> = {
  host: {
    kind: 'address',
    record: 'host',
    aliases: ['ip', 'address'],
    help: 'Address, CIDR block or range of addresses (`10.0.0.5-20`), or a name of the host',
  },
  name: { kind: 'text', record: 'host', list: true, aliases: ['hostname'], help: 'A name of the host' },
  port: { kind: 'port', record: 'port', help: 'Port number' },
  protocol: {
    kind: 'choice',
    record: 'port',
    aliases: ['proto'],
    values: ['tcp', 'udp'],
    help: 'Transport protocol',
  },
  state: {
    kind: 'state',
    record: 'port',
    values: ['open', 'open|filtered', 'filtered', 'closed'],
    help: 'State of the port',
  },
  reason: { kind: 'text', record: 'port', help: 'Observation behind the state: `syn-ack`, `udp-response`' },
  service: { kind: 'text', record: 'port', help: 'Service name: `ssh`, `https`' },
  product: { kind: 'text', record: 'port', match: 'words', help: 'Product behind the service' },
  vendor: { kind: 'text', record: 'port', match: 'words', help: 'Vendor of the product' },
  version: { kind: 'version', record: 'port', help: 'Version of the product; compared as versions' },
  cpe: { kind: 'text', record: 'port', match: 'part', help: 'CPE name of the product' },
  banner: {
    kind: 'text',
    record: 'port',
    match: 'part',
    help: 'What the service sent, its first 4,096 characters',
  },
  title: { kind: 'text', record: 'port', match: 'part', help: 'Title of the web page' },
  os: {
    kind: 'text',
    record: 'host',
    match: 'words',
    aliases: ['system'],
    help: 'Operating system, distribution and version',
  },
  device: { kind: 'text', record: 'host', help: 'Device class: `server`, `printer`, `router`' },
  mac: {
    kind: 'text',
    record: 'host',
    match: 'words',
    list: true,
    help: 'Hardware address, or the vendor of the network interface',
  },
  tls: {
    kind: 'text',
    record: 'port',
    list: true,
    help: 'TLS version (`TLSv1.0`), cipher suite or application protocol (ALPN)',
  },
  certificate: {
    kind: 'text',
    record: 'port',
    match: 'part',
    list: true,
    aliases: ['cert'],
    help: 'Subject, issuer or a name of the certificate',
  },
  id: { kind: 'text', record: 'vulnerability', aliases: ['cve'], help: 'ID of the finding: `CVE-2024-6387`' },
  finding: { kind: 'text', record: 'vulnerability', match: 'part', help: 'Title of the finding' },
  severity: {
    kind: 'severity',
    record: 'vulnerability',
    values: severities,
    help: 'Severity of the finding',
  },
  class: {
    kind: 'class',
    record: 'vulnerability',
    values: findingClasses,
    help: 'How certain the finding is',
  },
  cvss: { kind: 'number', record: 'vulnerability', help: 'CVSS score, 0 to 10' },
  epss: { kind: 'number', record: 'vulnerability', help: 'EPSS score, 0 to 1' },
  kev: {
    kind: 'boolean',
    record: 'vulnerability',
    aliases: ['exploited'],
    values: ['true', 'false'],
    help: 'Whether the vulnerability is known to be exploited',
  },
  action: {
    kind: 'text',
    record: 'vulnerability',
    match: 'part',
    list: true,
    help: 'What removes the finding: text or key of the action',
  },
  plugin: {
    kind: 'text',
    record: 'vulnerability',
    list: true,
    help: 'Module or plugin that reported the finding',
  },
  detected: {
    kind: 'text',
    record: 'vulnerability',
    match: 'words',
    help: 'What was detected: a version, a list of algorithms',
  },
  seen: {
    kind: 'time',
    record: 'tuple',
    help: 'Time of the record: `2026-11-23`, `2026-11-23T14:30`, UTC',
  },
  type: {
    kind: 'choice',
    record: 'tuple',
    list: true,
    values: ['host', 'port', 'vulnerability', 'compliance', 'extra', 'error'],
    help: 'Type of a record; `finding` is the same as `vulnerability`',
  },
};

/** The closed table of all fields, in the order of the documentation. */
export const queryFields: Readonly<Record<FieldName, QueryField>> = Object.fromEntries(
  queryFieldNames.map((name) => [
    name,
    { name, match: 'whole', list: false, aliases: [], values: [], ...entries[name] },
  ]),
) as unknown as Record<FieldName, QueryField>;

const byWord: ReadonlyMap<string, QueryField> = new Map(
  queryFieldNames.flatMap((name) =>
    [name, ...queryFields[name].aliases].map((word) => [word, queryFields[name]] as const),
  ),
);

/** Every word that names a field. */
export const queryFieldWords: readonly string[] = [...byWord.keys()];

/** The field of a name or alias in any case, or null. */
export function queryFieldOf(word: string): QueryField | null {
  return byWord.get(word.toLowerCase()) ?? null;
}

export const conditionOperators = [':', '=', '>', '>=', '<', '<='] as const;
/** `:` is written alone, all others behind a colon: `cvss:>=7`. `=`: the whole value, for texts. */
export type ConditionOperator = (typeof conditionOperators)[number];

const ordered: ReadonlySet<FieldKind> = new Set([
  'address',
  'class',
  'number',
  'port',
  'severity',
  'time',
  'version',
]);

/** Whether the values of a field have an order, so that `<` and `>` make sense. */
export function isOrdered({ kind }: Pick<QueryField, 'kind'>): boolean {
  return ordered.has(kind);
}
