/** What shows a finding on a port, or on one of its further sites. */
export interface NamedEvidence {
  /** Of the site; null for the port itself. */
  name: string | null;
  evidence: string;
}

/** Names of sites with equal evidence; more are counted. */
const maxNames = 5;

/**
 * The evidence of a finding on a port with several sites: that of the port, then that of its sites by name.
 * @returns null without any
 */
export function siteEvidence(found: readonly NamedEvidence[]): string | null {
  const namesOf = new Map<string, (string | null)[]>();
  for (const { name, evidence } of found) {
    const names = namesOf.get(evidence);
    if (!names) namesOf.set(evidence, [name]);
    else if (!names.includes(name)) names.push(name);
  }
  const texts = [...namesOf].map(([evidence, names]) => {
    const sites = names.filter((name) => name !== null);
    if (sites.length === 0) return evidence;
    return names.includes(null) ? `${evidence} (also ${listed(sites)})` : `${listed(sites)}: ${evidence}`;
  });
  return texts.length === 0 ? null : texts.join('; ');
}

function listed(names: readonly string[]): string {
  const left = names.length - maxNames;
  return `${names.slice(0, maxNames).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}
