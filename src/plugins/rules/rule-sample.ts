import { PortolanError } from '../../domain/errors.ts';
import type { Endpoint } from '../../domain/host.ts';
import type { Fingerprint } from '../../domain/service.ts';
import { describeBytes } from '../../domain/text/banner.ts';
import {
  attributeFacts,
  factsOfClaim,
  factsOfProfile,
  factsOfResponse,
} from '../../knowledge/evaluation-rules/observed-facts.ts';
import type { ObservedFact } from '../../knowledge/evaluation-rules/predicate.ts';
import type { ProductClaim } from '../../knowledge/evaluation-rules/rule-finding.ts';

/** A port of a result, as rules see it. */
export interface SamplePort {
  endpoint: Endpoint;
  facts: ObservedFact[];
  hostFacts: ObservedFact[];
  claim: ProductClaim | null;
}

type Fields = Record<string, unknown>;

/**
 * The ports of a result: one port as in results, a host with its ports, a whole result, or lines of `results.jsonl`.
 * @throws PortolanError `usage` if it is none of these
 */
export function readSample(text: string): SamplePort[] {
  const ports = sampleRows(text).flatMap(({ port, host }) => samplePort(port, host) ?? []);
  if (ports.length === 0)
    throw new PortolanError(
      'usage',
      'the sample has no port: it needs a port as in results, a result, or lines of results.jsonl',
    );
  return ports;
}

/** A port of a result and its host, unchecked. */
export interface PortInHost {
  port: Fields;
  host: Fields;
}

/** The ports of a result in any of its forms. */
export function sampleRows(text: string): PortInHost[] {
  const whole = jsonOf(text);
  if (isFields(whole)) return portsOf(whole);
  if (Array.isArray(whole)) return whole.filter(isFields).flatMap(portsOf);
  const lines = text.split('\n').map(jsonOf).filter(isFields);
  const hosts = new Map<unknown, Fields>();
  for (const line of lines) {
    if (line['type'] === 'host') hosts.set(line['host'], { ...hosts.get(line['host']), ...line });
  }
  const ports = lines.filter((line) => line['type'] === 'port');
  return ports.map((port) => ({ port, host: { ...hosts.get(port['host']), host: port['host'] } }));
}

function portsOf(value: Fields): PortInHost[] {
  const { data, results, ports } = value;
  if (isFields(data)) return portsOf(data);
  if (Array.isArray(results)) return results.filter(isFields).flatMap(portsOf);
  if (Array.isArray(ports)) return ports.filter(isFields).map((port) => ({ port, host: value }));
  return [{ port: value, host: value }];
}

function samplePort(port: Fields, host: Fields): SamplePort | null {
  const number = port['port'];
  if (typeof number !== 'number' || !Number.isInteger(number)) return null;
  const endpoint = {
    host: textOf(port['host']) ?? textOf(host['host']) ?? '192.0.2.1',
    port: number,
    protocol: port['protocol'] === 'udp' ? ('udp' as const) : ('tcp' as const),
  };
  const claim = claimOf(port, endpoint);
  const attributes = { ...fieldsOf(port['attributes']), ...(isFields(port['tls']) && { tls: port['tls'] }) };
  return {
    endpoint,
    facts: [
      ...responseFacts(port, endpoint),
      ...attributeFacts({ attributes }, Date.now()),
      ...(claim ? factsOfClaim(claim) : []),
    ],
    hostFacts: profileFacts(host),
    claim,
  };
}

function responseFacts(port: Fields, endpoint: Endpoint): ObservedFact[] {
  const text = textOf(port['banner']);
  if (text === null) return [];
  const encoded = textOf(port['banner_b64']);
  const response = encoded === null ? { banner: text } : describeBytes(Buffer.from(encoded, 'base64'));
  return factsOfResponse({ ...endpoint, ...response, probe: 'null', truncated: false, partial: false }, true);
}

function claimOf({ service, fingerprints }: Fields, endpoint: Endpoint): Fingerprint | null {
  if (!isFields(service)) return null;
  const [first] = Array.isArray(fingerprints) ? (fingerprints as unknown[]) : [];
  const revision = textOf(fieldsOf(first)['revision']);
  const { confidence } = service;
  return {
    ...endpoint,
    match: textOf(service['name']) ?? '',
    product: textOf(service['product']),
    vendor: textOf(service['vendor']),
    version: textOf(service['version']),
    cpe: textOf(service['cpe']),
    confidence: typeof confidence === 'number' ? confidence : 0.5,
    source: 'sample',
    evidence: '',
    alternatives: [],
    ...(revision !== null && { revision }),
  };
}

function profileFacts({ host, os, device_type }: Fields): ObservedFact[] {
  const { family, distribution, version } = fieldsOf(os);
  const system = textOf(family) && {
    family: textOf(family) as string,
    distribution: textOf(distribution),
    version: textOf(version),
    confidence: 1,
  };
  // Any text is a class of device for a comparison.
  const device = textOf(device_type) as 'unknown' | null;
  return factsOfProfile({ host: String(host), os: system || null, ...(device && { device_type: device }) });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
