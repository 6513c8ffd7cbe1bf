import type { TlsEnumeration, TlsTraits } from '../../domain/text/banner.ts';

/** What a survey adds to the facts of a TLS server; null = not found out, or without meaning for this server. */
export interface EnumerationFacts
  extends Omit<TlsEnumeration, 'handshakes' | 'complete' | 'other_chains' | 'traits'>,
    Partial<TlsTraits> {
  /** The versions that are accepted, the oldest first. */
  versions: string[];
  /** The suites of all versions, each once. */
  suites: string[];
  /** `partial`: it ended early, so that more may be accepted than is listed. */
  survey: 'complete' | 'partial';
}

export function enumerationFacts(survey: TlsEnumeration, alpn: string | null): EnumerationFacts {
  const { handshakes: _count, complete, other_chains: _chains, traits, ...others } = survey;
  const { accepted, alpn_protocols, ...facts } = others;
  return {
    ...facts,
    ...traits,
    versions: accepted.map(({ version }) => version),
    suites: [...new Set(accepted.flatMap(({ suites }) => suites))],
    accepted,
    alpn_protocols: [...new Set([...alpn_protocols, ...(alpn ? [alpn] : [])])],
    survey: complete ? 'complete' : 'partial',
  };
}
