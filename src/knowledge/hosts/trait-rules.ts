import { LiteralScan } from '../rules/literal-scan.ts';
import { requiredLiterals } from '../rules/literals.ts';
import { compileMatcher, type Matcher, matchInputLimit, type PatternMatch } from '../rules/matcher.ts';

/** One fact about how a trait of a host shows in what its ports say. */
export interface TraitRule<T> {
  /** Unique within its book. */
  id: string;
  /** Keys of the texts that it reads: `ssh.software`, `product`, `mac.vendor`, ... */
  sources: readonly string[];
  /** RE2 syntax, searched for in at most 4096 characters. */
  pattern: string;
  /** Any of `i`, `s`, `m`. */
  flags?: string;
  says: T;
  /** How much it speaks for what it says, above 0 and below 1. */
  weight: number;
  /** A text that matches. */
  example: string;
}

interface RuleMatch<T> {
  rule: TraitRule<T>;
  match: PatternMatch;
}

/** Rules that read one kind of text, by the literals without which they cannot match. */
interface RuleIndex<T> {
  /** Those without such a literal. */
  always: TraitRule<T>[];
  scan: LiteralScan;
  /** By number of the literal in the scan. */
  byLiteral: TraitRule<T>[][];
}

/**
 * Rules by the text that they read. They are ordered when the first text of a kind comes, and their patterns compiled
 * when a text holds one of their literals.
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

  /** Every rule that the text fulfils. */
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

/** Something that speaks for a value. */
interface Voice<V> {
  value: V;
  /** 0..1 */
  weight: number;
  /** Voices of one source are not independent: only the loudest of them counts. */
  source: string;
  /** Nor are those that say the same words: one program listens on many ports. */
  evidence: string;
}

interface Choice<V> {
  value: V;
  /** 0..1 */
  confidence: number;
}

/** Nothing that strangers say is ever fully certain. */
const confidenceLimit = 0.99;

/**
 * The value that most speaks for, and what speaks for the next one. Independent sources add up as 1 - product of
 * (1 - weight).
 */
export function strongest<V>(voices: Iterable<Voice<V>>): { best: Choice<V> | null; rival: number } {
  const byValue = new Map<V, Voice<V>[]>();
  for (const voice of voices) byValue.set(voice.value, [...(byValue.get(voice.value) ?? []), voice]);
  const choices = [...byValue].map(([value, each]) => ({ value, confidence: together(each) }));
  choices.sort((a, b) => b.confidence - a.confidence);
  return { best: choices[0] ?? null, rival: choices[1]?.confidence ?? 0 };
}

function together(voices: readonly Voice<unknown>[]): number {
  const heard = { source: new Set<string>(), evidence: new Set<string>() };
  let doubt = 1;
  for (const { weight, source, evidence } of voices.toSorted((a, b) => b.weight - a.weight)) {
    if (heard.source.has(source) || heard.evidence.has(evidence)) continue;
    heard.source.add(source);
    heard.evidence.add(evidence);
    doubt *= 1 - weight;
  }
  return Math.min(confidenceLimit, 1 - doubt);
}
