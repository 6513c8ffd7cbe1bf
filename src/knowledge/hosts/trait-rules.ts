import { LiteralScan } from '../rules/literal-scan.ts';
import { requiredLiterals } from '../rules/literals.ts';
import { compileMatcher, type Matcher, matchInputLimit, type PatternMatch } from '../rules/matcher.ts';

/** A rule that derives a trait of a host from the texts of its ports. */
export interface TraitRule<T> {
  /** Unique within its rule set. */
  id: string;
  /** Keys of the texts that it matches: `ssh.software`, `product`, `mac.vendor`, ... */
  sources: readonly string[];
  /** RE2 syntax, matched against at most 4096 characters. */
  pattern: string;
  /** Any of `i`, `s`, `m`. */
  flags?: string;
  says: T;
  /** Weight of the evidence, above 0 and below 1. */
  weight: number;
  /** A text that matches. */
  example: string;
}

interface RuleMatch<T> {
  rule: TraitRule<T>;
  match: PatternMatch;
}

/** Rules for one kind of text, by the literals that their patterns require. */
interface RuleIndex<T> {
  /** Rules without a required literal. */
  always: TraitRule<T>[];
  scan: LiteralScan;
  /** By number of the literal in the scan. */
  byLiteral: TraitRule<T>[][];
}

/**
 * Rules by the kind of text that they match. They are indexed at the first text of a kind; a pattern is compiled once a
 * text contains one of its literals.
 */
export class RuleBook<T> {
  readonly rules: readonly TraitRule<T>[];
  readonly #sources: ReadonlySet<string>;
  readonly #indexes = new Map<string, RuleIndex<T>>();
  readonly #compiled = new Map<TraitRule<T>, Matcher>();

  constructor(rules: readonly TraitRule<T>[]) {
    this.rules = rules;
    this.#sources = new Set(rules.flatMap(({ sources }) => sources));
  }

  /** Every rule that matches the text. */
  *match(source: string, text: string): Generator<RuleMatch<T>> {
    if (!this.#sources.has(source)) return;
    const index = this.#index(source);
    const input = text.slice(0, matchInputLimit);
    const likely = index.scan.find(input).flatMap((number) => index.byLiteral[number] ?? []);
    for (const rule of new Set([...index.always, ...likely])) {
      const match = this.#matcher(rule).match(input);
      if (match) yield { rule, match };
    }
  }

  #index(source: string): RuleIndex<T> {
    const known = this.#indexes.get(source);
    if (known) return known;
    const index = indexOf(this.rules.filter(({ sources }) => sources.includes(source)));
    this.#indexes.set(source, index);
    return index;
  }

  #matcher(rule: TraitRule<T>): Matcher {
    const known = this.#compiled.get(rule) ?? compileMatcher(rule.pattern, rule.flags);
    this.#compiled.set(rule, known);
    return known;
  }
}

function indexOf<T>(rules: readonly TraitRule<T>[]): RuleIndex<T> {
  const always: TraitRule<T>[] = [];
  const byLiteral = new Map<string, TraitRule<T>[]>();
  for (const rule of rules) {
    const literals = requiredLiterals(rule.pattern);
    if (literals === null) always.push(rule);
    for (const literal of literals ?? []) byLiteral.set(literal, [...(byLiteral.get(literal) ?? []), rule]);
  }
  return { always, scan: new LiteralScan([...byLiteral.keys()]), byLiteral: [...byLiteral.values()] };
}

/** Evidence for a value. */
interface Voice<V> {
  value: V;
  /** 0..1 */
  weight: number;
  /** Claims of one source are not independent: only the one with the highest weight counts. */
  source: string;
  /** Nor are claims with the same text: one program listens on many ports. */
  evidence: string;
}

interface Choice<V> {
  value: V;
  /** 0..1 */
  confidence: number;
}

/** Evidence from untrusted targets is never fully certain. */
const confidenceLimit = 0.99;

/**
 * The most probable value, and the score of the runner-up. Independent sources add up as 1 - product of (1 - weight).
 */
export function strongest<V>(voices: Iterable<Voice<V>>): { best: Choice<V> | null; rival: number } {
  const byValue = new Map<V, Voice<V>[]>();
  for (const voice of voices) byValue.set(voice.value, [...(byValue.get(voice.value) ?? []), voice]);
  const choices = [...byValue].map(([value, each]) => ({ value, confidence: together(each) }));
  choices.sort((a, b) => b.confidence - a.confidence);
  return { best: choices[0] ?? null, rival: choices[1]?.confidence ?? 0 };
}

function together(voices: readonly Voice<unknown>[]): number {
  const collected = { source: new Set<string>(), evidence: new Set<string>() };
  let doubt = 1;
  for (const { weight, source, evidence } of voices.toSorted((a, b) => b.weight - a.weight)) {
    if (collected.source.has(source) || collected.evidence.has(evidence)) continue;
    collected.source.add(source);
    collected.evidence.add(evidence);
    doubt *= 1 - weight;
  }
  return Math.min(confidenceLimit, 1 - doubt);
}
