import type { Fingerprint } from '../../domain/service.ts';
import type { Check } from './check.ts';

/** Evaluates the fingerprint of a port, not its response: any version in it is public. */
export const versionDisclosure: Omit<Check, 'prove' | 'confidence'> = {
  id: 'version-disclosure',
  title: 'The service discloses its exact version',
  severity: 'info',
  action: 'Hide version numbers in greetings and headers',
  remediation:
    'Turn version banners off where the service can (server_tokens, ServerTokens, version "none").',
  references: ['https://cwe.mitre.org/data/definitions/200.html'],
};

/** Protocols that must send a version: disclosing it is not a misconfiguration. */
const obliged: ReadonlySet<string> = new Set(['ssh', 'mysql', 'mongodb', 'mssql']);

/** The text that discloses a version; null if there is none or the protocol requires it. */
export function proveVersion({ match, version, evidence }: Fingerprint): string | null {
  if (version === null || obliged.has(match) || !/\d\.\d/.test(version)) return null;
  return evidence.includes(version) ? evidence : null;
}
