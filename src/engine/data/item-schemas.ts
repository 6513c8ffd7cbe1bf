import { deviceTypes } from '../../domain/asset.ts';
import { findingClasses, maxActionLength, severities } from '../../domain/finding.ts';
import { unidentifiedReasons } from '../../domain/text/banner.ts';
import type { StandardKey } from './data-keys.ts';

/** A JSON Schema. */
export type ItemSchema = Readonly<Record<string, unknown>>;

/** Schema of one item of a key. Fields that it does not name are dropped. */
interface ObjectSchema extends ItemSchema {
  required: readonly string[];
  properties: Readonly<Record<string, ItemSchema>>;
}

/** Longest names, versions and other single words; longest titles and reasons; longest texts, characters. */
const [word, line, page] = [256, 2048, 65_536];
/** Longest list in an item. */
const maxListed = 1000;

const text = (maxLength: number, more: ItemSchema = {}): ItemSchema => ({
  type: 'string',
  maxLength,
  ...more,
});
const optionalText = (maxLength: number): ItemSchema => ({ type: ['string', 'null'], maxLength });
const nullText = (maxLength: number): ItemSchema => ({ ...optionalText(maxLength), default: null });
const oneOf = (words: readonly string[], more: ItemSchema = {}): ItemSchema => ({ enum: words, ...more });
const listOf = (items: ItemSchema, more: ItemSchema = {}): ItemSchema => ({
  type: 'array',
  maxItems: maxListed,
  items,
  ...more,
});
const flag = (byDefault: boolean): ItemSchema => ({ type: 'boolean', default: byDefault });
const count: ItemSchema = { type: 'integer', minimum: 0, maximum: 0xffff_ffff };
const share: ItemSchema = { type: 'number', minimum: 0, maximum: 1 };
const weight: ItemSchema = { type: 'number', minimum: -1000, maximum: 1000 };

function object(properties: Record<string, ItemSchema>, required: readonly string[]): ObjectSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

const orNull = ({ type, ...schema }: ItemSchema): ItemSchema => ({ type: [type, 'null'], ...schema });

const host = text(word, { minLength: 1 });
const port: ItemSchema = { type: 'integer', minimum: 1, maximum: 65_535 };
const protocol = oneOf(['tcp', 'udp'], { default: 'tcp' });
const endpoint = { host, port, protocol };
/** Of an author who states none: more likely than not. */
const confidence: ItemSchema = { ...share, default: 0.5 };

const system = {
  family: text(word),
  distribution: nullText(word),
  version: nullText(word),
};
const claim = {
  match: text(word, { minLength: 1 }),
  product: nullText(word),
  vendor: nullText(word),
  version: nullText(word),
  cpe: nullText(line),
  confidence,
  source: text(word),
  evidence: text(page, { default: '' }),
  rule: text(word),
  revision: text(word),
  os: object(system, ['family']),
  hardware: object({ type: nullText(word), vendor: nullText(word), product: nullText(word) }, []),
};
const tls = object(
  {
    version: text(word),
    cipher: text(word),
    alpn: nullText(word),
    chain: listOf(text(page), { default: [] }),
    client_certificate: oneOf(['requested', 'required']),
    error: text(line),
  },
  ['version', 'cipher'],
);
const evidenceOf = (subject: Record<string, ItemSchema>, required: string): ItemSchema =>
  listOf(
    object(
      { ...subject, weight, source: text(word), evidence: text(line), rule: text(word, { default: '' }) },
      [required, 'weight', 'source', 'evidence'],
    ),
  );

/** What a plugin may publish under each standard key, with the values of what its author leaves out. */
export const itemSchemas: Record<StandardKey, ObjectSchema> = {
  targets: object({ value: text(line), kind: oneOf(['ip', 'cidr', 'range', 'hostname']), ip: text(word) }, [
    'value',
    'kind',
  ]),
  discovered_hosts: object(
    {
      ip: host,
      hostname: text(word),
      latency_ms: { type: ['number', 'null'], minimum: 0, default: null },
      mac: text(word),
      vendor: text(word),
      method: text(word),
    },
    ['ip', 'method'],
  ),
  open_ports: object(
    {
      ...endpoint,
      state: oneOf(['open', 'open|filtered'], { default: 'open' }),
      reason: text(word, { default: 'plugin' }),
    },
    ['host', 'port'],
  ),
  port_counts: object(
    {
      host,
      protocol,
      open: count,
      closed: count,
      filtered: count,
      not_tried: { ...count, default: 0 },
      all_ports_open: flag(false),
    },
    ['host', 'open', 'closed', 'filtered'],
  ),
  banners: object(
    {
      ...endpoint,
      banner: { type: 'string' },
      banner_b64: { type: 'string' },
      probe: text(word),
      truncated: flag(false),
      partial: flag(false),
      tls,
      tls_error: text(line),
      exchange: listOf(
        object({ sent_b64: { type: 'string' }, received_b64: { type: 'string' } }, [
          'sent_b64',
          'received_b64',
        ]),
      ),
      unidentified_reason: oneOf(unidentifiedReasons),
    },
    ['host', 'port', 'banner', 'probe'],
  ),
  parsed_services: object(
    {
      ...endpoint,
      service: text(word, { minLength: 1 }),
      parser: text(word),
      attributes: { type: 'object', default: {} },
      truncated: flag(false),
    },
    ['host', 'port', 'service', 'parser'],
  ),
  service_fingerprints: object(
    {
      ...endpoint,
      ...claim,
      alternatives: listOf(object(claim, ['match', 'source']), { default: [] }),
    },
    ['host', 'port', 'match', 'source'],
  ),
  asset_profiles: object(
    {
      host,
      hostnames: listOf(text(word)),
      mac: text(word),
      applications: listOf(
        object({ name: text(word), version: nullText(word), role: text(word, { default: '' }) }, ['name']),
      ),
      functions: listOf(text(word)),
      open_ports: count,
      all_ports_open: { type: 'boolean' },
      identity: listOf(
        object({ kind: oneOf(['mac', 'ssh_host_key', 'tls_key', 'name']), value: text(line) }, [
          'kind',
          'value',
        ]),
      ),
      os: orNull(object({ ...system, confidence }, ['family'])),
      os_evidence: evidenceOf(system, 'family'),
      device_type: oneOf(deviceTypes),
      device_evidence: evidenceOf({ device_type: oneOf(deviceTypes) }, 'device_type'),
    },
    ['host'],
  ),
  vulnerabilities: object(
    {
      host,
      port: { ...orNull(port), default: null },
      protocol: { enum: ['tcp', 'udp', null], default: null },
      id: text(word, { minLength: 1 }),
      title: text(line),
      severity: oneOf(severities),
      cvss: {
        ...orNull(
          object(
            {
              version: text(word, { default: '3.1' }),
              score: { type: 'number', minimum: 0, maximum: 10 },
              vector: text(line, { default: '' }),
            },
            ['score'],
          ),
        ),
        default: null,
      },
      kev: flag(false),
      epss: {
        ...orNull(object({ score: share, percentile: share }, ['score', 'percentile'])),
        default: null,
      },
      cpe: nullText(line),
      affected: nullText(line),
      detected: nullText(line),
      confidence,
      backport_note: nullText(line),
      affected_from: optionalText(word),
      fixed_in: optionalText(word),
      action: object(
        {
          key: text(maxActionLength, { minLength: 1 }),
          text: text(maxActionLength, { minLength: 1 }),
          update: flag(false),
        },
        ['text'],
      ),
      class: oneOf(findingClasses),
      evidence: text(page, { default: '' }),
      remediation: text(page, { default: '' }),
      references: listOf(text(line), { default: [] }),
      plugin: text(word),
    },
    ['host', 'id', 'title', 'severity'],
  ),
  compliance_violations: object(
    {
      host,
      port: { ...orNull(port), default: null },
      framework: text(word, { minLength: 1 }),
      control: text(word, { minLength: 1 }),
      title: text(line, { default: '' }),
      description: text(page, { default: '' }),
      severity: oneOf(severities, { default: 'medium' }),
      finding_ids: listOf(text(word), { default: [] }),
    },
    ['host', 'framework', 'control'],
  ),
  compliance_controls: object(
    {
      host: { ...orNull(host), default: null },
      framework: text(word, { minLength: 1 }),
      control: text(word, { minLength: 1 }),
      title: text(line, { default: '' }),
      status: oneOf(['pass', 'not_assessed']),
      reason: text(page, { default: '' }),
    },
    ['framework', 'control', 'status'],
  ),
};
