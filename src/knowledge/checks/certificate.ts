import { parseAddress } from '../../domain/address.ts';
import type { CertificateFacts } from '../protocols/tls.ts';
import { type Answer, type Check, evidence } from './check.ts';

/** Certificates that clients must not trust. */
export const certificateChecks: readonly Check[] = [
  {
    id: 'tls-cert-expired',
    title: 'The certificate has expired',
    severity: 'high',
    confidence: 0.99,
    remediation: 'Renew the certificate, and let it be renewed by itself (ACME).',
    references: ['https://datatracker.ietf.org/doc/html/rfc5280#section-4.1.2.5'],
    prove(answer) {
      const certificate = certificateOf(answer);
      if (!certificate?.not_after || Date.parse(certificate.not_after) >= answer.now) return null;
      return evidence(`${certificate.subject}: valid until ${certificate.not_after}`);
    },
  },
  {
    id: 'tls-cert-not-yet-valid',
    title: 'The certificate is not valid yet',
    severity: 'medium',
    confidence: 0.95,
    remediation: 'Check the clocks of the server and of whoever issued the certificate.',
    references: ['https://datatracker.ietf.org/doc/html/rfc5280#section-4.1.2.5'],
    prove(answer) {
      const certificate = certificateOf(answer);
      if (!certificate?.not_before || Date.parse(certificate.not_before) <= answer.now) return null;
      return evidence(`${certificate.subject}: valid from ${certificate.not_before}`);
    },
  },
  {
    id: 'tls-cert-self-signed',
    title: 'The certificate is signed by itself',
    severity: 'medium',
    confidence: 0.99,
    remediation: 'Use a certificate of an authority that the clients trust.',
    references: ['https://cwe.mitre.org/data/definitions/295.html'],
    prove(answer) {
      const certificate = certificateOf(answer);
      if (!certificate?.self_signed) return null;
      return evidence(`subject and issuer: ${certificate.subject}, SHA-256 ${certificate.sha256}`);
    },
  },
  {
    id: 'tls-cert-wrong-name',
    title: 'The certificate is for another name',
    severity: 'medium',
    confidence: 0.97,
    remediation:
      'Put every name by which the server is called into the certificate as subject alternative name.',
    references: ['https://datatracker.ietf.org/doc/html/rfc9525'],
    prove(answer) {
      const certificate = certificateOf(answer);
      if (!certificate || answer.name === null) return null;
      const names = namesOf(certificate);
      if (names.some((name) => covers(name, answer.name as string))) return null;
      return evidence(
        `asked for ${answer.name}, the certificate is for ${names.slice(0, 10).join(', ') || 'no name'}`,
      );
    },
  },
];

function certificateOf({ tls }: Answer): CertificateFacts | null {
  const certificate = tls?.certificate;
  return certificate && !('error' in certificate) ? certificate : null;
}

/** The alternative names; without any, what old clients read: the common name. */
function namesOf({ sans, subject }: CertificateFacts): string[] {
  if (sans.length > 0) return sans;
  const common = /(?:^|, )CN=([^,]{1,253})/.exec(subject)?.[1];
  return common ? [common] : [];
}

/** RFC 9525 section 6.3: without regard to case; a wildcard stands for the whole leftmost label. */
function covers(name: string, asked: string): boolean {
  const [pattern, wanted] = [name.toLowerCase(), asked.toLowerCase().replace(/\.$/, '')];
  if (pattern === wanted) return true;
  if (!pattern.startsWith('*.') || parseAddress(wanted) !== null) return false;
  const dot = wanted.indexOf('.');
  return dot > 0 && wanted.slice(dot) === pattern.slice(1) && pattern.slice(2).includes('.');
}
