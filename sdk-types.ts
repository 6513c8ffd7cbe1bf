/** Writes the types of items into sdk/types/portolan.d.ts; part of `npm run docs`. */
import type { StandardKey } from './src/engine/data/data-keys.ts';
import { type ItemSchema, itemSchemas } from './src/engine/data/item-schemas.ts';

const marks = {
  from: '// Items of the standard keys: begin\n',
  to: '// Items of the standard keys: end\n',
};

const names: Record<StandardKey, string> = {
  targets: 'Target',
  discovered_hosts: 'DiscoveredHost',
  open_ports: 'OpenPort',
  port_counts: 'PortCounts',
  banners: 'Banner',
  parsed_services: 'ParsedService',
  service_fingerprints: 'ServiceFingerprint',
  asset_profiles: 'AssetProfile',
  vulnerabilities: 'Vulnerability',
  compliance_violations: 'ComplianceViolation',
  compliance_controls: 'ComplianceControl',
};

/** The file with the types of the items that plugins may publish. @throws Error if it has no marks for them */
export function withItemTypes(file: string): string {
  const [before = '', rest] = file.split(marks.from);
  const after = rest?.split(marks.to)[1];
  if (after === undefined) throw new Error('sdk/types/portolan.d.ts has no marks for the items');
  const types = Object.entries(names).map(
    ([key, name]) =>
      `/** Of the key \`${key}\`. */\nexport interface ${name} ${typeOf(itemSchemas[key as StandardKey], '')}\n`,
  );
  return `${before}${marks.from}${types.join('\n')}${marks.to}${after}`;
}

function typeOf(schema: ItemSchema, indent: string): string {
  const { enum: values, type = 'unknown' } = schema as {
    enum?: readonly unknown[];
    type?: string | string[];
  };
  if (values) return values.map((value) => quoted(value)).join(' | ');
  return [type]
    .flat()
    .map((each) => simpleType(each, schema, indent))
    .join(' | ');
}

function simpleType(type: string, schema: ItemSchema, indent: string): string {
  if (type === 'integer') return 'number';
  if (type === 'array') return listType(typeOf((schema['items'] ?? {}) as ItemSchema, indent));
  return type === 'object' ? objectType(schema, indent) : type;
}

function listType(item: string): string {
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
}

function objectType(schema: ItemSchema, indent: string): string {
  const { properties, required = [] } = schema as {
    properties?: Record<string, ItemSchema>;
    required?: readonly string[];
  };
  if (!properties) return 'Record<string, unknown>';
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(
    ([name, member]) =>
      `${inner}${name}${required.includes(name) ? '' : '?'}: ${typeOf(member, inner)}${required.includes(name) ? '' : ' | undefined'};\n`,
  );
  return `{\n${members.join('')}${indent}}`;
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
