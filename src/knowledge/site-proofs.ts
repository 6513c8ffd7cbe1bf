/** What shows a finding on a port, or on one of its further sites. */
export interface SiteProof {
  /** Of the site; null for the port itself. */
  name: string | null;
  proof: string;
}

/** Names of sites with one proof; more are counted. */
const maxNames = 5;

/**
 * The evidence of a finding on a port with several sites: the proof of the port, then those of its sites by name.
 * @returns null without a proof
 */
export function siteEvidence(proofs: readonly SiteProof[]): string | null {
  const namesOf = new Map<string, (string | null)[]>();
  for (const { name, proof } of proofs) {
    const names = namesOf.get(proof);
    if (!names) namesOf.set(proof, [name]);
    else if (!names.includes(name)) names.push(name);
  }
  const texts = [...namesOf].map(([proof, names]) => {
    const sites = names.filter((name) => name !== null);
    if (sites.length === 0) return proof;
    return names.includes(null) ? `${proof} (also ${listed(sites)})` : `${listed(sites)}: ${proof}`;
  });
  return texts.length === 0 ? null : texts.join('; ');
}

function listed(names: readonly string[]): string {
  const left = names.length - maxNames;
  return `${names.slice(0, maxNames).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}
