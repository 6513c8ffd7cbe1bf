import { parseAddress } from '../../domain/targets/address.ts';
import type { CertificateFacts } from '../protocols/tls.ts';
import { type Check, type CheckResponse, evidence } from './check.ts';

const dayMs = 86_400_000;

/** Maximum validity in days: for public authorities since 2020, and for clients that trust other authorities. */
const publicDays = 398;
const privateDays = 825;

/** A certificate this close to expiry, in days, missed its renewal, unless it is short-lived. */
const renewalDays = 14;

const validity = 'https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.5';
const baseline = 'https://cabforum.org/working-groups/server/baseline-requirements/documents/';

/** Certificates that clients must not trust or will soon stop trusting. */
export const certificateChecks: readonly Check[] = [
  {
    id: 'tls-cert-expired',
    title: 'The certificate has expired',
    severity: 'high',
    confidence: 0.99,
    action: 'Renew certificates',
    remediation: 'Renew the certificate, and automate the renewal (ACME).',
    references: [validity],
    prove: (response) =>
      firstEvidence(response, ({ subject, not_after }) =>
        isBefore(not_after, response.now) ? `${subject}: valid until ${not_after}` : null,
      ),
  },
  {
    id: 'tls-cert-expires-soon',
    title: 'The certificate expires within two weeks',
    severity: 'low',
    confidence: 0.95,
    action: 'Renew certificates',
    remediation: 'Renew the certificate, and find out why automatic renewal did not happen.',
    references: [validity],
    prove: (response) =>
      firstEvidence(response, ({ subject, not_before, not_after }) => {
        const soon =
          isBefore(not_after, response.now + renewalDays * dayMs) && !isBefore(not_after, response.now);
        // Short-lived certificates renew in the last third of their validity.
        const late = soon && daysBetween(response.now, not_after) * 3 < daysBetween(not_before, not_after);
        return late ? `${subject}: valid until ${not_after}` : null;
      }),
  },
  {
    id: 'tls-cert-not-yet-valid',
    title: 'The certificate is not valid yet',
    severity: 'medium',
    confidence: 0.95,
    action: 'Set the clocks of servers and their authority',
    remediation: 'Check the clocks of the server and of the authority that issued the certificate.',
    references: [validity],
    prove: (response) =>
      firstEvidence(response, ({ subject, not_before }) =>
        not_before && !isBefore(not_before, response.now + 1) ? `${subject}: valid from ${not_before}` : null,
      ),
  },
  {
    id: 'tls-cert-long-validity',
    title: 'The certificate is valid for too long',
    severity: 'info',
    confidence: 0.95,
    action: 'Issue certificates for at most 398 days',
    remediation:
      'Issue certificates for at most 398 days, better 90, and renew them automatically: a stolen key stays useful for as long as its certificate.',
    references: [baseline],
    prove: (response) =>
      firstEvidence(response, ({ subject, not_before, not_after }) => {
        const days = daysBetween(not_before, not_after);
        const most = response.tls?.authority === 'public' ? publicDays : privateDays;
        return days > most
          ? `${subject}: valid for ${Math.round(days)} days, ${not_before} to ${not_after}`
          : null;
      }),
  },
  {
    id: 'tls-cert-self-signed',
    title: 'The certificate is self-signed',
    severity: 'medium',
    confidence: 0.99,
    action: 'Use certificates of an authority that clients trust',
    remediation: 'Use a certificate of an authority that the clients trust.',
    references: ['https://cwe.mitre.org/data/definitions/295.html'],
    prove: (response) =>
      firstEvidence(response, ({ self_signed, subject, sha256 }) =>
        self_signed ? `subject and issuer: ${subject}, SHA-256 ${sha256}` : null,
      ),
  },
  {
    id: 'tls-cert-unknown-authority',
    title: 'The certificate is not issued by a public authority',
    severity: 'info',
    confidence: 0.9,
    action: 'Use a public authority, or have clients trust your own',
    remediation:
      'If your own authority is intended, make sure that every client trusts it. A public service needs a certificate of a public authority, sent with its intermediate certificates.',
    references: ['https://www.rfc-editor.org/rfc/rfc5280#section-6', baseline],
    prove(response) {
      const [own] = certificatesOf(response);
      if (!own || own.self_signed || response.tls?.authority !== 'unknown') return null;
      return evidence(
        `${own.subject}: issued by ${own.issuer}, ${response.tls.chain.length} more certificates sent`,
      );
    },
  },
  {
    id: 'tls-cert-missing-issuer',
    title: 'The server does not send the certificate of its issuer',
    severity: 'low',
    confidence: 0.8,
    action: 'Send complete, current certificate chains',
    remediation:
      'Send the intermediate certificates after that of the server (a full chain file): many clients do not fetch them themselves.',
    references: ['https://www.rfc-editor.org/rfc/rfc8446#section-4.4.2'],
    prove(response) {
      const [own] = certificatesOf(response);
      if (!own || !response.tls?.chain_flaws?.includes('missing-issuer')) return null;
      return evidence(`${own.subject}: ${own.issuer} is not among the ${1 + response.tls.chain.length} sent`);
    },
  },
  {
    id: 'tls-cert-wrong-order',
    title: 'The certificates are sent in the wrong order',
    severity: 'info',
    confidence: 0.95,
    action: 'Send complete, current certificate chains',
    remediation: 'Send the certificate of the server first, then each issuer in turn, and no others.',
    references: ['https://www.rfc-editor.org/rfc/rfc5246#section-7.4.2'],
    prove({ tls }) {
      if (!tls?.chain_flaws?.includes('wrong-order')) return null;
      const sent = [tls.certificate, ...tls.chain].map((each) =>
        each && 'subject' in each ? each.subject : '?',
      );
      return evidence(`sent: ${sent.join(' | ')}`);
    },
  },
  {
    id: 'tls-cert-chain-expired',
    title: 'A certificate of the chain has expired',
    severity: 'low',
    confidence: 0.95,
    action: 'Send complete, current certificate chains',
    remediation: 'Replace the chain file with the one the authority currently provides.',
    references: [validity],
    prove({ tls, now }) {
      const expired = tls?.chain.find((each) => 'subject' in each && isBefore(each.not_after, now));
      return expired && 'subject' in expired
        ? evidence(`${expired.subject}: valid until ${expired.not_after}`)
        : null;
    },
  },
  {
    id: 'tls-cert-wrong-name',
    title: 'The certificate is for another name',
    severity: 'medium',
    confidence: 0.97,
    action: 'Reissue certificates with every name of their server',
    remediation: 'Add every name of the server to the certificate as a subject alternative name.',
    references: ['https://www.rfc-editor.org/rfc/rfc9525'],
    prove(response) {
      const { name } = response;
      if (name === null) return null;
      return firstEvidence(response, (certificate) => {
        const names = namesOf(certificate);
        if (names.some((each) => covers(each, name))) return null;
        return `requested ${name}, the certificate is for ${names.slice(0, 10).join(', ') || 'no name'}`;
      });
    },
  },
  {
    id: 'tls-cert-no-san',
    title: 'The certificate has no subject alternative name',
    severity: 'low',
    confidence: 0.98,
    action: 'Reissue certificates with every name of their server',
    remediation:
      'Reissue the certificate with its names as subject alternative names: clients have ignored the common name for years.',
    references: ['https://www.rfc-editor.org/rfc/rfc9525#section-2'],
    prove: (response) =>
      firstEvidence(response, ({ sans, subject }) => (sans.length === 0 ? `subject only: ${subject}` : null)),
  },
  {
    id: 'tls-cert-wildcard',
    title: 'The certificate covers a whole domain (wildcard)',
    severity: 'info',
    confidence: 0.98,
    action: 'Give each service its own certificate',
    remediation:
      'Give each service its own certificate where that can be automated: whoever steals the key of a wildcard can impersonate every host of the domain.',
    references: ['https://www.rfc-editor.org/rfc/rfc9525#section-7.1'],
    prove: (response) =>
      firstEvidence(response, ({ sans }) => {
        const wild = sans.filter((name) => name.startsWith('*.'));
        return wild.length > 0 ? wild.slice(0, 10).join(', ') : null;
      }),
  },
];

/** The certificate of the handshake, then those for other key types. */
function certificatesOf({ tls }: CheckResponse): CertificateFacts[] {
  const all = [tls?.certificate ?? null, ...(tls?.other_certificates ?? [])];
  return all.filter((each): each is CertificateFacts => each !== null && !('error' in each));
}

function firstEvidence(
  response: CheckResponse,
  prove: (certificate: CertificateFacts) => string | null,
): string | null {
  for (const certificate of certificatesOf(response)) {
    const proof = prove(certificate);
    if (proof !== null) return evidence(proof);
  }
  return null;
}

/** False for an invalid date. */
function isBefore(date: string | null, instant: number): boolean {
  return date !== null && Date.parse(date) < instant;
}

/** NaN if either date is invalid. */
function daysBetween(from: string | number | null, to: string | null): number {
  const start = typeof from === 'number' ? from : Date.parse(from ?? '');
  return (Date.parse(to ?? '') - start) / dayMs;
}

/** The alternative names, or the common name that old clients fall back to. */
function namesOf({ sans, subject }: CertificateFacts): string[] {
  if (sans.length > 0) return sans;
  const common = /(?:^|, )CN=([^,]{1,253})/.exec(subject)?.[1];
  return common ? [common] : [];
}

/** RFC 9525 section 6.3: case-insensitive; a wildcard stands for the whole leftmost label. */
function covers(name: string, host: string): boolean {
  const [pattern, wanted] = [name.toLowerCase(), host.toLowerCase().replace(/\.$/, '')];
  if (pattern === wanted) return true;
  if (!pattern.startsWith('*.') || parseAddress(wanted) !== null) return false;
  const dot = wanted.indexOf('.');
  return dot > 0 && wanted.slice(dot) === pattern.slice(1) && pattern.slice(2).includes('.');
}
