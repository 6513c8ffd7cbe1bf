import type { Endpoint } from '../../domain/host.ts';
import type { Fingerprint } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { parseCpe } from '../products/cpe.ts';
import { mainName } from '../products/cpe-aliases.ts';
import { originalOf } from '../products/forks.ts';
import { evidenceLimit, type Observation, observe } from './evidence.ts';
import type { RuleCatalog, SignatureMatch } from './rule-catalog.ts';

/** Source of the evidence: `http.*`, `tls.*`, or everything else. */
export type EvidenceKind = 'banner' | 'http' | 'tls';

/** One product (or only a service) that the evidence of a port supports. */
export interface Claim {
  match: string;
  product: string | null;
  vendor: string | null;
  version: string | null;
  cpe: string | null;
  source: EvidenceKind;
  evidence: string;
  rule: string | null;
  revision: string | null;
  os: SignatureMatch['os'];
  hardware: SignatureMatch['hardware'];
  /** Certainty by independent source: the evidence key. */
  support: Map<string, number>;
}

/** Evidence from untrusted targets is never fully certain. */
const confidenceLimit = 0.99;
/** Maximum number of alternatives beside the best claim of a port. */
const alternativeLimit = 10;

/** Service names when the connection is TLS from its first byte. */
const secureNames: Record<string, string> = {
  http: 'https',
  ftp: 'ftps',
  smtp: 'smtps',
  imap: 'imaps',
  pop3: 'pop3s',
  ldap: 'ldaps',
  telnet: 'telnets',
  irc: 'ircs',
  nntp: 'nntps',
  sip: 'sips',
  mqtt: 'mqtts',
  amqp: 'amqps',
};

/** Every claim that one banner supports, products as well as the bare service; none for a silent port. */
export function claimsOf(banner: Banner, catalogue: RuleCatalog, kinds: readonly EvidenceKind[]): Claim[] {
  const observation = observe(banner);
  if (!observation) return [];
  const claims: Claim[] = [];
  let system: { os: NonNullable<Claim['os']>; certainty: number } | null = null;
  for (const [key, text] of observation.evidence) {
    const kind = kindOf(key);
    if (!kinds.includes(kind)) continue;
    // Only where no rule knows the name.
    if (key === 'http.product' && hasServer(claims)) continue;
    if (key === 'greeting.line' && claims.some(({ product }) => product !== null)) continue;
    for (const match of precise(catalogue.match(key, text))) {
      if (match.os && match.certainty > (system?.certainty ?? 0))
        system = { os: match.os, certainty: match.certainty };
      if (match.product === null && match.service === null) continue;
      if (key === 'banner.raw' && contradicts(match, observation)) continue;
      // The protocol parser already made this claim, from the same bytes.
      if (match.product === null && match.service === observation.service) continue;
      addClaim(claims, claimOf(match, observation, kind, key));
    }
  }
  const bare = bareClaim(observation, kinds);
  if (bare) addClaim(claims, bare);
  if (system) for (const claim of claims) claim.os = richerSystem(claim.os, system.os);
  return claims;
}

/** Drops matches that take a name literally (`general.`) when another rule knows the product. */
function precise(matches: readonly SignatureMatch[]): readonly SignatureMatch[] {
  const known = matches.filter(({ rule, product }) => product !== null && !rule.startsWith('general.'));
  return known.length === 0 ? matches : matches.filter(({ rule }) => !rule.startsWith('general.'));
}

/** Whether a rule recognized the product in the `Server` header. */
function hasServer(claims: readonly Claim[]): boolean {
  return claims.some(({ product, support }) => product !== null && support.has('http.header.server'));
}

/** Service name of a banner; null when it is not recognized. */
export function observedService(banner: Banner): string | null {
  const seen = observe(banner);
  return seen?.service ? serviceName(seen.service, seen.secure) : null;
}

function kindOf(key: string): EvidenceKind {
  if (key.startsWith('http.')) return 'http';
  return key.startsWith('tls.') ? 'tls' : 'banner';
}

/** The raw bytes of a recognized protocol may quote anything, for example in a web page. */
function contradicts(match: SignatureMatch, seen: Observation): boolean {
  return (
    seen.service !== null &&
    seen.service !== 'tls' &&
    match.service !== null &&
    match.service !== seen.service
  );
}

function claimOf(match: SignatureMatch, seen: Observation, kind: EvidenceKind, key: string): Claim {
  // A certificate names a product, but the protocol inside TLS names the service.
  const service = (kind === 'tls' ? null : match.service) ?? seen.service ?? match.service ?? 'unknown';
  return {
    match: serviceName(service, seen.secure),
    product: match.product,
    vendor: match.vendor,
    version: match.version,
    cpe: match.cpe,
    source: kind,
    evidence: evidenceOf(match, seen, key),
    rule: match.rule,
    revision: match.revision,
    os: match.os,
    hardware: match.hardware,
    support: new Map([[key === 'http.set-cookie' ? 'http.cookies' : key, match.certainty]]),
  };
}

/** The protocol itself, without a product; requires the kind of evidence that showed the protocol. */
function bareClaim(seen: Observation, kinds: readonly EvidenceKind[]): Claim | null {
  if (seen.service === null) return null;
  const kind: EvidenceKind = seen.service === 'http' ? 'http' : seen.service === 'tls' ? 'tls' : 'banner';
  if (!kinds.includes(kind)) return null;
  return {
    match: serviceName(seen.service, seen.secure),
    product: null,
    vendor: null,
    version: null,
    cpe: null,
    source: kind,
    evidence: seen.proof,
    rule: null,
    revision: null,
    os: null,
    hardware: null,
    support: new Map([['protocol', seen.certainty]]),
  };
}

function serviceName(service: string, secure: boolean): string {
  return secure ? (secureNames[service] ?? service) : service;
}

/** The evidence: the first line for greeting protocols, the matched text for all others. */
function evidenceOf(match: SignatureMatch, seen: Observation, key: string): string {
  if (/^(?:ssh|smtp|lmtp|ftp|imap|pop3)\.(?!id$|help$)/.test(key)) return seen.proof;
  const header = /^http\.header\.(.+)$/.exec(key)?.[1];
  const text = header ? `${header}: ${match.text}` : match.text;
  return text.trim().slice(0, evidenceLimit).trimEnd();
}

function richerSystem(own: Claim['os'], found: NonNullable<Claim['os']>): Claim['os'] {
  if (!own) return found;
  if (own.family !== found.family) return own;
  if (own.distribution && found.distribution && own.distribution !== found.distribution) return own;
  return {
    family: own.family,
    distribution: own.distribution ?? found.distribution,
    version: own.version ?? found.version,
  };
}

/** Adds a claim to those of a port; claims about the same thing merge, with the evidence of all. */
export function addClaim(claims: Claim[], claim: Claim): void {
  const index = claims.findIndex((other) => isSame(other, claim));
  const earlier = claims[index];
  if (!earlier) {
    claims.push(claim);
    return;
  }
  const [better, lesser] = outranks(claim, earlier) ? [claim, earlier] : [earlier, claim];
  const support = new Map(lesser.support);
  for (const [key, certainty] of better.support) support.set(key, Math.max(certainty, support.get(key) ?? 0));
  claims[index] = {
    ...better,
    ...(better.version === null && lesser.version !== null ? versionOf(lesser) : {}),
    match: strongerName(better.match, lesser.match),
    os: better.os && lesser.os ? richerSystem(better.os, lesser.os) : (better.os ?? lesser.os),
    hardware: better.hardware ?? lesser.hardware,
    support,
  };
}

/** The fields that follow the version: a merged claim takes them from the claim that has one. */
function versionOf({ version, cpe, revision, evidence, rule, source }: Claim): Partial<Claim> {
  return { version, cpe, revision, evidence, rule, source };
}

/** Catalogs of several authors name one product in several ways; an equal CPE name identifies it. */
function isSame(a: Claim, b: Claim): boolean {
  if (a.cpe !== null && b.cpe !== null) return productOf(a.cpe) === productOf(b.cpe);
  if (a.product !== b.product || a.vendor !== b.vendor) return false;
  return a.product !== null || plainName(a.match) === plainName(b.match);
}

function productOf(cpe: string): string {
  const name = parseCpe(cpe);
  return name === null ? cpe : mainName(name.vendor, name.product);
}

function plainName(service: string): string {
  return Object.keys(secureNames).find((plain) => secureNames[plain] === service) ?? service;
}

/** A port that reports plainly that it expects TLS, and also responds in TLS, is a TLS port. */
function strongerName(better: string, lesser: string): string {
  return secureNames[better] === lesser ? lesser : better;
}

/** The confidence of a claim: independent sources add up as 1 - product of (1 - certainty). */
export function confidenceOf(claim: Claim): number {
  let doubt = 1;
  for (const certainty of claim.support.values()) doubt *= 1 - certainty;
  return Math.min(confidenceLimit, Math.round((1 - doubt) * 1000) / 1000);
}

/** A claim about a part of the server only: a module, a library, a language. */
function isPart({ support }: Claim): boolean {
  return support.size === 1 && support.has('http.component');
}

/** Products before bare services, products before their parts, then confidence, then detail. */
function outranks(a: Claim, b: Claim): boolean {
  return compareClaims(a, b) < 0;
}

function compareClaims(a: Claim, b: Claim): number {
  const named = Number(b.product !== null) - Number(a.product !== null);
  if (named !== 0) return named;
  const whole = Number(isPart(a)) - Number(isPart(b));
  if (whole !== 0) return whole;
  return confidenceOf(b) - confidenceOf(a) || specificity(b) - specificity(a);
}

function specificity(claim: Claim): number {
  return [claim.version, claim.cpe, claim.revision, claim.os].filter((part) => part !== null).length;
}

/**
 * The record of a port: the best claim with the others as alternatives; null when none reaches `minConfidence` (0..1).
 * Contains at most `maxProtocols` different services.
 * @param siteClaims about further sites of the port: only as alternatives, unless there are no others
 */
export function resolveClaims(
  endpoint: Endpoint,
  claims: readonly Claim[],
  { minConfidence, maxProtocols }: { minConfidence: number; maxProtocols: number },
  siteClaims: readonly Claim[] = [],
): Fingerprint | null {
  const services = new Set<string>();
  const kept: Claim[] = [];
  const further = siteClaims.filter((claim) => !claims.some((own) => isSame(own, claim)));
  const ordered = [...claims.toSorted(compareClaims), ...further.sort(compareClaims)];
  for (const claim of withoutOriginals(ordered, minConfidence)) {
    if (confidenceOf(claim) < minConfidence) continue;
    if (!services.has(claim.match) && services.size >= maxProtocols) continue;
    services.add(claim.match);
    kept.push(claim);
  }
  const best = kept[0];
  if (!best) return null;
  const others = kept
    .slice(1)
    .filter((claim) => claim.product !== null || plainName(claim.match) !== plainName(best.match));
  const { host, port, protocol } = endpoint;
  return {
    host,
    port,
    protocol,
    ...describe(best),
    alternatives: others.slice(0, alternativeLimit).map(describe),
  };
}

/** A fork names its original for the sake of old clients: that is no second product of the port. */
function withoutOriginals(claims: readonly Claim[], minConfidence: number): Claim[] {
  const imitated = new Set(
    claims
      .filter((claim) => confidenceOf(claim) >= minConfidence)
      .map(({ product }) => (product === null ? null : originalOf(product))),
  );
  return claims.filter(({ cpe }) => cpe === null || !imitated.has(productOf(cpe)));
}

function describe(claim: Claim): Fingerprint['alternatives'][number] {
  return {
    match: claim.match,
    product: claim.product,
    vendor: claim.vendor,
    version: claim.version,
    cpe: claim.cpe,
    confidence: confidenceOf(claim),
    source: claim.source,
    evidence: claim.evidence,
    ...(claim.rule === null ? {} : { rule: claim.rule }),
    ...(claim.revision === null ? {} : { revision: claim.revision }),
    ...(claim.os === null ? {} : { os: claim.os }),
    ...(claim.hardware === null ? {} : { hardware: claim.hardware }),
  };
}

/** Maximum number of ports with claims in memory; responses of one port arrive close together in time. */
const rememberedPorts = 4096;

/**
 * The claims of ports whose banners arrive one by one. A port is reported again only when a later banner improves its
 * record, so memory is bounded and nothing waits for a last banner.
 */
export class PortClaims {
  readonly #ports = new Map<string, { claims: Claim[]; sites: Claim[]; told: Fingerprint | null }>();
  readonly #rules: { minConfidence: number; maxProtocols: number };

  constructor(rules: { minConfidence: number; maxProtocols: number }) {
    this.#rules = rules;
  }

  /** Adds the claims of a banner; returns the port's record when it is new or better than the one reported before. */
  add(endpoint: Endpoint, claims: readonly Claim[], siteClaims: readonly Claim[] = []): Fingerprint | null {
    if (claims.length === 0 && siteClaims.length === 0) return null;
    const entry = this.#entry(endpoint);
    for (const claim of claims) addClaim(entry.claims, claim);
    for (const claim of siteClaims) addClaim(entry.sites, claim);
    const settled = resolveClaims(endpoint, entry.claims, this.#rules, entry.sites);
    if (!settled || (entry.told && !isBetter(settled, entry.told))) return null;
    entry.told = settled;
    return settled;
  }

  #entry(endpoint: Endpoint): { claims: Claim[]; sites: Claim[]; told: Fingerprint | null } {
    const key = `${endpoint.host} ${endpoint.port} ${endpoint.protocol}`;
    const entry = this.#ports.get(key) ?? { claims: [], sites: [], told: null };
    // Move to the end: the first key is the least recently used.
    this.#ports.delete(key);
    this.#ports.set(key, entry);
    if (this.#ports.size > rememberedPorts) {
      const oldest = this.#ports.keys().next().value;
      if (oldest !== undefined) this.#ports.delete(oldest);
    }
    return entry;
  }
}

function isBetter(now: Fingerprint, earlier: Fingerprint): boolean {
  return (['match', 'product', 'version', 'cpe', 'revision', 'os', 'hardware', 'confidence'] as const).some(
    (field) => JSON.stringify(now[field]) !== JSON.stringify(earlier[field]),
  );
}
