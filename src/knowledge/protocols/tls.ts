import { createHash, X509Certificate } from 'node:crypto';
import type { TlsEnumeration, TlsObservation } from '../../domain/text/banner.ts';
import { readExtensions } from '../tls/certificate-extensions.ts';
import { type ChainFacts, examineChain } from '../tls/chain.ts';
import { type EnumerationFacts, enumerationFacts } from '../tls/enumeration-facts.ts';

/** Certificates of a chain that are parsed. */
export const chainLimit = 16;
/** Maximum size of one certificate, bytes. */
const certificateLimit = 64 * 1024;
/** Names of one certificate. */
const nameLimit = 200;
/** Maximum length of a distinguished name or a subject alternative name, characters. */
const nameLengthLimit = 1024;
/** Maximum length of the reason of a failed handshake, characters. */
const errorLimit = 256;

/** Facts about a certificate (RFC 5280). */
export interface CertificateFacts {
  subject: string;
  sans: string[];
  issuer: string;
  /** ISO 8601 UTC; null if the date is invalid. */
  not_before: string | null;
  not_after: string | null;
  /** `RSA 2048`, `EC 256`, `Ed25519`; null for an unreadable key. */
  key: string | null;
  /** `sha256WithRSAEncryption`, `ecdsa-with-SHA256`; null for an unknown algorithm. */
  signature: string | null;
  self_signed: boolean;
  sha256: string;
  /** SHA-256 of the public key (SubjectPublicKeyInfo): it survives renewals. Null for an unreadable key. */
  key_sha256: string | null;
  /** Hexadecimal, upper case. */
  serial: string;
  /** May sign other certificates (basic constraints). */
  ca: boolean;
  /** Number of signed certificate timestamps (SCT) of Certificate Transparency logs in the certificate. */
  scts: number;
  /** Clients must reject it without a stapled OCSP response. */
  must_staple: boolean;
}

/** An unreadable certificate and the reason. */
export interface CertificateRejection {
  error: string;
}

/** Summary of a certificate above the server's own. */
type ChainCertificate = Pick<
  CertificateFacts,
  'subject' | 'issuer' | 'not_after' | 'key' | 'signature' | 'sha256'
>;

/** The enumeration fields are set if an enumeration ran. */
export interface TlsFacts extends Partial<Omit<EnumerationFacts, 'versions'>>, Partial<ChainFacts> {
  /** `TLSv1.3`, `TLSv1.0`, ... */
  version: string;
  cipher: string;
  alpn: string | null;
  /** Whether clients need a certificate; absent if the server requested none, or without encryption. */
  client_certificate?: 'requested' | 'required' | undefined;
  /** Why the handshake did not complete, or what ended the session right after it; absent otherwise. */
  error?: string | undefined;
  /** Observed versions; all accepted versions if an enumeration ran. */
  versions: string[];
  /** The server's own certificate; null if it sent none. */
  certificate: CertificateFacts | CertificateRejection | null;
  /** The certificates above it, as sent. */
  chain: (ChainCertificate | CertificateRejection)[];
  /** Further certificates of the server for other key types; set if an enumeration ran. */
  other_certificates?: (CertificateFacts | CertificateRejection)[];
}

export interface TlsRecord {
  facts: TlsFacts;
  truncated: boolean;
}

export function parseTls(observation: TlsObservation): TlsRecord {
  const version = versionName(observation.version);
  const read = observation.chain.slice(0, chainLimit).map(readCertificate);
  const [leaf, ...others] = read.map(factsOf);
  const readable = read.filter((each) => each instanceof X509Certificate);
  return {
    facts: {
      version,
      cipher: observation.cipher.slice(0, 128),
      alpn: observation.alpn?.slice(0, 128) ?? null,
      ...(observation.client_certificate ? { client_certificate: observation.client_certificate } : {}),
      ...(observation.error ? { error: observation.error.slice(0, errorLimit) } : {}),
      versions: [version],
      certificate: leaf ?? null,
      chain: others.map(shortForm),
      ...(read[0] instanceof X509Certificate ? examineChain(readable) : {}),
      ...(observation.survey && enumeratedFacts(observation.survey, observation.alpn)),
    },
    truncated: observation.chain.length > chainLimit,
  };
}

function enumeratedFacts(enumeration: TlsEnumeration, alpn: string | null): Partial<TlsFacts> {
  const others = enumeration.other_chains.flatMap((chain) => chain.slice(0, 1)).map(parseCertificate);
  return { ...enumerationFacts(enumeration, alpn), other_certificates: others };
}

/** OpenSSL calls TLS 1.0 `TLSv1`. */
function versionName(version: string): string {
  return version === 'TLSv1' ? 'TLSv1.0' : version.slice(0, 32);
}

/** Reads one certificate, DER in base64. */
export function parseCertificate(der: string): CertificateFacts | CertificateRejection {
  return factsOf(readCertificate(der));
}

function readCertificate(der: string): X509Certificate | CertificateRejection {
  if (der.length > (certificateLimit * 4) / 3) return { error: `is larger than ${certificateLimit} bytes` };
  try {
    return new X509Certificate(Buffer.from(der, 'base64'));
  } catch (error) {
    return rejection(error);
  }
}

function factsOf(
  certificate: X509Certificate | CertificateRejection,
): CertificateFacts | CertificateRejection {
  if (!(certificate instanceof X509Certificate)) return certificate;
  try {
    return certificateFacts(certificate);
  } catch (error) {
    return rejection(error);
  }
}

function rejection(error: unknown): CertificateRejection {
  return { error: `is not a readable certificate: ${reasonOf(error)}` };
}

function certificateFacts(certificate: X509Certificate): CertificateFacts {
  const { timestamps, mustStaple } = readExtensions(certificate.raw);
  return {
    subject: distinguishedName(certificate.subject),
    sans: alternativeNames(certificate.subjectAltName),
    issuer: distinguishedName(certificate.issuer),
    not_before: isoDate(certificate.validFromDate),
    not_after: isoDate(certificate.validToDate),
    key: keyName(certificate),
    signature: certificate.signatureAlgorithm?.slice(0, 128) ?? null,
    self_signed: isSelfSigned(certificate),
    sha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    key_sha256: keyPrint(certificate),
    serial: certificate.serialNumber.slice(0, 256),
    ca: certificate.ca,
    scts: timestamps,
    must_staple: mustStaple,
  };
}

function shortForm(
  certificate: CertificateFacts | CertificateRejection,
): ChainCertificate | CertificateRejection {
  if ('error' in certificate) return certificate;
  const { subject, issuer, not_after, key, signature, sha256 } = certificate;
  return { subject, issuer, not_after, key, signature, sha256 };
}

/** Joins the attribute lines; control characters are already escaped (`\00`). */
function distinguishedName(lines: string | undefined): string {
  return (lines ?? '').split('\n').join(', ').slice(0, nameLengthLimit).toWellFormed();
}

/** Splits `DNS:a.example, IP Address:10.0.0.1`; names with special characters are JSON strings. */
function alternativeNames(text: string | undefined): string[] {
  const names: string[] = [];
  let rest = text ?? '';
  while (rest !== '' && names.length < nameLimit) {
    const quoted = /^[A-Za-z ]{1,30}:"(?:[^"\\]|\\.)*"/.exec(rest)?.[0];
    const comma = rest.indexOf(', ');
    const entry = quoted ?? (comma === -1 ? rest : rest.slice(0, comma));
    const name = nameOf(entry);
    if (name) names.push(name.slice(0, nameLengthLimit).toWellFormed());
    const next = entry.length + 2;
    rest = rest.slice(next);
  }
  return names;
}

function nameOf(entry: string): string | null {
  const match = /^(?:DNS|IP Address|email|URI):(.*)$/s.exec(entry);
  if (!match) return null;
  const value = match[1] as string;
  if (!value.startsWith('"')) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value;
  }
}

/** Null for dates outside the ECMAScript range. */
function isoDate(date: Date | undefined): string | null {
  return date && Number.isFinite(date.getTime()) ? date.toISOString() : null;
}

function keyName(certificate: X509Certificate): string | null {
  try {
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey;
    if (type === 'rsa' || type === 'rsa-pss') return `RSA ${details?.modulusLength ?? '?'}`;
    if (type === 'dsa') return `DSA ${details?.modulusLength ?? '?'}`;
    if (type === 'ec') return `EC ${curveBits(details?.namedCurve)}`;
    return type ? type.replace(/^ed/, 'Ed').slice(0, 32) : null;
  } catch {
    return null;
  }
}

function keyPrint(certificate: X509Certificate): string | null {
  try {
    const key = certificate.publicKey.export({ type: 'spki', format: 'der' });
    return createHash('sha256').update(key).digest('hex');
  } catch {
    return null;
  }
}

function curveBits(curve: string | undefined): string {
  if (curve === 'prime256v1') return '256';
  return /(\d{3})/.exec(curve ?? '')?.[1] ?? curve ?? '?';
}

function isSelfSigned(certificate: X509Certificate): boolean {
  if (certificate.subject !== certificate.issuer) return false;
  try {
    return certificate.verify(certificate.publicKey);
  } catch {
    // Same names but an unusable key: nobody else can have signed it verifiably.
    return true;
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, 200);
}
