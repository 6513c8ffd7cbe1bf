import type { ProfilePart } from '../../domain/asset.ts';
import type { Endpoint } from '../../domain/host.ts';
import type { Fingerprint, ParsedService } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { schemeOf } from '../../domain/version-order.ts';
import { parseCpe } from '../products/cpe.ts';
import { parseHttp } from '../protocols/http.ts';
import { serverBytes, serverText } from '../protocols/probe-session.ts';
import type { ObservedFact } from './predicate.ts';
import type { RuleScalar } from './rule.ts';

/** Maximum length of one value, characters; what follows is not evaluated. */
const maxValueLength = 64 * 1024;
/** Maximum number of elements of a list. */
const maxElements = 1000;

/** Protocols whose facts are fields; those of other parsers are `attributes.<protocol>.<name>`. */
const protocols: ReadonlySet<string> = new Set(['http', 'tls', 'ssh', 'smtp', 'ftp']);

export function factsOfEndpoint({ host, port, protocol }: Endpoint): ObservedFact[] {
  return [fact('host', host), fact('port', port), fact('protocol', protocol)].flat();
}

/** @param withBody also the page of an HTTP response, which takes longer to read */
export function factsOfResponse(banner: Banner, withBody: boolean): ObservedFact[] {
  return [...fact('banner', serverText(banner) || null), ...(withBody ? bodyFact(banner) : [])];
}

function bodyFact(banner: Banner): ObservedFact[] {
  if (banner.protocol !== 'tcp') return [];
  const bytes = serverBytes(banner);
  if (bytes.toString('latin1', 0, 5) !== 'HTTP/') return [];
  const body = parseHttp(bytes, maxValueLength)?.body;
  return fact('http.body', body?.toString('utf8') || null);
}

export function factsOfClaim({ match, product, vendor, version, cpe }: Fingerprint): ObservedFact[] {
  const name = cpe === null ? null : parseCpe(cpe);
  const scheme = name ? schemeOf(name.vendor, name.product) : 'dotted';
  return [
    ...fact('service', match),
    ...fact('product', product),
    ...fact('vendor', vendor),
    ...fact('version', version).map((each) => ({ ...each, scheme })),
    ...fact('cpe', cpe),
  ];
}

export function factsOfProfile({ os, device_type }: ProfilePart): ObservedFact[] {
  return [
    ...fact('os.family', os?.family),
    ...fact('os.distribution', os?.distribution),
    ...fact('os.version', os?.version),
    ...fact('device_type', device_type),
  ];
}

/** @param now epoch milliseconds */
export function attributeFacts(
  { attributes }: Pick<ParsedService, 'attributes'>,
  now: number,
): ObservedFact[] {
  return Object.entries(attributes).flatMap(([protocol, own]) => {
    if (typeof own !== 'object' || own === null) return [];
    const facts = own as Record<string, unknown>;
    if (!protocols.has(protocol)) return plainFacts(`attributes.${protocol}`, facts);
    const known = [...fact(protocol, true), ...plainFacts(protocol, facts)];
    if (protocol === 'http') return [...known, ...headerFacts(facts)];
    return protocol === 'tls' ? [...known, ...tlsFacts(facts, now)] : known;
  });
}

/** Texts, numbers, flags and lists of them. */
function plainFacts(prefix: string, facts: Record<string, unknown>): ObservedFact[] {
  return Object.entries(facts).flatMap(([name, value]) => fact(`${prefix}.${name}`, value));
}

function headerFacts({ headers, auth, technologies }: Record<string, unknown>): ObservedFact[] {
  const named = isMap(headers) ? plainFacts('http.headers', headers) : [];
  return [
    ...named,
    ...fact('http.auth', membersOf(auth, 'scheme')),
    ...fact('http.technologies', membersOf(technologies, 'name')),
  ];
}

function tlsFacts({ certificate, suites, cipher }: Record<string, unknown>, now: number): ObservedFact[] {
  const seen = fact('tls.cipher_suites', suites ?? (cipher ? [cipher] : undefined));
  if (!isMap(certificate) || 'error' in certificate) return seen;
  const { key, not_after } = certificate;
  const [, type, bits] = /^(\S+)(?: (\d{1,6}))?$/.exec(typeof key === 'string' ? key : '') ?? [];
  return [
    ...seen,
    ...plainFacts('tls', certificate),
    ...fact('tls.key_type', type),
    ...fact('tls.key_bits', bits === undefined ? undefined : Number(bits)),
    ...fact('tls.expired', typeof not_after === 'string' ? Date.parse(not_after) < now : undefined),
  ];
}

function membersOf(list: unknown, member: string): unknown[] {
  return Array.isArray(list) ? list.map((item) => (isMap(item) ? item[member] : item)) : [];
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** None for a value that is missing, or neither a scalar nor a list of scalars. */
function fact(field: string, value: unknown): ObservedFact[] {
  const list = Array.isArray(value) ? value.slice(0, maxElements) : [value];
  const values = list.filter(isScalar).map(limited);
  return values.length === 0 ? [] : [{ field, values }];
}

function isScalar(value: unknown): value is RuleScalar {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function limited(value: RuleScalar): RuleScalar {
  return typeof value === 'string' && value.length > maxValueLength ? value.slice(0, maxValueLength) : value;
}
