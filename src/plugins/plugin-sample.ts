import { PortolanError } from '../domain/errors.ts';
import { describeBytes } from '../domain/text/banner.ts';
import { sampleRows } from './rules/rule-sample.ts';

/** Items by key, as upstream nodes would publish them. */
export type ItemsByKey = ReadonlyMap<string, readonly unknown[]>;

/**
 * The items of a sample: `{key: [items]}`, or what a result of a scan shows of hosts, open ports and banners.
 * @throws PortolanError `usage` if it is neither
 */
export function readItems(text: string): ItemsByKey {
  const byKey = itemsOfObject(text) ?? itemsOfResult(text);
  if (byKey.size > 0) return byKey;
  throw new PortolanError(
    'usage',
    'the sample is neither {"key": [items]} nor a result of a scan with ports',
  );
}

/** @returns null unless it is an object of lists, and no result */
function itemsOfObject(text: string): ItemsByKey | null {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return null;
  const entries = Object.entries(read);
  const known = entries.some(([key]) => ['results', 'ports', 'data'].includes(key));
  return known || !entries.every(([, items]) => Array.isArray(items))
    ? null
    : new Map(entries as [string, unknown[]][]);
}

function itemsOfResult(text: string): ItemsByKey {
  const hosts = new Map<string, object>();
  const ports: object[] = [];
  const banners: object[] = [];
  for (const { port: fields, host: hostFields } of sampleRows(text)) {
    const host = fields['host'] ?? hostFields['host'];
    const { port, protocol = 'tcp', banner, banner_b64: encoded } = fields;
    if (typeof host !== 'string' || !Number.isInteger(port)) continue;
    hosts.set(host, { ip: host, method: 'sample' });
    ports.push({ host, port, protocol });
    if (typeof banner !== 'string') continue;
    const bytes = typeof encoded === 'string' ? Buffer.from(encoded, 'base64') : Buffer.from(banner);
    const response = { ...describeBytes(bytes), probe: 'null', truncated: false, partial: false };
    banners.push({ host, port, protocol, ...response });
  }
  const byKey = { discovered_hosts: [...hosts.values()], open_ports: ports, banners };
  return new Map(Object.entries(byKey).filter(([, items]) => items.length > 0));
}
