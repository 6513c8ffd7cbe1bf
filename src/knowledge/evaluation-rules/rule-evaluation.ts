import type { Endpoint } from '../../domain/host.ts';
import { type CompiledRule, CompiledRules, type Hits, matchedFields, ruleHolds } from './compiled-rules.ts';
import { factsOfEndpoint } from './observed-facts.ts';
import type { ObservedFact } from './predicate.ts';
import type { EvaluationRule } from './rule.ts';
import { findingOfRule, type ProductClaim, type RuleFinding } from './rule-finding.ts';

/** Maximum number of ports evaluated per host; more open ports indicate a tarpit. */
const maxPortsPerHost = 4096;

/** Keeps what matched and nothing of the responses, so that memory does not grow with them. */
interface PortState {
  endpoint: Endpoint;
  hits: Hits;
  claim: ProductClaim | null;
  /** Rules that were reported. */
  reported: Set<number>;
}

interface HostState {
  ports: Map<string, PortState>;
  facts: readonly ObservedFact[];
}

/**
 * Evaluates rules on the ports of a scan while records about them arrive in any order. A rule that only needs what the
 * port itself has shown is reported at once; one that needs the product, the system or the absence of something waits for `complete`.
 */
export class RuleEvaluation {
  readonly #rules: CompiledRules;
  readonly #hosts = new Map<string, HostState>();

  constructor(rules: readonly EvaluationRule[]) {
    this.#rules = new CompiledRules(rules);
  }

  /** Whether a rule reads the field. */
  reads(field: string): boolean {
    return this.#rules.reads(field);
  }

  /** @returns what is certain now */
  observe(endpoint: Endpoint, facts: readonly ObservedFact[], claim?: ProductClaim): RuleFinding[] {
    const state = this.#portState(endpoint);
    if (state === null) return [];
    if (claim) {
      const { cpe, version, confidence, revision } = claim;
      state.claim = { cpe, version, confidence, revision };
    }
    return this.#report(state, this.#rules.observe(facts, state.hits), false);
  }

  /** Facts of a host hold for all its ports; later ones replace those of the same name. */
  observeHost(host: string, facts: readonly ObservedFact[]): void {
    const state = this.#hostState(host);
    const names = new Set(facts.map(({ field }) => field));
    state.facts = [...state.facts.filter(({ field }) => !names.has(field)), ...facts];
  }

  /** Ends the evaluation; findings by port, so that the caller can pause in between. */
  *complete(): Generator<RuleFinding[]> {
    for (const [host, { ports, facts }] of this.#hosts) {
      for (const state of ports.values()) {
        this.#rules.observe(facts, state.hits);
        yield this.#report(state, this.#rules.all, true);
      }
      this.#hosts.delete(host);
    }
  }

  #report(state: PortState, rules: Iterable<CompiledRule>, complete: boolean): RuleFinding[] {
    const { endpoint, hits, claim, reported } = state;
    const findings: RuleFinding[] = [];
    for (const compiled of rules) {
      if (reported.has(compiled.number) || ruleHolds(compiled, hits, complete) !== true) continue;
      reported.add(compiled.number);
      findings.push(findingOfRule(compiled.rule, endpoint, matchedFields(compiled, hits), claim));
    }
    return findings;
  }

  #hostState(host: string): HostState {
    const known = this.#hosts.get(host) ?? { ports: new Map<string, PortState>(), facts: [] };
    this.#hosts.set(host, known);
    return known;
  }

  #portState({ host, port, protocol }: Endpoint): PortState | null {
    const { ports } = this.#hostState(host);
    const key = `${port}/${protocol}`;
    const known = ports.get(key);
    if (known) return known;
    if (ports.size >= maxPortsPerHost) return null;
    const endpoint = { host, port, protocol };
    const state: PortState = { endpoint, hits: new Map(), claim: null, reported: new Set() };
    this.#rules.observe(factsOfEndpoint(endpoint), state.hits);
    ports.set(key, state);
    return state;
  }
}
