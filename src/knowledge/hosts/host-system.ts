import type { OperatingSystem, SystemEvidence } from '../../domain/asset.ts';
import type { Fingerprint } from '../../domain/service.ts';
import { type HostFact, sourceOf, stackSource } from './host-facts.ts';
import { type SystemName, systemOfRevision, systemOfWindowsBuild, systemRules } from './system-rules.ts';
import { strongest } from './trait-rules.ts';

/** Claims kept per host, highest weight first. */
const systemClaimLimit = 24;
/** Maximum length of their evidence, characters. */
const claimTextLimit = 160;

/**
 * How closely a service is tied to its host. Web servers and databases often run in containers or front another
 * machine, so the system that they name may not be the host's.
 */
function hostShare(service: string): number {
  if (/^(?:ssh|snmp|ntp|rdp|smb|msrpc|telnet)/.test(service)) return 1;
  if (/^(?:smtp|imap|pop3|ftp|dns|ldap)/.test(service)) return 0.95;
  return 0.85;
}

/** The more specific a claim, the less likely it is a coincidence. */
function weightOf({ distribution, version }: SystemName): number {
  if (version) return 0.92;
  return distribution ? 0.85 : 0.7;
}

/** Claims of a port about its host: the systems that they name, and the builds of their packages. */
export function systemClaimsOfFingerprint(fingerprint: Fingerprint): SystemEvidence[] {
  const source = sourceOf(fingerprint);
  const claims: SystemEvidence[] = [];
  for (const claim of [fingerprint, ...fingerprint.alternatives]) {
    const share = claim.confidence * hostShare(claim.match);
    const add = (system: SystemName | null | undefined, rule: string) => {
      if (system) claims.push(claimOf(system, share * weightOf(system), source, claim.evidence, rule));
    };
    if (claim.os) add(systemOf(claim.os), claim.rule ?? 'system.fingerprint');
    if (claim.revision) add(systemOfRevision(claim.revision), 'system.revision');
  }
  return claims;
}

/** Claims of a fact about its host. */
export function systemClaimsOfFact({ key, text, source }: HostFact): SystemEvidence[] {
  const claims: SystemEvidence[] = [];
  // The RDP servers of Linux use a library that always claims to be Windows 7.
  if (key === 'ntlm.version' || (key === 'rdp.build' && text !== '6.1.7601')) {
    const system = systemOfWindowsBuild(text);
    if (system) claims.push(claimOf(system, 0.95, source, text, 'system.windows-build'));
  }
  for (const { rule, match } of systemRules.match(key, text)) {
    const fill = (template: string | undefined) =>
      template?.replace(/\{([a-z]+)\}/g, (_, name: string) => match.groups.get(name) ?? '') || undefined;
    const { family, distribution, version } = rule.says;
    const system = { family, ...named('distribution', distribution), ...named('version', fill(version)) };
    claims.push(claimOf(system, rule.weight, source, text, rule.id));
  }
  return claims;
}

function named(name: 'distribution' | 'version', value: string | undefined): Partial<SystemName> {
  return value ? { [name]: value } : {};
}

function systemOf({ family, distribution, version }: NonNullable<Fingerprint['os']>): SystemName {
  return {
    family,
    ...named('distribution', distribution ?? undefined),
    ...named('version', version ?? undefined),
  };
}

function claimOf(
  { family, distribution, version }: SystemName,
  weight: number,
  source: string,
  evidence: string,
  rule: string,
): SystemEvidence {
  return {
    family,
    distribution: distribution ?? null,
    version: version?.slice(0, 64) ?? null,
    weight: rounded(weight),
    source,
    evidence: evidence.trim().slice(0, claimTextLimit),
    rule,
  };
}

/** Collects the evidence for the system of one host; claims may come in any order. */
export class SystemClaims {
  #claims: SystemEvidence[] = [];

  add(claims: readonly SystemEvidence[]): void {
    for (const claim of claims) {
      const same = this.#claims.findIndex((known) => isSame(known, claim));
      if (same === -1) this.#claims.push(claim);
      else if ((this.#claims[same] as SystemEvidence).weight < claim.weight) this.#claims[same] = claim;
    }
    if (this.#claims.length > systemClaimLimit) this.#claims = this.evidence().slice(0, systemClaimLimit);
  }

  /** All claims, highest weight first. */
  evidence(): SystemEvidence[] {
    return this.#claims.toSorted((a, b) => b.weight - a.weight || (a.source < b.source ? -1 : 1));
  }

  /**
   * The most probable system: claims add up per family, then per distribution within it, then per version. Claims for
   * another system lower the confidence: containers and proxies make one host show several systems.
   */
  verdict(): OperatingSystem | null {
    const family = choose(this.#counted(), (claim) => claim.family);
    if (!family) return null;
    const distribution = choose(family.claims, (claim) => claim.distribution);
    const version = choose((distribution ?? family).claims, (claim) => claim.version);
    const doubt =
      (1 - family.rival / 2) * (1 - (distribution?.rival ?? 0) / 2) * (1 - (version?.rival ?? 0) / 4);
    return {
      family: family.value,
      distribution: distribution?.value ?? null,
      version: version?.value ?? null,
      confidence: rounded(family.confidence * doubt),
    };
  }

  /**
   * A router or load balancer in front of the host may have rewritten its packets: TCP traits may support what the host
   * reports, but never contradict it.
   */
  #counted(): readonly SystemEvidence[] {
    const said = this.#claims.filter(({ source }) => source !== stackSource);
    const family = choose(said, (claim) => claim.family)?.value;
    if (family === undefined) return this.#claims;
    return this.#claims.filter((claim) => claim.source !== stackSource || claim.family === family);
  }
}

/** Claims of one source for one system count once, with the highest weight. */
function isSame(a: SystemEvidence, b: SystemEvidence): boolean {
  return (
    a.source === b.source &&
    a.family === b.family &&
    a.distribution === b.distribution &&
    a.version === b.version
  );
}

interface Chosen {
  value: string;
  confidence: number;
  /** The total for the runner-up. */
  rival: number;
  claims: SystemEvidence[];
}

function choose(
  claims: readonly SystemEvidence[],
  read: (claim: SystemEvidence) => string | null,
): Chosen | null {
  const voices = claims.flatMap((claim) => {
    const value = read(claim);
    return value === null ? [] : [{ ...claim, value }];
  });
  const { best, rival } = strongest(voices);
  if (!best) return null;
  return { ...best, rival, claims: claims.filter((claim) => read(claim) === best.value) };
}

function rounded(share: number): number {
  return Math.round(share * 1000) / 1000;
}
