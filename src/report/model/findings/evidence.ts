import { type Allowance, detachedStart } from '../bounded.ts';
import type { FindingPlace, KindEvidence } from '../report.ts';
import type { SeenFinding } from './seen-finding.ts';

/** Different evidence of one kind of finding. */
const maxEvidence = 3;
/** Longest evidence, characters. */
const maxEvidenceLength = 4000;
/** The same where the allowance of all evidence is used up. */
const shortEvidence = 200;
/** Longest product name or version that is looked for. */
const maxMatchLength = 100;

/** The first different evidence of a kind. */
export class EvidenceList {
  readonly #allowance: Allowance;
  readonly items: KindEvidence[] = [];
  /** Findings with other evidence. */
  left = 0;

  /** @param allowance characters of the evidence of all kinds */
  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  add(finding: SeenFinding, place: Pick<FindingPlace, 'host' | 'port' | 'protocol'>): void {
    const whole = finding.evidence.trimEnd();
    if (whole === '') return;
    const { length } = whole;
    const known = this.items.find((item) => item.length === length && whole.startsWith(item.text));
    if (known) known.count += 1;
    else if (this.items.length >= maxEvidence) this.left += 1;
    else {
      const most = this.#allowance.take(Math.min(length, maxEvidenceLength))
        ? maxEvidenceLength
        : shortEvidence;
      const text = detachedStart(whole, most);
      this.items.push({ text, length, place, count: 1, match: matchIn(text, finding) });
    }
  }
}

/** Where the version stands in the text, with the product before it; else the product alone. */
export function matchIn(
  text: string,
  { detected, product, cpe }: Pick<SeenFinding, 'detected' | 'product' | 'cpe'>,
): KindEvidence['match'] {
  const names = [product, cpe?.split(':')[4]]
    .filter((name) => typeof name === 'string' && name.length > 1 && name.length <= maxMatchLength)
    .map((name) => (name as string).toLowerCase());
  const version = detected !== null && detected.length <= maxMatchLength ? placeOf(text, detected) : -1;
  if (version >= 0 && detected !== null) return withProduct(text, version, detected.length, names);
  const lower = text.toLowerCase();
  // Some characters change their length with their case.
  if (lower.length !== text.length) return null;
  for (const name of names) {
    const at = lower.indexOf(name);
    if (at >= 0) return { at, length: name.length };
  }
  return null;
}

/** Position of a version that is not part of a longer one; -1 without. */
function placeOf(text: string, version: string): number {
  if (version === '') return -1;
  for (let at = text.indexOf(version); at >= 0; at = text.indexOf(version, at + 1)) {
    const [before, after] = [text[at - 1] ?? '', text[at + version.length] ?? ''];
    // `\x06` before a version is a byte, not a digit of it.
    const escape = /\\x[\da-f]{2}$/.test(text.slice(Math.max(0, at - 4), at));
    const longer = (!escape && /[\d.]/.test(before)) || (/[\da-z]/i.test(after) && /[\da-z]$/i.test(version));
    if (!longer) return at;
  }
  return -1;
}

/** `nginx/1.22.1` rather than `1.22.1`. */
function withProduct(text: string, at: number, length: number, names: readonly string[]) {
  for (const name of names) {
    const start = at - name.length - 1;
    const separated = start >= 0 && /[/ _-]/.test(text[at - 1] as string);
    if (separated && text.slice(start, at - 1).toLowerCase() === name)
      return { at: start, length: length + name.length + 1 };
  }
  return { at, length };
}
