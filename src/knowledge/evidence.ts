import { type Banner, tlsRefusal } from '../domain/banner.ts';
import { matchInputLimit } from './matcher.ts';
import { type BinaryService, parseBinaryService, parseDatagramService } from './protocols/binary-service.ts';
import { parseDatabase } from './protocols/database.ts';
import { isSecure, sentRequests, serverBytes } from './protocols/dialogue.ts';
import { parseDns } from './protocols/dns.ts';
import { type FtpRecord, parseFtp } from './protocols/ftp.ts';
import { type HttpRecord, parseHttp } from './protocols/http.ts';
import { parseKeyValueStore } from './protocols/key-value-store.ts';
import { parseMailbox } from './protocols/mailbox.ts';
import { parseNetworkService } from './protocols/network-service.ts';
import { parseSmtp, type SmtpRecord } from './protocols/smtp.ts';
import { parseSsh, type SshRecord } from './protocols/ssh.ts';
import { parseTls, type TlsRecord } from './protocols/tls.ts';
import { udpServiceOf } from './udp-questions.ts';

/** What a banner shows before any product is named. */
export interface Observation {
  /** The protocol that answered, as it is called without TLS; null = not recognised. */
  service: string | null;
  /** How sure the protocol is, 0..1. */
  certainty: number;
  /** The connection was TLS from its first byte. */
  secure: boolean;
  /** The first line that proves the protocol. */
  proof: string;
  /** Text by evidence key: `ssh.software`, `http.header.server`, `tls.subject`, `banner.raw`, ... */
  evidence: Map<string, string>;
}

/** Characters of a text that is stored as proof. */
export const proofLimit = 256;

/** Reads a banner with every protocol reader; null when the service said nothing and showed no TLS. */
export function observe(banner: Banner): Observation | null {
  const bytes = serverBytes(banner);
  if (bytes.length === 0 && !banner.tls) return refusedHandshake(banner);
  const evidence = new Map<string, string>();
  const observation: Observation = {
    service: null,
    certainty: 0,
    secure: isSecure(banner),
    proof: '',
    evidence,
  };
  if (bytes.length > 0) {
    evidence.set('banner.raw', bytes.toString('latin1', 0, matchInputLimit));
    Object.assign(observation, readProtocol(banner, bytes, evidence));
  }
  if (banner.tls) addTlsEvidence(evidence, parseTls(banner.tls));
  if (observation.service === null && banner.tls) {
    observation.service = 'tls';
    observation.certainty = 0.5;
    observation.proof = `${banner.tls.version} ${banner.tls.cipher}`.slice(0, proofLimit);
  }
  return observation;
}

/** Only a TLS server answers a handshake with an alert. */
function refusedHandshake({ tls_error: reason }: Banner): Observation | null {
  if (!reason?.startsWith(tlsRefusal)) return null;
  return { service: 'tls', certainty: 0.5, secure: true, proof: reason, evidence: new Map() };
}

type Recognition = Pick<Observation, 'service' | 'certainty' | 'proof'>;

function readProtocol(banner: Banner, bytes: Buffer, evidence: Map<string, string>): Recognition {
  if (banner.protocol === 'udp') return readDatagram(banner, bytes, evidence);
  const http = parseHttp(bytes);
  if (http) return addHttpEvidence(evidence, http);
  const ssh = parseSsh(bytes);
  if (ssh) return addSshEvidence(evidence, ssh);
  const smtp = parseSmtp(bytes);
  if (smtp) return addSmtpEvidence(evidence, smtp);
  const ftp = parseFtp(bytes, sentRequests(banner));
  if (ftp) return addFtpEvidence(evidence, ftp);
  const mailbox = parseMailbox(bytes, banner.probe);
  if (mailbox) {
    evidence.set(`${mailbox.service}.greeting`, mailbox.greeting);
    return { service: mailbox.service, certainty: 0.8, proof: mailbox.line.slice(0, proofLimit) };
  }
  const record = parseKeyValueStore(bytes) ?? parseDatabase(bytes, banner.probe);
  if (record) {
    for (const [key, text] of record.evidence) evidence.set(key, text);
    return {
      service: record.service,
      certainty: 0.8,
      proof: (record.evidence[0]?.[1] ?? '').slice(0, proofLimit),
    };
  }
  const binary = parseNetworkService(bytes, banner.probe) ?? parseBinaryService(bytes, banner.probe);
  if (binary) return addBinaryEvidence(evidence, binary);
  return readDns(banner, bytes, evidence) ?? { service: null, certainty: 0, proof: '' };
}

/** The question decides what an answer over UDP is read as: most forms are short, and one looks like HTTP. */
function readDatagram(banner: Banner, bytes: Buffer, evidence: Map<string, string>): Recognition {
  const binary = parseDatagramService(bytes, banner.probe);
  if (binary) return addBinaryEvidence(evidence, binary);
  const dns = readDns(banner, bytes, evidence);
  if (dns) return dns;
  const service = udpServiceOf(banner.probe);
  return { service, certainty: service === null ? 0 : 0.6, proof: '' };
}

function readDns(banner: Banner, bytes: Buffer, evidence: Map<string, string>): Recognition | null {
  const dns = /dns|domain/i.test(banner.probe) ? parseDns(bytes, banner.protocol) : null;
  if (!dns) return null;
  if (dns.version !== null) evidence.set('dns.version', dns.version);
  return { service: 'dns', certainty: 0.8, proof: (dns.version ?? '').slice(0, proofLimit) };
}

function addBinaryEvidence(evidence: Map<string, string>, record: BinaryService): Recognition {
  for (const [key, text] of record.evidence) evidence.set(key, text);
  return { service: record.service, certainty: 0.8, proof: record.proof.slice(0, proofLimit) };
}

function addHttpEvidence(evidence: Map<string, string>, { facts, body }: HttpRecord): Recognition {
  for (const [name, value] of Object.entries(facts.headers)) evidence.set(`http.header.${name}`, value);
  if (facts.title) evidence.set('http.title', facts.title);
  if (facts.generator) evidence.set('http.generator', facts.generator);
  if (facts.cookies.length > 0) {
    evidence.set('http.cookies', facts.cookies.join(' '));
    // As imported rules read them; what a cookie holds is nobody's business.
    evidence.set('http.set-cookie', facts.cookies.map((name) => `${name}=`).join('\n'));
  }
  if (body.length > 0) evidence.set('http.body', body.toString('latin1', 0, matchInputLimit));
  const realm = facts.auth.find((challenge) => challenge.realm)?.realm;
  if (realm) evidence.set('http.realm', realm);
  const proof = `HTTP/${facts.version} ${facts.status} ${facts.reason}`.trim().slice(0, proofLimit);
  return { service: 'http', certainty: 0.8, proof };
}

function addSshEvidence(evidence: Map<string, string>, { facts, line }: SshRecord): Recognition {
  const text = facts.comment ? `${facts.software} ${facts.comment}` : facts.software;
  evidence.set('ssh.software', text);
  return { service: 'ssh', certainty: 0.8, proof: line.slice(0, proofLimit) };
}

function addSmtpEvidence(evidence: Map<string, string>, { facts }: SmtpRecord): Recognition {
  evidence.set('smtp.greeting', facts.greeting);
  if (facts.extensions) evidence.set('smtp.extensions', facts.extensions.join('\n'));
  return { service: 'smtp', certainty: 0.8, proof: greetingProof(facts) };
}

function addFtpEvidence(evidence: Map<string, string>, { facts }: FtpRecord): Recognition {
  evidence.set('ftp.greeting', facts.greeting);
  if (facts.features) evidence.set('ftp.features', facts.features.join('\n'));
  if (facts.system) evidence.set('ftp.system', facts.system);
  return { service: 'ftp', certainty: 0.8, proof: greetingProof(facts) };
}

function greetingProof({ code, greeting }: { code: number; greeting: string }): string {
  return `${code} ${greeting.split('\n', 1)[0]}`.slice(0, proofLimit);
}

function addTlsEvidence(evidence: Map<string, string>, { facts }: TlsRecord): void {
  const { certificate } = facts;
  if (facts.alpn) evidence.set('tls.alpn', facts.alpn);
  if (!certificate || 'error' in certificate) return;
  evidence.set('tls.subject', certificate.subject);
  evidence.set('tls.issuer', certificate.issuer);
  if (certificate.sans.length > 0) evidence.set('tls.sans', certificate.sans.join(' '));
}
