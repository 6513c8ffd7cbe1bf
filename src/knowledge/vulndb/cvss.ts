/** Base metrics of CVSS v3.1 with their values (FIRST, CVSS v3.1 specification, section 7.4). */
const attackVector = { N: 0.85, A: 0.62, L: 0.55, P: 0.2 };
const attackComplexity = { L: 0.77, H: 0.44 };
const privilegesRequired = { N: 0.85, L: 0.62, H: 0.27 };
const privilegesRequiredChanged = { N: 0.85, L: 0.68, H: 0.5 };
const userInteraction = { N: 0.85, R: 0.62 };
const impact = { H: 0.56, L: 0.22, N: 0 };

const vectorForm = /^CVSS:3\.[01]((?:\/[A-Z]{1,2}:[A-Z])+)$/;

/**
 * The base score of a vector of CVSS v3.0 or v3.1 (FIRST, CVSS v3.1 specification, section 7.1), 0..10; null when the
 * text is not such a vector or lacks a base metric. Ignores temporal and environmental metrics.
 */
export function cvss3BaseScore(vector: string): number | null {
  const metrics = readVector(vector);
  if (!metrics) return null;
  const changed = metrics.get('S') === 'C';
  if (!changed && metrics.get('S') !== 'U') return null;
  const weigh = (name: string, weights: Record<string, number>) => weights[metrics.get(name) ?? ''] ?? null;
  const reach = [
    weigh('AV', attackVector),
    weigh('AC', attackComplexity),
    weigh('PR', changed ? privilegesRequiredChanged : privilegesRequired),
    weigh('UI', userInteraction),
  ];
  const harm = [weigh('C', impact), weigh('I', impact), weigh('A', impact)];
  if (reach.includes(null) || harm.includes(null)) return null;

  const subScore = 1 - product(harm.map((weight) => 1 - (weight ?? 0)));
  const impactScore = changed ? 7.52 * (subScore - 0.029) - 3.25 * (subScore - 0.02) ** 15 : 6.42 * subScore;
  if (impactScore <= 0) return 0;
  const exploitability = 8.22 * product(reach.map((weight) => weight ?? 0));
  return roundUp(Math.min((changed ? 1.08 : 1) * (impactScore + exploitability), 10));
}

/** Metrics by name; null for a malformed vector or a repeated metric. */
function readVector(vector: string): Map<string, string> | null {
  const text = vectorForm.exec(vector)?.[1];
  if (text === undefined) return null;
  const metrics = new Map<string, string>();
  for (const part of text.slice(1).split('/')) {
    const [name = '', value = ''] = part.split(':');
    if (metrics.has(name)) return null;
    metrics.set(name, value);
  }
  return metrics;
}

function product(factors: readonly number[]): number {
  return factors.reduce((result, factor) => result * factor, 1);
}

/** Up to one decimal, in whole numbers so that no rounding error of floats lifts a score (appendix A). */
function roundUp(value: number): number {
  const scaled = Math.round(value * 100_000);
  return scaled % 10_000 === 0 ? scaled / 100_000 : (Math.floor(scaled / 10_000) + 1) / 10;
}
