import type { DeviceEvidence, DeviceType, SystemEvidence } from '../../domain/asset.ts';
import { deviceRules, portRules } from './device-rules.ts';
import type { HostFact } from './host-facts.ts';
import { functionOf } from './host-traits.ts';
import { strongest } from './trait-rules.ts';

/** Claims kept per host, highest weight first. */
const deviceClaimLimit = 24;
/** Maximum length of their evidence, characters. */
const claimTextLimit = 160;

/** Minimum confidence; below it the kind of device is `unknown`. */
const leastConfidence = 0.3;

/** Weight that each service adds to the kind `server`, and the limit of their sum. */
const serviceWeight = 0.25;
const servicesTogether = 0.65;

/** A page may be about a device instead of served by one. */
const titleShare = 0.8;

/** Functions that hardly any other device has. */
const serverFunctions: ReadonlySet<string> = new Set([
  'mail server',
  'database',
  'directory server',
  'message broker',
  'container host',
  'source code server',
  'chat server',
  'news server',
]);

/** Claims of a fact about the kind of its host. */
export function deviceClaimsOfFact({ key, text, source }: HostFact): DeviceEvidence[] {
  return [...deviceRules.match(key, text)].map(({ rule }) => ({
    device_type: rule.says,
    weight: key === 'http.title' ? rounded(rule.weight * titleShare) : rule.weight,
    source,
    evidence: text.trim().slice(0, claimTextLimit),
    rule: rule.id,
  }));
}

/** Claims of a system about the kind of the host that it runs on. */
export function deviceClaimsOfSystem(system: SystemEvidence): DeviceEvidence[] {
  const text = [system.family, system.distribution, system.version].filter((part) => part !== null).join(' ');
  return [...deviceRules.match('os', text)].map(({ rule }) => ({
    device_type: rule.says,
    weight: rounded(rule.weight * system.weight),
    source: system.source,
    evidence: text,
    rule: rule.id,
  }));
}

/** Collects the evidence for the kind of one host; ports and claims may come in any order. */
export class DeviceClaims {
  #claims: DeviceEvidence[] = [];
  /** Ports that a rule uses, as `9100/tcp`. */
  readonly #ports = new Set<string>();
  readonly #functions = new Set<string>();
  #acceptsAll = false;

  addPort(place: string): void {
    if (indicativePorts.has(place)) this.#ports.add(place);
  }

  /** Tarpit: the host accepts every port, so open ports are no evidence. */
  acceptAll(): void {
    this.#acceptsAll = true;
  }

  addService(service: string): void {
    const name = functionOf(service);
    if (name !== undefined) this.#functions.add(name);
  }

  add(claims: readonly DeviceEvidence[]): void {
    for (const claim of claims) {
      const same = this.#claims.findIndex(
        (known) => known.source === claim.source && known.device_type === claim.device_type,
      );
      if (same === -1) this.#claims.push(claim);
      else if ((this.#claims[same] as DeviceEvidence).weight < claim.weight) this.#claims[same] = claim;
    }
    if (this.#claims.length > deviceClaimLimit) {
      this.#claims = byWeight(this.#claims).slice(0, deviceClaimLimit);
    }
  }

  /** All claims, highest weight first. */
  evidence(): DeviceEvidence[] {
    return byWeight([...this.#claims, ...this.#portClaims(), ...this.#serviceClaims()]);
  }

  /** The most probable kind; `unknown` without enough evidence. */
  verdict(): DeviceType {
    const voices = this.evidence().map((claim) => ({ ...claim, value: claim.device_type }));
    const { best, rival } = strongest(voices);
    if (!best || best.confidence * (1 - rival / 2) < leastConfidence) return 'unknown';
    return best.value;
  }

  /** The best port rule for each kind. Port rules count as one source. */
  #portClaims(): DeviceEvidence[] {
    if (this.#acceptsAll) return [];
    const fulfilled = portRules.filter(({ ports }) => ports.every((place) => this.#ports.has(place)));
    const best = new Map<DeviceType, (typeof portRules)[number]>();
    for (const rule of fulfilled) {
      if ((best.get(rule.says)?.weight ?? 0) < rule.weight) best.set(rule.says, rule);
    }
    return [...best.values()].map(({ id, ports, says, weight }) => ({
      device_type: says,
      weight,
      source: 'ports',
      evidence: `open: ${ports.join(', ')}`,
      rule: id,
    }));
  }

  #serviceClaims(): DeviceEvidence[] {
    if (this.#functions.size === 0) return [];
    const names = [...this.#functions].sort();
    const strong = names.some((name) => serverFunctions.has(name));
    const weight = Math.min(servicesTogether, 1 - (1 - serviceWeight) ** names.length);
    return [
      {
        device_type: 'server',
        weight: rounded(Math.max(weight, strong ? servicesTogether : 0.3)),
        source: 'services',
        evidence: names.join(', ').slice(0, claimTextLimit),
        rule: 'device.functions',
      },
    ];
  }
}

const indicativePorts: ReadonlySet<string> = new Set(portRules.flatMap(({ ports }) => ports));

function byWeight(claims: readonly DeviceEvidence[]): DeviceEvidence[] {
  return claims.toSorted((a, b) => b.weight - a.weight || (a.source < b.source ? -1 : 1));
}

function rounded(share: number): number {
  return Math.round(share * 1000) / 1000;
}
