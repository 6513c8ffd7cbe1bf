import type { TlsEnumeration, TlsTraits } from '../../domain/text/banner.ts';

/** Facts that an enumeration adds about a TLS server; null = unknown or not applicable. */
export interface EnumerationFacts
  extends Omit<TlsEnumeration, 'handshakes' | 'complete' | 'other_chains' | 'traits'>,
    Partial<TlsTraits> {
  /** Accepted versions, oldest first. */
  versions: string[];
  /** The suites of all versions, deduplicated. */
  suites: string[];
  /** `partial`: the enumeration ended early; the server may accept more than the lists show. */
  survey: 'complete' | 'partial';
}

export function enumerationFacts(enumeration: TlsEnumeration, alpn: string | null): EnumerationFacts {
  const { handshakes: _count, complete, other_chains: _chains, traits, ...others } = enumeration;
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
