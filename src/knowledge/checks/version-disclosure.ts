import type { Fingerprint } from '../../domain/service.ts';
import type { Check } from './check.ts';

/** Over what the fingerprint of a port names, not over its answer: whatever told a version told it to everyone. */
export const versionDisclosure: Omit<Check, 'prove' | 'confidence'> = {
  id: 'version-disclosure',
  title: 'The service discloses its exact version',
  severity: 'info',
  remediation:
    'Turn version banners off where the service can (server_tokens, ServerTokens, version "none").',
  references: ['https://cwe.mitre.org/data/definitions/200.html'],
};

/** Versions that a protocol must tell are no fault of whoever set the service up. */
const obliged: ReadonlySet<string> = new Set(['ssh', 'mysql', 'mongodb', 'mssql']);

/** The text that tells a version; null where none is told, or the protocol tells it to every client. */
export function proveVersion({ match, version, evidence }: Fingerprint): string | null {
  if (version === null || obliged.has(match) || !/\d\.\d/.test(version)) return null;
  return evidence.includes(version) ? evidence : null;
}
