import type { PortRow } from '../../../domain/result.ts';
import { BestItems, BoundedMap, hashOf, oneLine, textOrder } from '../bounded.ts';
import type { CertificateLine, CertificateTotals } from '../report.ts';

/** Certificates that are distinguished; further ones count once per port. */
const maxCertificates = 50_000;
/** Certificates of the report. */
const maxExpiring = 100;
/** Longest name, characters. */
const maxNameLength = 160;
const dayMs = 86_400_000;

/** What the record says about the certificate of a service. */
export interface RecordedCertificate {
  subject: string;
  issuer: string;
  until: string;
  selfSigned: boolean;
  /** Equal for equal certificates. */
  identity: string;
}

/** Null without a certificate that could be read. */
export function readRecordedCertificate({ tls }: Pick<PortRow, 'tls'>): RecordedCertificate | null {
  const facts = tls?.certificate as Record<string, unknown> | null | undefined;
  if (typeof facts !== 'object' || facts === null) return null;
  const { subject, issuer, not_after: until, self_signed, sha256 } = facts;
  if (typeof until !== 'string' || Number.isNaN(Date.parse(until))) return null;
  const names = [subject, issuer].map((name) =>
    typeof name === 'string' ? oneLine(name, maxNameLength) : '',
  );
  const [subjectName = '', issuerName = ''] = names;
  return {
    subject: subjectName,
    issuer: issuerName,
    until: new Date(until).toISOString(),
    selfSigned: self_signed === true,
    identity: typeof sha256 === 'string' ? sha256 : `${subjectName} ${issuerName} ${until}`,
  };
}

/** Certificates of all ports, by the days that are left at the end of the scan. */
export class CertificateSums {
  readonly #end: number;
  /** By hash of their identity: their line, or null where no line is needed. */
  readonly #known = new BoundedMap<{ line: CertificateLine | null }>(maxCertificates);
  readonly #expiring = new BestItems<CertificateLine>(maxExpiring, (a, b) => textOrder(a.until, b.until));
  readonly #totals = { read: 0, expired: 0, within14Days: 0, within90Days: 0 };

  /** @param end ISO 8601 UTC: end of the scan */
  constructor(end: string) {
    this.#end = Date.parse(end);
  }

  add(row: PortRow): void {
    const certificate = readRecordedCertificate(row);
    if (!certificate) return;
    const key = hashOf(certificate.identity).toString(36);
    const known = this.#known.get(key);
    if (known) {
      if (known.line) known.line.more += 1;
      return;
    }
    const line = this.#count(certificate, row);
    this.#known.at(key, () => ({ line }));
  }

  #count({ subject, issuer, until, selfSigned }: RecordedCertificate, row: PortRow): CertificateLine | null {
    const totals = this.#totals;
    totals.read += 1;
    const days = Math.floor((Date.parse(until) - this.#end) / dayMs);
    // Null as well if the end of the scan is unknown.
    if (!(days < 90)) return null;
    if (days < 0) totals.expired += 1;
    else if (days < 14) totals.within14Days += 1;
    else totals.within90Days += 1;
    const name = selfSigned ? 'self-signed' : issuer;
    const line = { until, days, subject, issuer: name, host: row.host, port: row.port, more: 0 };
    this.#expiring.add(line);
    return line;
  }

  finish(): CertificateTotals {
    return { ...this.#totals, expiring: this.#expiring.items(), expiringLeft: this.#expiring.left };
  }
}
